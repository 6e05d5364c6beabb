/** A message of unknown outcome that a person ends, and what the central bank says of it afterwards. */
import { describe, expect, test } from 'bun:test'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createPayments, createResolve, rebuildRecurring } from '#src/spi/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { startPix } from '../../../pix/support.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { farYear } from '../../../support/far-year.ts'
import { subscribe } from '../../../support/webhooks.ts'
import {
  fresh,
  ispb,
  payment,
  queued,
  refusal,
  report,
  runningWorker,
  storedWhen,
  tellingOf,
} from '../../in/worker/support.ts'
import { noPayees } from '../../payments/support.ts'
import { notification } from '../../reports/support.ts'

const pix = await startPix()
const { sql, database, receivables, recurrences } = pix
await subscribe(sql)
const worker = await runningWorker(database, { receivables, recurrences })
const tell = tellingOf(database, worker)
const { key, record } = testKey('ops:admin', 'messages:read')
const operator = testKey('spi:send', 'ops:read')
const metrics = createMetrics({ version: 'test', withProcess: false })
const deps = { ispb, sql, broker: worker.broker, revision: '5.11.1', payees: noPayees } as const
const app = testApp(
  [
    ...(createResolve({ sql, emitEvents, receivables, recurrences, metrics }).routes ?? []),
    ...(createPayments(deps).routes ?? []),
  ],
  { keys: [record, operator.record] },
)

const hourMs = 3_600_000

