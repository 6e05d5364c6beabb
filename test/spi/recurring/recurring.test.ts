import { expect, test } from 'bun:test'
import type { BuildableMessage } from '#codecs/iso20022'
import { createLogger } from '#src/platform/observe/index.ts'
import {
  createLetterSubjects,
  createRecurring,
  createSend,
  rebuildRecurring,
} from '#src/spi/index.ts'
import { endUnknown } from '#src/spi/messages/index.ts'
import { type Event, transition } from '#src/spi/recurring/domain.ts'
import { applyFacts } from '#src/spi/recurring/project.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { runCli } from '../../../src/cli/index.ts'
import { program } from '../../../src/main.ts'
import { testApp, testKey } from '../../support/app.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { build } from '../../support/participant.ts'
import {
  fresh,
  inbound,
  ispb,
  receivingOf,
  refusal,
  runningWorker,
  storedWhen,
  workerOn,
} from '../in/worker/support.ts'
import { mandateAnswer, mandateCancellation, mandateRequest, newMandateId } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
const worker = await runningWorker(database)
await sql`insert into webhook_endpoints (id, url, events) values ('e', 'http://127.0.0.1:1/', '{pix.*}')`

const { key, record } = testKey('spi:send', 'messages:read')
const { broker } = worker
const app = testApp(
  [
    ...(createRecurring({ sql }).routes ?? []),
    ...(createSend({ ispb, sql, broker, revision: '5.11.1', logger: quietLogger }).routes ?? []),
  ],
  { keys: [record] },
)

type Json = Readonly<Record<string, never>>
const get = async (path: string): Promise<Json> =>
  (await (await app.call('GET', path, { key })).json()) as Json

const receive = receivingOf(database, worker)

const eventsOf = async (subject: string): Promise<readonly Json[]> => {
  const rows = await sql<{ data: string }[]>`
    select data from webhook_events where subject = ${subject} and type like 'pix.%'
    order by sequence`
  return rows.map(({ data }) => JSON.parse(data) as Json)
}

const statesOf = ({ timeline }: Json): readonly unknown[] =>
  (timeline as unknown as readonly { readonly type: string; readonly state: string | null }[]).map(
    ({ type, state }) => `${type} ${state}`,
  )

test('a mandate follows the messages about it, and nothing else', async () => {
  const id = newMandateId()
  await receive(mandateRequest(id))
  expect(await get(`/v1/pix/mandates/${id}`)).toMatchObject({
    mandate_id: id,
    state: 'requested',
    terms: {
      frequency: 'MNTH',
      first_collection_date: '2026-04-01',
      amount: '49.90',
      creditor_ispb: '99999010',
      debtor_ispb: '12345678',
      contract_number: 'C-1',
    },
  })
  await receive(
    mandateAnswer(id, 'PDNG'),
    mandateAnswer(id, 'CFDB'),
    mandateCancellation(id),
    mandateAnswer(id, { reason: 'MD20', of: 'IC' }),
    mandateCancellation(id),
    mandateAnswer(id, 'CCLD'),
    mandateAnswer(id, 'CFDB'),
  )
  const mandate = await get(`/v1/pix/mandates/${id}`)
  expect(mandate).toMatchObject({ state: 'cancelled' })
  expect(statesOf(mandate)).toEqual([
    ...['pain.009 requested', 'pain.012 pending', 'pain.012 confirmed'],
    ...['pain.011 cancellation_requested', 'pain.012 confirmed'],
    ...['pain.011 cancellation_requested', 'pain.012 cancelled', 'pain.012 null'],
  ])
  const events = await eventsOf(id)
  expect(events.map(({ state }) => state as unknown)).toEqual([
    ...['requested', 'pending', 'confirmed', 'cancellation_requested', 'confirmed'],
    ...['cancellation_requested', 'cancelled'],
  ])
  expect(events[4]).toMatchObject({
    mandate_id: id,
    previous_state: 'cancellation_requested',
    message_type: 'pain.012',
    reason: { code: 'MD20' },
  })
})

test('a mandate that is refused ends, with the reason', async () => {
  const id = newMandateId()
  await receive(
    mandateRequest(id),
    mandateAnswer(id, { reason: 'AC06', of: 'SC' }),
    mandateAnswer(id, 'CFDB'),
  )
  const mandate = await get(`/v1/pix/mandates/${id}`)
  expect(mandate).toMatchObject({
    state: 'rejected',
    timeline: [{}, { status: 'refused', reason: { code: 'AC06' } }, { state: null }],
  })
  expect(mandate['timeline']?.[1]).toMatchObject({
    reason: { meaning: { pt: 'Conta do pagador bloqueada' } },
  })
})

test('an answer that comes before its request counts, and the request gives the terms', async () => {
  const id = newMandateId()
  await receive(mandateAnswer(id, 'CFDB'), mandateRequest(id))
  expect(await get(`/v1/pix/mandates/${id}`)).toMatchObject({
    state: 'confirmed',
    terms: { amount: '49.90' },
  })
})

test('a message that comes again has no effect', async () => {
  const id = newMandateId()
  const request = mandateRequest(id)
  await receive(request)
  const resourceId = fresh.resourceId()
  await broker.publish([inbound(request, { resourceId })])
  await receive(mandateAnswer(id, 'PDNG'))
  expect(statesOf(await get(`/v1/pix/mandates/${id}`))).toEqual([
    'pain.009 requested',
    'pain.012 pending',
  ])
})

const reconciliation = 'CHARGE2026030001ABCDEFGHIJ'
const mandateId = 'RR123456782026030100000000001'

const chargeParams = (endToEndId: string, creditor: string, debtor: string) => ({
  charges: [
    {
      reconciliation_id: reconciliation,
      mandate_id: mandateId,
      end_to_end_id: endToEndId,
      amount: 4_990,
      purpose: 'AGND',
      due_date: '2026-04-05',
      execution_date_time: '2026-04-05T12:00:00.000Z',
      debtor: { ispb: debtor, document: '98765432100' },
      creditor: {
        ispb: creditor,
        document: '12345678000195',
        account_num: '500100',
        account_type: 'CACC',
      },
    },
  ],
})
const aboutCharge = (endToEndId: string) => ({
  reconciliation_id: reconciliation,
  original_end_to_end_id: endToEndId,
})
const answerParams = (endToEndId: string, answer: object) => ({
  ...aboutCharge(endToEndId),
  ...answer,
  creditor: { ispb, document: '12345678000195' },
})
const cancellationParams = (endToEndId: string, more: object) => ({
  cancellation_id: 'CA123456782026030212345678901',
  ...aboutCharge(endToEndId),
  ...more,
  counterparty_ispb: '99999010',
})

const send = async (messageType: BuildableMessage, params: object): Promise<string> => {
  const body = { message_type: messageType, params }
  const response = await app.call('POST', '/v1/spi/send', { key, body })
  const { biz_msg_idr: id } = (await response.json()) as { readonly biz_msg_idr: string }
  expect(response.status).toBe(202)
  return id
}

/** As the other institution writes it, and the SPI passes it on. */
const from99999010 = (name: BuildableMessage, params: object): Uint8Array =>
  build('99999010', name, params)

test('a charge that we send is scheduled by its answer, and cancelled by the answer to that', async () => {
  const id = fresh.endToEndId()
  await send('PAIN013', chargeParams(id, ispb, '99999010'))
  expect(await get(`/v1/pix/charges/${id}`)).toMatchObject({
    end_to_end_id: id,
    reconciliation_id: reconciliation,
    mandate_id: mandateId,
    state: 'requested',
    terms: { amount: '49.90', purpose: 'AGND', due_date: '2026-04-05' },
    timeline: [{ direction: 'OUTBOUND', type: 'pain.013', message_status: 'QUEUED' }],
  })
  await receive(from99999010('PAIN014', answerParams(id, { status: 'ACSP' })))
  const cancellation = cancellationParams(id, {
    requester_document: '98765432100',
    reason: 'SLBD',
    processing_type: 'DHSR',
  })
  await send('CAMT055', cancellation)
  expect(await get(`/v1/pix/charges/${id}`)).toMatchObject({ state: 'cancellation_requested' })
  await receive(from99999010('CAMT029', cancellationParams(id, { status: 'RJCR', reason: 'DENC' })))
  expect(await get(`/v1/pix/charges/${id}`)).toMatchObject({ state: 'scheduled' })
  await send('CAMT055', cancellation)
  await receive(from99999010('CAMT029', cancellationParams(id, { status: 'ACCR' })))
  expect(statesOf(await get(`/v1/pix/charges/${id}`))).toEqual([
    ...['pain.013 requested', 'pain.014 scheduled', 'camt.055 cancellation_requested'],
    ...['camt.029 scheduled', 'camt.055 cancellation_requested', 'camt.029 cancelled'],
  ])
  // What we say ourselves needs no event.
  expect((await eventsOf(id)).map(({ state }) => state as unknown)).toEqual([
    ...['scheduled', 'scheduled', 'cancelled'],
  ])
})