/** An EndToEndId of the time at which the old messages here were made. */
const oldId = (): string => {
  const minute = new Date(Date.now() - 25 * hourMs).toISOString().replace(/\D/g, '').slice(0, 12)
  return fresh.endToEndId().replace(/^(.{9})\d{12}/, `$1${minute}`)
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
type Answer = { readonly status: number; readonly json: any }

const resolve = async (
  id: string,
  outcome: string,
  { by = key, once = '', reason = 'camt.054 of Friday, case 4711' } = {},
): Promise<Answer> => {
  const headers = once === '' ? {} : { 'Idempotency-Key': once }
  const body = { outcome, reason }
  const path = `/v1/spi/messages/${id}/resolve`
  const response = await app.call('POST', path, { key: by, headers, body })
  return { status: response.status, json: await response.json() }
}

const paymentOf = async (endToEndId: string): Promise<Answer['json']> =>
  (await app.call('GET', `/v1/pix/payments/${endToEndId}`, { key })).json()

const stands = (id: string) => storedWhen(database, 'id', id)

/** Makes a message UNKNOWN, and one of some time ago. @returns its id now */
const unknownSince = async (id: string, ageMs = 25 * hourMs, status = 'UNKNOWN') => {
  const old = Bun.randomUUIDv7('hex', Date.now() - ageMs)
  await sql`update spi_messages set id = ${old}, status = ${status} where id = ${id}`
  for (const table of ['spi_transactions', 'spi_history', 'spi_message_keys']) {
    await sql`update ${sql(table)} set message_id = ${old} where message_id = ${id}`
  }
  await sql`update spi_recurrence_steps set message_id = ${old} where message_id = ${id}`
  await sql`update spi_recurrences set created_by = ${old} where created_by = ${id}`
  return old
}

const paid = async (endToEndIds = [oldId()]) => {
  const transactions = endToEndIds.map((endToEndId) => ({ endToEndId }))
  const { id } = await queued(database, 'pacs.008', transactions)
  return { id: await unknownSince(id), endToEndIds, endToEndId: endToEndIds[0] ?? '' }
}

type Told = readonly (readonly [type: string, status: string])[]

const eventsAbout = async (subject: string): Promise<Told> => {
  const rows = await sql<{ type: string; data: string }[]>`
    select type, data from webhook_events where subject = ${subject} order by sequence, id`
  return rows.map(({ type, data }) => [type, JSON.parse(data).status] as const)
}

describe('a payment', () => {
  test.each([
    ['ACCEPTED', 'ACSC', null, 'settled'],
    ['REJECTED', 'RJCT', 'resolved', 'rejected'],
  ])('is %s as by its answer', async (outcome, status, refused, end) => {
    const { id, endToEndId } = await paid()
    expect(await paymentOf(endToEndId)).toMatchObject({ status: 'unknown' })
    const asked = await resolve(id, outcome)
    expect(asked).toEqual({
      status: 200,
      json: {
        id,
        biz_msg_idr: expect.any(String),
        end_to_end_id: endToEndId,
        status: outcome,
      },
    })
    expect(await stands(id)).toMatchObject({
      status: outcome,
      errorCode: 'resolved',
      statuses: [status],
      // Whose word that is.
      refusals: ['resolved'],
      history: ['QUEUED', 'UNKNOWN', outcome],
      details: [null, `a person says ${outcome}: camt.054 of Friday, case 4711`, 'resolved'],
    })
    expect(await paymentOf(endToEndId)).toMatchObject({
      status: end,
      refusal: refused === null ? null : { code: 'resolved' },
      ended_at: expect.any(String),
    })
    expect(await eventsAbout(endToEndId)).toEqual([['message.status', outcome]])
    const acts = await sql<{ outcome: string }[]>`
      select outcome from audit_log where action = 'spi.resolve' and object = ${id}`
    expect(acts.map((act) => act.outcome)).toEqual([outcome.toLowerCase()])
    const { text } = await metrics.render()
    expect(text).toContain(
      `spigw_messages_processed_total{type="pacs.008",direction="OUTBOUND",status="${outcome}"}`,
    )
  })

  test('is ended once, whoever asks again', async () => {
    const { id, endToEndId } = await paid()
    const all = await Promise.all([resolve(id, 'REJECTED'), resolve(id, 'ACCEPTED')])
    expect(all.map(({ status }) => status).sort()).toEqual([200, 409])
    const { id: other } = await paid()
    const first = await resolve(other, 'REJECTED', { once: 'once' })
    expect(await resolve(other, 'REJECTED', { once: 'once' })).toEqual(first)
    expect((await resolve(other, 'ACCEPTED', { once: 'once' })).status).toBe(422)
    expect((await eventsAbout(endToEndId)).length).toBe(1)
  })

  test('is not ended beside others in its message, which the central bank ends one by one', async () => {
    const { id, endToEndIds } = await paid([oldId(), oldId()])
    const [one = '', two = ''] = endToEndIds
    await tell(report([{ endToEndId: one, status: 'RJCT', reason: 'AC03' }]))
    for (const outcome of ['ACCEPTED', 'REJECTED']) {
      expect(await resolve(id, outcome)).toMatchObject({
        status: 409,
        json: { reason: 'several', message_status: 'UNKNOWN' },
      })
    }
    expect(await stands(id)).toMatchObject({ statuses: ['RJCT', null], history: ['QUEUED'] })
    await tell(report([{ endToEndId: two, status: 'ACSC' }]))
    expect(await stands(id)).toMatchObject({ status: 'PARTIALLY_ACCEPTED', errorCode: null })
  })

  test('nor is a return beside others', async () => {
    const parts = [oldId(), oldId()].map((endToEndId) => ({
      endToEndId,
      instructionId: endToEndId.replace(/^E/, 'D'),
    }))
    const { id: made } = await queued(database, 'pacs.004', parts)
    const id = await unknownSince(made)
    expect((await resolve(id, 'ACCEPTED')).json).toMatchObject({ reason: 'several' })
  })
})

describe('what is told to be booked', () => {
  const booked = (endToEndId: string) =>
    tell(Buffer.from(notification({ endToEndId, direction: 'DBIT' })).toString())

  test('a person tells not to be refused, but may tell to be accepted', async () => {
    const { id, endToEndId } = await paid()
    await booked(endToEndId)
    expect(await resolve(id, 'REJECTED')).toMatchObject({
      status: 409,
      json: { reason: 'ended', message_status: 'ACCEPTED' },
    })
    expect(await stands(id)).toMatchObject({ status: 'UNKNOWN', statuses: [null] })
    expect((await resolve(id, 'ACCEPTED')).json).toMatchObject({ status: 'ACCEPTED' })
    expect(await stands(id)).toMatchObject({
      status: 'ACCEPTED',
      errorCode: null,
      statuses: ['ACSC'],
      details: [null, expect.stringContaining('a person says ACCEPTED'), 'booked'],
    })
  })
})

describe('what the central bank says later', () => {
  test.each([
    ['REJECTED', 'ACSC', 'ACCEPTED', 'settled'],
    ['ACCEPTED', 'RJCT', 'REJECTED', 'rejected'],
  ])('corrects a payment that a person told to be %s: %s', async (told, status, now, end) => {
    const { id, endToEndId } = await paid()
    const sent = await resolve(id, told)
    const reason = status === 'RJCT' ? { reason: 'AB03' } : {}
    const xml = report([{ endToEndId, status, ...reason }])
    await tell(xml)
    expect(await stands(id)).toMatchObject({
      status: now,
      statuses: [status],
      refusals: [status === 'RJCT' ? 'AB03' : null],
      history: ['QUEUED', 'UNKNOWN', told, now],
    })
    expect(await paymentOf(endToEndId)).toMatchObject({ status: end })
    expect((await eventsAbout(endToEndId)).filter(([type]) => type === 'message.status')).toEqual([
      ['message.status', told],
      ['message.status', now],
    ])
    const [answer] = await sql<{ warnings: readonly { readonly message: string }[] }[]>`
      select m.warnings from spi_messages m join spi_transactions t on t.message_id = m.id
      where t.end_to_end_id = ${endToEndId} and m.direction = 'INBOUND'`
    expect(answer?.warnings.map(({ message }) => message)).toContain(
      'contradicts what a person has told',
    )
    // Its first word stands, as that on any other payment.
    await tell(report([{ endToEndId, status: status === 'RJCT' ? 'ACSC' : 'RJCT' }]))
    await tell(refusal(sent.json.biz_msg_idr))
    expect(await stands(id)).toMatchObject({ status: now, statuses: [status], errorCode: null })
    expect(await paymentOf(endToEndId)).toMatchObject({ status: end })
  })

  test.each([
    ['ACCEPTED', 'ACSC'],
    ['REJECTED', 'RJCT'],
  ])(
    'confirms a payment that a person told to be %s, and nothing is told twice',
    async (told, status) => {
      const { id, endToEndId } = await paid()
      const { json } = await resolve(id, told)
      await tell(report([{ endToEndId, status, ...(status === 'RJCT' && { reason: 'AB03' }) }]))
      const confirmed = {
        status: told,
        errorCode: null,
        statuses: [status],
        refusals: [status === 'RJCT' ? 'AB03' : null],
        history: ['QUEUED', 'UNKNOWN', told],
      }
      expect(await stands(id)).toMatchObject(confirmed)
      await tell(report([{ endToEndId, status: status === 'RJCT' ? 'ACSC' : 'RJCT' }]))
      await tell(refusal(json.biz_msg_idr))
      expect(await stands(id)).toMatchObject(confirmed)
      const told2 = (await eventsAbout(endToEndId)).filter(([type]) => type === 'message.status')
      expect(told2).toEqual([['message.status', told]])
    },
  )

  test('refuses the whole message: none of its payments has settled', async () => {
    const { id, endToEndId } = await paid()
    const { json } = await resolve(id, 'ACCEPTED')
    await tell(refusal(json.biz_msg_idr))
    expect(await stands(id)).toMatchObject({ status: 'REJECTED', statuses: [null] })
    expect(await paymentOf(endToEndId)).toMatchObject({ status: 'rejected' })
  })
})

const receiver = await pix.receiver('ana')

/** A return of the API Pix that nobody answers. */
const returned = async () => {
  const endToEndId = oldId()
  const proxy = `<Prxy><Id>${receiver.key}</Id></Prxy>`
  const xml = payment({ endToEndId, instrument: 'DICT', amount: '37.00', proxy })
  await tell(xml.replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, '$112345678000195$2'))
  await tell(report([{ endToEndId, status: 'ACCC' }]))
  const path = `/pix/v2/pix/${endToEndId}/devolucao/d1`
  const { token } = receiver
  const asked = await pix.call('PUT', path, { token, body: { valor: '37.00' } })
  const { rtrId } = asked.json
  const [message] = await sql<{ id: string }[]>`
    select m.id from spi_messages m join spi_transactions t on t.message_id = m.id
    where t.instruction_id = ${rtrId} and m.type = 'pacs.004'`
  const id = await unknownSince(message?.id ?? '')
  const show = async () => (await pix.call('GET', path, { token })).json
  return { id, endToEndId, rtrId, show }
}