test('each of two cancellations of one charge ends by the answer that cites it', async () => {
  const id = fresh.endToEndId()
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  const [first, second] = ['1', '2'].map((one) => `CA${ispb}${day}${one.padStart(11, '0')}`)
  const ask = { requester_document: '98765432100', reason: 'SLBD', processing_type: 'DHSR' }
  for (const cancellation_id of [first, second]) {
    await send('CAMT055', cancellationParams(id, { ...ask, cancellation_id }))
  }
  const statuses = async () => {
    const rows = await sql<{ status: string }[]>`
      select m.status from spi_messages m join spi_transactions t on t.message_id = m.id
      where m.direction = 'OUTBOUND' and t.end_to_end_id = ${id} order by m.id`
    return rows.map(({ status }) => status)
  }
  const answer = async (more: object) =>
    receive(from99999010('CAMT029', cancellationParams(id, more)))
  await answer({ cancellation_id: first, status: 'RJCR', reason: 'DENC' })
  expect(await statuses()).toEqual(['REJECTED', 'QUEUED'])
  await answer({ cancellation_id: second, status: 'ACCR' })
  expect(await statuses()).toEqual(['REJECTED', 'ACCEPTED'])
})

test('a third institution does not answer the cancellation of a charge', async () => {
  const id = fresh.endToEndId()
  await send('PAIN013', chargeParams(id, ispb, '99999010'))
  await receive(from99999010('PAIN014', answerParams(id, { status: 'ACSP' })))
  const ask = { requester_document: '98765432100', reason: 'SLBD', processing_type: 'DHSR' }
  const asked = await send('CAMT055', cancellationParams(id, ask))
  const told = async () => {
    const { state } = await get(`/v1/pix/charges/${id}`)
    const [sent] = await sql<{ status: string }[]>`
      select status from spi_messages where biz_msg_idr = ${asked}`
    return [state, sent?.status] as readonly unknown[]
  }
  const resourceId = fresh.resourceId()
  const refused = { status: 'RJCR', reason: 'DENC' }
  const strangers = build('87654321', 'CAMT029', cancellationParams(id, refused))
  await broker.publish([inbound(Buffer.from(strangers).toString(), { resourceId })])
  expect(await storedWhen(database, 'resource_id', resourceId)).toMatchObject({
    warnings: expect.arrayContaining([
      expect.objectContaining({ rule: 'Answer', message: 'answers a message that is not known' }),
    ]),
  })
  expect(await told()).toEqual(['cancellation_requested', 'QUEUED'])
  await receive(build('87654321', 'CAMT029', cancellationParams(id, { status: 'ACCR' })))
  expect(await told()).toEqual(['cancellation_requested', 'QUEUED'])
  await receive(from99999010('CAMT029', cancellationParams(id, refused)))
  expect(await told()).toEqual(['scheduled', 'REJECTED'])
})

test('a charge that we receive ends by what we answer', async () => {
  const id = fresh.endToEndId()
  await receive(from99999010('PAIN013', chargeParams(id, '99999010', ispb)))
  await send('PAIN014', answerParams(id, { status: 'RJCT', reason: 'AC06' }))
  expect(await get(`/v1/pix/charges/${id}`)).toMatchObject({
    state: 'rejected',
    timeline: [
      { direction: 'INBOUND', state: 'requested' },
      { direction: 'OUTBOUND', state: 'rejected', reason: { code: 'AC06' } },
    ],
  })
})

test('a charge of ours that is refused ends once, with the reason', async () => {
  const id = fresh.endToEndId()
  await send('PAIN013', chargeParams(id, ispb, '99999010'))
  await receive(from99999010('PAIN014', answerParams(id, { status: 'RJCT', reason: 'AM02' })))
  expect(statesOf(await get(`/v1/pix/charges/${id}`))).toEqual([
    ...['pain.013 requested', 'pain.014 rejected'],
  ])
  expect(await eventsOf(id)).toMatchObject([
    { state: 'rejected', reconciliation_id: reconciliation, reason: { code: 'AM02' } },
  ])
})

test('a charge of ours that was refused and is sent again is what its second message and the answer to that say', async () => {
  const id = fresh.endToEndId()
  const params = chargeParams(id, ispb, '99999010')
  await receive(refusal(await send('PAIN013', params)))
  const [charge] = params.charges
  await send('PAIN013', { charges: [{ ...charge, amount: 5_990 }] })
  expect(await get(`/v1/pix/charges/${id}`)).toMatchObject({
    state: 'requested',
    terms: { amount: '59.90' },
  })
  await receive(from99999010('PAIN014', answerParams(id, { status: 'ACSP' })))
  expect(await get(`/v1/pix/charges/${id}`)).toMatchObject({ state: 'scheduled' })
  expect(statesOf(await get(`/v1/pix/charges/${id}`))).toEqual([
    ...['pain.013 requested', 'pain.013 rejected', 'pain.013 requested', 'pain.014 scheduled'],
  ])
})

test('a charge of ours that was never sent ends with its letter, and may be sent again', async () => {
  const id = fresh.endToEndId()
  const params = chargeParams(id, ispb, '99999010')
  await send('PAIN013', params)
  const [message] = await sql<{ id: string }[]>`
    update spi_messages set status = 'FAILED', error_code = 'refused_by_interface'
    where type = 'pain.013' and end_to_end_id = ${id} returning id`
  const letter = { headers: { 'message-id': message?.id ?? '' } }
  const subjects = createLetterSubjects(emitEvents, undefined, undefined)
  expect(await subjects.held(sql, [letter])).toEqual([letter])
  await sql.begin((tx) => subjects.end(tx, letter))
  expect(await get(`/v1/pix/charges/${id}`)).toMatchObject({
    state: 'rejected',
    timeline: [{ message_status: 'REJECTED' }, { reason: { code: 'never_sent' } }],
  })
  await send('PAIN013', params)
  await receive(from99999010('PAIN014', answerParams(id, { status: 'ACSP' })))
  expect(await get(`/v1/pix/charges/${id}`)).toMatchObject({ state: 'scheduled' })
})

test('a cancellation that a person told to be refused is what its answer says, after a rebuild too', async () => {
  const id = fresh.endToEndId()
  await send('PAIN013', chargeParams(id, ispb, '99999010'))
  const reason = { requester_document: '98765432100', reason: 'SLBD', processing_type: 'DHSR' }
  const asked = await send('CAMT055', cancellationParams(id, reason))
  const [message] = await sql<{ id: string; type: string }[]>`
    update spi_messages set status = 'UNKNOWN' where biz_msg_idr = ${asked} returning id, type`
  if (message === undefined) throw new Error('none was sent')
  const told = { outcome: 'REJECTED', detail: 'resolved', errorCode: 'resolved' } as const
  await sql.begin((tx) => endUnknown(tx, message, told, { emitEvents }))
  const charge = () => get(`/v1/pix/charges/${id}`)
  expect(await charge()).toMatchObject({ state: 'requested' })
  await rebuildRecurring(sql)
  expect(await charge()).toMatchObject({ state: 'requested' })
  await receive(from99999010('CAMT029', cancellationParams(id, { status: 'ACCR' })))
  const before = await charge()
  expect(before).toMatchObject({
    state: 'cancelled',
    timeline: [{}, { message_status: 'ACCEPTED' }, {}, {}],
  })
  await rebuildRecurring(sql)
  expect(await charge()).toEqual(before)
})

test('a mandate that was refused to others is not asked for again by what comes late', async () => {
  const id = newMandateId()
  await receive(mandateAnswer(id, { reason: 'AP13', of: 'SC' }), mandateRequest(id))
  expect(await get(`/v1/pix/mandates/${id}`)).toMatchObject({ state: 'rejected' })
})