const refundsOf = async (endToEndId: string): Promise<Told> =>
  (await eventsAbout(endToEndId)).filter(
    ([type]) =>
      type === 'pix.refund.settled' || type === 'pix.refund.rejected' || type === 'pix.returned',
  )

test.each([
  ['ACCEPTED', 'DEVOLVIDO', 'settled', 'RJCT', 'NAO_REALIZADO', 'rejected'],
  ['REJECTED', 'NAO_REALIZADO', 'rejected', 'ACSC', 'DEVOLVIDO', 'settled'],
  ['ACCEPTED', 'DEVOLVIDO', 'settled', 'refused whole', 'NAO_REALIZADO', 'rejected'],
])(
  'a return that is %s ends for its receiver, and what the central bank says later corrects it',
  async (outcome, state, told, status, stateThen, toldThen) => {
    const { id, endToEndId, rtrId: instructionId, show } = await returned()
    expect(await show()).toMatchObject({ status: 'EM_PROCESSAMENTO' })
    const sent = await resolve(id, outcome)
    expect(sent.status).toBe(200)
    expect(await show()).toMatchObject({ status: state })
    const ends: Told = [
      [`pix.refund.${told}`, told],
      ['pix.returned', told],
    ]
    expect(await refundsOf(endToEndId)).toEqual(ends)
    const { returns } = await paymentOf(endToEndId)
    expect(returns).toMatchObject([{ id: instructionId, status: told }])
    const isWhole = status === 'refused whole'
    await tell(
      isWhole ? refusal(sent.json.biz_msg_idr) : report([{ endToEndId, instructionId, status }]),
    )
    expect(await show()).toMatchObject({ status: stateThen })
    expect((await paymentOf(endToEndId)).returns).toMatchObject([{ status: toldThen }])
    expect(await refundsOf(endToEndId)).toEqual([
      ...ends,
      [`pix.refund.${toldThen}`, toldThen],
      ['pix.returned', toldThen],
    ])
    if (toldThen === 'rejected') return
    // What has settled by its word stays so.
    await tell(report([{ endToEndId, instructionId, status: 'RJCT' }]))
    expect(await show()).toMatchObject({ status: stateThen })
  },
)