test('what the central bank refuses as a message is not asked for any more', async () => {
  const id = fresh.endToEndId()
  const charge = await send('PAIN013', chargeParams(id, ispb, '99999010'))
  await receive(refusal(charge))
  expect(await get(`/v1/pix/charges/${id}`)).toMatchObject({
    state: 'rejected',
    timeline: [
      { state: 'requested', message_status: 'REJECTED' },
      { status: 'REJECTED', state: 'rejected', reason: { code: 'schema' } },
    ],
  })
})

test('a refusal stands at the moment of the refusal, behind what was said before it', async () => {
  const id = fresh.endToEndId()
  await send('PAIN013', chargeParams(id, ispb, '99999010'))
  const asked = await send(
    'CAMT055',
    cancellationParams(id, {
      requester_document: '98765432100',
      reason: 'SLBD',
      processing_type: 'DHSR',
    }),
  )
  await receive(from99999010('PAIN014', answerParams(id, { status: 'ACSP' })))
  await receive(refusal(asked))
  const at = new Date(Date.now() + 60_000).toISOString()
  await sql`
    update spi_history h set at = ${at}::timestamptz from spi_messages m
    where m.id = h.message_id and m.biz_msg_idr = ${asked} and h.status = 'REJECTED'`
  const told = async () => {
    const charge = await get(`/v1/pix/charges/${id}`)
    const { charges } = await get('/v1/pix/charges?state=scheduled&limit=1')
    return { charge, listed: charges?.[0] as unknown }
  }
  const before = await told()
  await rebuildRecurring(sql)
  expect(await told()).toEqual(before)
  expect(statesOf(before.charge)).toEqual([
    ...['pain.013 requested', 'camt.055 cancellation_requested', 'pain.014 null'],
    'camt.055 scheduled',
  ])
  expect(before.charge).toMatchObject({ changed_at: at, timeline: [{}, {}, {}, { at }] })
  expect(before.listed).toMatchObject({ end_to_end_id: id, changed_at: at })
})

test('lists by state and mandate, page by page', async () => {
  const ids = Array.from({ length: 5 }, () => fresh.endToEndId())
  for (const id of ids) await send('PAIN013', chargeParams(id, ispb, '99999010'))
  const listed: string[] = []
  let cursor = ''
  for (;;) {
    const page = await get(
      `/v1/pix/charges?state=requested&mandate_id=${mandateId}&limit=2${cursor}`,
    )
    const charges = page['charges'] as unknown as readonly { readonly end_to_end_id: string }[]
    listed.push(...charges.map((one) => one.end_to_end_id))
    if (page['next_cursor'] === null) break
    cursor = `&cursor=${page['next_cursor']}`
  }
  expect(listed).toEqual(ids.toReversed())
  expect(await get('/v1/pix/charges?mandate_id=RRnone')).toEqual({
    charges: [],
    next_cursor: null,
  } as never)
  const mandates = (await get('/v1/pix/mandates?state=confirmed')) as {
    readonly mandates?: readonly { readonly state: string }[]
  }
  expect(mandates.mandates?.length).toBeGreaterThan(0)
  expect(new Set(mandates.mandates?.map(({ state }) => state))).toEqual(new Set(['confirmed']))
  for (const path of ['mandates?state=paid', 'charges?cursor=eA', 'charges?limit=501']) {
    expect((await app.call('GET', `/v1/pix/${path}`, { key })).status).toBe(400)
  }
  for (const path of ['mandates/RRnone', 'charges/Enone']) {
    expect((await app.call('GET', `/v1/pix/${path}`, { key })).status).toBe(404)
  }
})

test('a refusal of the request that comes after its cancellation refuses the request', async () => {
  const [late, unnamed] = [newMandateId(), newMandateId()]
  for (const [id, of] of [
    [late, 'SC'],
    [unnamed, undefined],
  ] as const) {
    await receive(
      mandateRequest(id),
      mandateAnswer(id, 'PDNG'),
      mandateCancellation(id),
      mandateAnswer(id, { reason: 'AP13', of }),
    )
  }
  expect(await get(`/v1/pix/mandates/${late}`)).toMatchObject({ state: 'rejected' })
  expect(await get(`/v1/pix/mandates/${unnamed}`)).toMatchObject({ state: 'pending' })
})

test('an end is left by no event but a new request of ours', () => {
  for (const state of ['rejected', 'cancelled'] as const) {
    const end = { state, stateBefore: null }
    for (const event of [
      ...(['requested', 'pending', 'confirmed', 'scheduled', 'refused', 'cancelled'] as const),
      ...(['cancellation_requested', 'cancellation_refused', 'unnamed_refused'] as const),
    ]) {
      expect(transition(end, event, 'INBOUND')).toEqual(end)
      if (event !== 'requested') expect(transition(end, event, 'OUTBOUND')).toEqual(end)
    }
  }
  const refused = { state: 'rejected', stateBefore: null } as const
  const again = { state: 'requested', stateBefore: null } as const
  expect(transition(refused, 'requested', 'OUTBOUND')).toEqual(again)
  const cancelled = { state: 'cancelled', stateBefore: null } as const
  expect(transition(cancelled, 'requested', 'OUTBOUND')).toEqual(again)
  const asked = { state: 'cancellation_requested', stateBefore: 'requested' } as const
  expect(transition(asked, 'requested', 'OUTBOUND')).toEqual(again)
  expect(transition(asked, 'requested', 'INBOUND')).toEqual(asked)
  const agreed = { ...asked, stateBefore: 'confirmed' } as const
  expect(transition(agreed, 'requested', 'OUTBOUND')).toEqual(agreed)
  expect(transition(asked, 'scheduled', 'INBOUND')).toEqual({ ...asked, stateBefore: 'scheduled' })
  expect(transition(asked, 'refused', 'INBOUND')).toEqual({ state: 'rejected', stateBefore: null })
})

const nobody = {
  journey: null,
  debtorDocument: '12345678909',
  debtorIspb: '12345678',
  debtorAccount: '1',
  debtorBranch: null,
  debtorTown: null,
}
const nothingSaid = {
  status: null,
  reason: null,
  mandateId: null,
  reconciliationId: null,
  terms: null,
}