/** A reply of ours to a payment that was received, of unknown outcome. */
const replied = async (own: string) => {
  const endToEndId = oldId()
  const proxy = `<Prxy><Id>${receiver.key}</Id></Prxy>`
  const xml = payment({ endToEndId, instrument: 'DICT', amount: '37.00', proxy })
  await tell(xml.replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, '$112345678000195$2'))
  const part = { endToEndId, instructionId: endToEndId, status: own }
  const { id: made } = await queued(database, 'pacs.002', [part])
  await sql`
    update spi_transactions set status = ${own}, instruction_id = ${endToEndId}
    where message_id = ${made}`
  const state = async () =>
    (await sql`select status from pix_received where end_to_end_id = ${endToEndId}`)[0]?.['status']
  return { id: await unknownSince(made), endToEndId, state }
}

describe('a reply', () => {
  test.each([
    ['RJCT', 'ACCEPTED'],
    ['ACSP', 'REJECTED'],
  ])('of %s that is %s ends its payment, until a report says otherwise', async (own, outcome) => {
    const { id, endToEndId, state } = await replied(own)
    expect(await state()).toBe('PENDENTE')
    expect((await resolve(id, outcome)).status).toBe(200)
    expect(await state()).toBe('NAO_REALIZADO')
    expect(await paymentOf(endToEndId)).toMatchObject({ status: 'rejected' })
    await tell(report([{ endToEndId, status: 'ACCC' }]))
    expect(await state()).toBe('LIQUIDADO')
    expect(await paymentOf(endToEndId)).toMatchObject({ status: 'settled' })
    const corrected = outcome === 'ACCEPTED' ? 'REJECTED' : 'ACCEPTED'
    expect(await stands(id)).toMatchObject({ status: corrected, errorCode: null })
  })

  test.each([
    ['RJCT', 'REJECTED'],
    ['ACSP', 'ACCEPTED'],
  ])(
    'of %s is not told to be %s: that its payment settled, a report tells',
    async (own, outcome) => {
      const { id, endToEndId, state } = await replied(own)
      const { status, json } = await resolve(id, outcome)
      expect([status, json.reason]).toEqual([409, 'settled'])
      expect(await state()).toBe('PENDENTE')
      await tell(report([{ endToEndId, status: 'ACCC' }]))
      expect(await state()).toBe('LIQUIDADO')
      expect(await stands(id)).toMatchObject({ status: outcome })
    },
  )
})