test.each([
  ['at once', 1],
  ['message by message', Number.POSITIVE_INFINITY],
])(
  'what answers a request or cancellation before the last request ends nothing, told %s',
  async (_, times) => {
    const [first, cancellation, second] = [1, 2, 3].map(() => Bun.randomUUIDv7()) as [
      string,
      string,
      string,
    ]
    const key = newMandateId()
    const fact = { kind: 'mandate', key, position: 0, ...nothingSaid } as const
    const ours = (messageId: string, type: string, event: Event, requestId: string, position = 0) =>
      ({
        messageId,
        direction: 'OUTBOUND',
        fact: { ...fact, type, event, requestId, position },
      }) as const
    const theirs = (event: Event, reference: string) => ({
      messageId: Bun.randomUUIDv7(),
      direction: 'INBOUND' as const,
      fact: {
        ...fact,
        type: 'pain.012',
        event,
        requestId: 'IS9',
        mandate: { ...nobody, reference },
      },
    })
    const told = [
      ours(first, 'pain.009', 'requested', 'SC1'),
      ours(cancellation, 'pain.011', 'cancellation_requested', 'IC1'),
      ours(second, 'pain.009', 'requested', 'SC2'),
      ours(first, 'pain.009', 'refused', 'SC1', 1_000_000),
      ours(cancellation, 'pain.011', 'cancellation_refused', 'IC1', 1_000_000),
      theirs('refused', 'SC1'),
      theirs('cancelled', 'IC1'),
      theirs('pending', 'SC2'),
      theirs('refused', 'SC2'),
    ]
    const parts = times === 1 ? [told] : told.map((one) => [one])
    const states: unknown[] = []
    const undone = sql.begin(async (tx) => {
      for (const part of parts) {
        for (const { data } of await applyFacts(tx, part)) {
          if ('state' in data) states.push(data.state)
        }
      }
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(states).toEqual([
      ...['requested', 'cancellation_requested', 'requested', 'pending', 'rejected'],
    ])
  },
)

const tables = async () => ({
  recurrences: await sql`select * from spi_recurrences order by id`,
  steps: await sql`
    select * from spi_recurrence_steps order by recurrence_id, message_id, position`,
  events: await sql`select sequence from webhook_events order by sequence`,
})

test('what was projected message by message is what a rebuild projects, whatever was lost', async () => {
  const before = await tables()
  expect(before.steps.some(({ position }) => position >= 1_000_000)).toBe(true)
  const unchanged = await rebuildRecurring(sql)
  expect(unchanged).toMatchObject({ changed: 0, removed: 0, kept: 0 })
  expect(unchanged.mandates + unchanged.charges).toBe(before.recurrences.length)
  expect(await tables()).toEqual(before)

  await sql`update spi_recurrences set state = 'confirmed', terms = null, changed_by = null`
  await sql`delete from spi_recurrence_steps where position = 0 and type in ('pain.009', 'pain.014')`
  await sql`
    insert into spi_recurrences (id, kind, key, state, created_by)
    select 'mandate NOBODY', 'mandate', 'NOBODY', 'confirmed', created_by from spi_recurrences limit 1`
  const said: string[] = []
  const out = (text: string) => said.push(text)
  const io = { env: { DATABASE_DSN: database.dsn }, out, err: out }
  const readInput = async () => new Uint8Array()
  expect(
    await runCli(['rebuild', '--json'], { ...io, readInput, taken: async () => {} }, program),
  ).toBe(0)
  expect(JSON.parse(said.join(''))).toMatchObject({ removed: 1, kept: 0 })
  expect(await tables()).toEqual(before)

  await sql`truncate spi_recurrences, spi_recurrence_steps`
  expect((await rebuildRecurring(sql)).changed).toBeGreaterThan(0)
  expect(await tables()).toEqual(before)
})

test.each([-3, 3])(
  'what was refused and asked for again is so whatever the clocks say: that of the database is %d s ahead',
  async (seconds) => {
    const id = fresh.endToEndId()
    const charge = chargeParams(id, ispb, '99999010')
    await receive(refusal(await send('PAIN013', charge)))
    await send('PAIN013', { charges: charge.charges.map((one) => ({ ...one, amount: 5_990 })) })
    const told = async () => statesOf(await get(`/v1/pix/charges/${id}`))
    const states = ['pain.013 requested', 'pain.013 rejected', 'pain.013 requested']
    expect(await told()).toEqual(states)
    const before = await tables()
    const shifted = await sql`
      update spi_history h set at = at + make_interval(secs => ${seconds})
      from spi_recurrence_steps s
      where s.recurrence_id = ${`charge ${id}`} and h.message_id = s.message_id`
    expect(shifted.count).toBeGreaterThan(0)
    expect(await rebuildRecurring(sql)).toMatchObject({ changed: 0 })
    expect(await tables()).toEqual(before)
    expect(await told()).toEqual(states)
  },
)

test('a mandate whose first message is not kept any more stays as it was known', async () => {
  const id = newMandateId()
  await receive(mandateRequest(id), mandateAnswer(id, 'CFDB'))
  await sql`
    delete from spi_messages where id = (select created_by from spi_recurrences where key = ${id})`
  expect(await rebuildRecurring(sql)).toMatchObject({ kept: 1, changed: 0 })
  expect(await get(`/v1/pix/mandates/${id}`)).toMatchObject({ state: 'confirmed' })
})

test('a message whose signature does not fit tells nothing, in a rebuild too', async () => {
  const id = newMandateId()
  await receive(mandateRequest(id), mandateAnswer(id, 'CFDB'))
  await sql`
    update spi_messages set signature = 'INVALID'
    where id = (select changed_by from spi_recurrences where key = ${id})`
  expect(await rebuildRecurring(sql)).toMatchObject({ changed: 1 })
  expect(await get(`/v1/pix/mandates/${id}`)).toMatchObject({ state: 'requested' })
})

test('an answer that cannot be built is left out, and what it would answer counts', async () => {
  const own = await createTestDatabase()
  const lines: string[] = []
  const logger = createLogger({
    level: 'error',
    format: 'json',
    sink: { write: (line) => lines.push(line) > 0 },
  })
  const told = async () => [{ type: 'pain.012', params: { mandate_id: '?' } } as const]
  const answering = await workerOn(own, { logger, recurrences: { told } })
  await answering.feature.start?.()
  try {
    const resourceId = fresh.resourceId()
    await answering.broker.publish([inbound(mandateRequest(newMandateId()), { resourceId })])
    expect(await storedWhen(own, 'resource_id', resourceId)).toMatchObject({ status: 'PROCESSED' })
    expect(lines.join()).toContain('pain.012 cannot be built')
  } finally {
    await answering.stop()
    await own.close()
  }
})