test('a request about a mandate is not told to be refused, and told to be accepted it waits', async () => {
  const { token } = receiver
  const call = (method: string, path: string, body: object) =>
    pix.call(method, `/pix/v2${path}`, { token, body })
  const rec = await call('POST', '/rec', {
    vinculo: { contrato: 'C-1', devedor: { cpf: '45164632481', nome: 'Fulano de Tal' } },
    calendario: { dataInicial: `${farYear}-01-01`, periodicidade: 'MENSAL' },
    politicaRetentativa: 'NAO_PERMITE',
  })
  const recipient = { agencia: '2569', conta: '550689', cpf: '15231470190' }
  const asked = await call('POST', '/solicrec', {
    idRec: rec.json.idRec,
    calendario: { dataExpiracaoSolicitacao: new Date(Date.now() + hourMs).toISOString() },
    destinatario: { ...recipient, ispbParticipante: '91193552' },
  })
  const [message] = await sql<{ id: string }[]>`
    select id from spi_messages where type = 'pain.009' order by id desc limit 1`
  const id = await unknownSince(message?.id ?? '')
  const stateOf = async () =>
    (await sql`select state from spi_recurrences where key = ${rec.json.idRec}`)[0]?.['state']
  expect(await stateOf()).toBe('requested')
  expect(await resolve(id, 'REJECTED')).toMatchObject({ status: 409, json: { reason: 'request' } })
  expect(await stands(id)).toMatchObject({ status: 'UNKNOWN' })
  expect((await resolve(id, 'ACCEPTED')).status).toBe(200)
  expect(await stateOf()).toBe('requested')
  const path = `/pix/v2/solicrec/${asked.json.idSolicRec}`
  expect((await pix.call('GET', path, { token })).json).toMatchObject({ status: 'ENVIADA' })
  await rebuildRecurring(sql)
  expect(await stateOf()).toBe('requested')
})

describe('nobody ends', () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ['waiting', 'QUEUED', 25],
    ['waiting', 'SENT', 25],
    ['ended', 'ACCEPTED', 25],
    ['ended', 'PARTIALLY_ACCEPTED', 25],
    ['ended', 'REJECTED', 25],
    ['ended', 'FAILED', 25],
    ['still_asked', 'UNKNOWN', 23.9],
  ]
  test.each(cases)('what is %s: %s for %d hours', async (reason, status, hours) => {
    const { id: made } = await queued(database, 'pacs.008', [{ endToEndId: oldId() }])
    const id = await unknownSince(made, hours * hourMs, status)
    const { status: answered, json } = await resolve(id, 'REJECTED')
    const expected = { code: 'resolution_not_possible', reason, message_status: status }
    expect([answered, json]).toEqual([409, expect.objectContaining(expected)])
    expect(await stands(id)).toMatchObject({ status, statuses: [null] })
  })

  test.each(['sent_at', 'in_doubt_since'])('what went out within a day (%s)', async (column) => {
    const { id } = await paid()
    await sql`update spi_messages set ${sql(column)} = now() - interval '23 hours' where id = ${id}`
    expect((await resolve(id, 'REJECTED')).json).toMatchObject({ reason: 'still_asked' })
    await sql`update spi_messages set ${sql(column)} = now() - interval '25 hours' where id = ${id}`
    expect((await resolve(id, 'REJECTED')).status).toBe(200)
  })

  test('what was received, is not there, or is not theirs to end', async () => {
    const { id } = await paid()
    await sql`update spi_messages set direction = 'INBOUND' where id = ${id}`
    expect((await resolve(id, 'REJECTED')).json).toMatchObject({ reason: 'received' })
    await sql`update spi_messages set direction = 'OUTBOUND' where id = ${id}`
    expect((await resolve(id, 'REJECTED', { by: operator.key })).status).toBe(403)
    for (const [outcome, reason] of [
      ['UNKNOWN', 'x'],
      ['REJECTED', ''],
      ['REJECTED', ' \t'],
      ['REJECTED', 'two\nlines'],
      ['REJECTED', 'x'.repeat(201)],
      ['REJECTED', 'card 4111 1111 1111 1111'],
    ] as const) {
      expect((await resolve(id, outcome, { reason })).status).toBe(400)
    }
    expect((await resolve(Bun.randomUUIDv7(), 'REJECTED')).status).toBe(404)
    expect((await resolve('no-uuid', 'REJECTED')).status).toBe(404)
    expect(await stands(id)).toMatchObject({ status: 'UNKNOWN', history: ['QUEUED'] })
  })
})
