import { expect, test } from 'bun:test'
import { createPayments } from '#src/spi/index.ts'
import { returnDeadline } from '#src/spi/payments/domain.ts'
import { expectOwnedByAccount, testApp, testKey } from '../../support/app.ts'
import { createTestDatabase } from '../../support/database.ts'
import { build, transfer } from '../../support/participant.ts'
import {
  fresh,
  inbound,
  ispb,
  payment,
  paymentReturn,
  queued,
  refusal,
  report,
  runningWorker,
  storedWhen,
} from '../in/worker/support.ts'
import { noPayees } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
const worker = await runningWorker(database)
// Somebody takes the events, so that they are written.
await sql`insert into webhook_endpoints (id, url, events) values ('e', 'http://127.0.0.1:1/', '{pix.*}')`
const eventsOf = async (endToEndId: string): Promise<readonly unknown[]> => {
  const rows = await sql<{ type: string; data: string }[]>`
    select type, data from webhook_events where subject = ${endToEndId} order by sequence`
  return rows.map(({ type, data }) => ({ type, ...JSON.parse(data) }))
}

let clock = (): Date => new Date()
const { key, record } = testKey('spi:send', 'messages:read')
const reader = testKey('messages:read')
const app = testApp(
  createPayments({
    ispb,
    sql,
    broker: worker.broker,
    revision: '5.11.1',
    payees: noPayees,
    now: () => clock(),
  }).routes ?? [],
  { keys: [record, reader.record] },
)

type Json = Readonly<Record<string, never>>

const receive = async (...documents: readonly string[]): Promise<void> => {
  for (const xml of documents) {
    const resourceId = fresh.resourceId()
    await worker.broker.publish([inbound(xml, { resourceId })])
    await storedWhen(database, 'resource_id', resourceId)
  }
}

/** A payment of R$ 10.50 that was received and is settled. */
const received = async (parts: Parameters<typeof payment>[0] = {}): Promise<string> => {
  const endToEndId = fresh.endToEndId()
  await receive(payment({ ...parts, endToEndId }), report([{ endToEndId, status: 'ACCC' }]))
  return endToEndId
}

const refund = async (
  endToEndId: string,
  body: object,
  idempotencyKey?: string,
): Promise<{ readonly status: number; readonly json: Json; readonly isReplay: boolean }> => {
  const response = await app.call('POST', `/v1/pix/payments/${endToEndId}/refunds`, {
    key,
    body,
    headers: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
  })
  return {
    status: response.status,
    json: (await response.json()) as Json,
    isReplay: response.headers.get('Idempotent-Replayed') === 'true',
  }
}

const read = async (path: string): Promise<Json> =>
  (await (await app.call('GET', `/v1/pix/payments/${path}`, { key })).json()) as Json

const answer = (endToEndId: string, instructionId: string, status: string, reason?: string) =>
  receive(
    report([{ endToEndId, instructionId, status, ...(reason === undefined ? {} : { reason }) }]),
  )

test('a refund makes the pacs.004 of the payment that was received', async () => {
  const endToEndId = await received()
  const made = await refund(endToEndId, {
    amount: 400,
    reason: 'MD06',
    additional_information: 'came twice',
  })
  expect(made.json['id']).toMatch(/^D12345678\d{12}/)
  expect(made).toMatchObject({
    status: 202,
    json: {
      end_to_end_id: endToEndId,
      amount: '4.00',
      status: 'pending',
      direction: 'OUTBOUND',
      refusal: null,
      reason: { code: 'MD06', meaning: { en: 'Asked for by the receiving user' }, remedy: null },
    },
  })
  const [row] = await sql<Json[]>`
    select m.type, m.status, m.channel, t.instruction_id as id, t.amount_cents::text as cents,
      t.debtor_ispb as returning, t.creditor_ispb as receiving, t.reason
    from spi_messages m join spi_transactions t on t.message_id = m.id
    where m.id = ${String(made.json['message_id'])}::uuid`
  expect(row).toEqual({
    type: 'pacs.004',
    status: 'QUEUED',
    channel: 'PRIMARY',
    id: made.json['id'],
    cents: '400',
    returning: ispb,
    receiving: '99999010',
    reason: 'MD06',
  } as never)
  expect(await read(`${endToEndId}/refunds/${made.json['id']}`)).toEqual(made.json)
  expect(await read(endToEndId)).toMatchObject({
    direction: 'INBOUND',
    status: 'settled',
    amount: '10.50',
    returned: '0.00',
    held: '4.00',
    refundable: '6.50',
    timeline: [
      { type: 'pacs.008' },
      { type: 'pacs.002', status: 'ACCC' },
      { type: 'pacs.004', reason: { code: 'MD06' }, amount: '4.00' },
    ],
  })
  const audited =
    await sql`select action from audit_log where object = ${String(made.json['message_id'])}`
  expect([...audited]).toEqual([{ action: 'spi.refund' }])
})

test('several returns together never exceed the payment, however many come at once', async () => {
  const endToEndId = await received()
  const all = await Promise.all(
    Array.from({ length: 12 }, () => refund(endToEndId, { amount: 300, reason: 'MD06' })),
  )
  expect(all.filter(({ status }) => status === 202)).toHaveLength(3)
  for (const { json } of all.filter(({ status }) => status !== 202)) {
    expect(json).toMatchObject({ code: 'refund_exceeds_payment', refundable: '1.50' })
  }
  expect((await refund(endToEndId, { amount: 151, reason: 'MD06' })).status).toBe(409)
  expect((await refund(endToEndId, { amount: 150, reason: 'MD06' })).status).toBe(202)
  expect(await read(endToEndId)).toMatchObject({ held: '10.50', refundable: '0.00' })
})

test('a repetition under the Idempotency-Key gives nothing back twice', async () => {
  const endToEndId = await received()
  const body = { amount: 1_050, reason: 'MD06' }
  const idempotencyKey = Bun.randomUUIDv7()
  const first = await Promise.all(
    Array.from({ length: 5 }, () => refund(endToEndId, body, idempotencyKey)),
  )
  const made = first.filter(({ status }) => status === 202)
  expect(made.filter(({ isReplay }) => !isReplay)).toHaveLength(1)
  expect(first.filter(({ status }) => status !== 202 && status !== 409)).toEqual([])
  const again = await refund(endToEndId, body, idempotencyKey)
  expect(again).toEqual({ ...again, status: 202, isReplay: true })
  expect((await read(endToEndId))['returns']).toHaveLength(1)
  expect(await refund(endToEndId, { ...body, amount: 1 }, idempotencyKey)).toMatchObject({
    status: 422,
  })
  await Promise.all(
    ['x', 'y'].map(async () => {
      const other = await received()
      await expectOwnedByAccount((headers) =>
        app.call('POST', `/v1/pix/payments/${other}/refunds`, {
          key,
          body: { amount: 1, reason: 'MD06' },
          headers,
        }),
      )
    }),
  )
})

test('a return that is refused gives its amount back, and tells why; a settled one does not', async () => {
  const endToEndId = await received()
  const [one, two] = [
    await refund(endToEndId, { amount: 600, reason: 'MD06' }),
    await refund(endToEndId, { amount: 450, reason: 'BE08' }),
  ]
  await answer(endToEndId, one.json['id'] ?? '', 'RJCT', 'AM09')
  await answer(endToEndId, two.json['id'] ?? '', 'ACSC')
  expect(await read(endToEndId)).toMatchObject({
    returned: '4.50',
    held: '0.00',
    refundable: '6.00',
    returns: [
      {
        id: one.json['id'],
        status: 'rejected',
        ended_at: expect.any(String),
        refusal: {
          code: 'AM09',
          meaning: { pt: 'Devolução maior que o pagamento' },
          remedy: { en: expect.stringContaining('Add up') },
        },
      },
      { id: two.json['id'], status: 'settled', refusal: null },
    ],
  })
  const told = { end_to_end_id: endToEndId, message_id: one.json['message_id'], amount: '6.00' }
  expect(await eventsOf(endToEndId)).toMatchObject([
    {
      type: 'pix.refund.rejected',
      refund_id: one.json['id'],
      status: 'rejected',
      ...told,
      reason: { code: 'MD06' },
      refusal: { code: 'AM09' },
    },
    {
      type: 'pix.refund.settled',
      refund_id: two.json['id'],
      status: 'settled',
      amount: '4.50',
      reason: { code: 'BE08' },
      refusal: null,
    },
  ])
  await answer(endToEndId, two.json['id'] ?? '', 'ACSC')
  expect(await eventsOf(endToEndId)).toHaveLength(2)
  expect((await refund(endToEndId, { amount: 601, reason: 'MD06' })).status).toBe(409)
  expect((await refund(endToEndId, { amount: 600, reason: 'MD06' })).status).toBe(202)
})

test('a return that the central bank refuses as a message gives its amount back', async () => {
  const endToEndId = await received()
  const made = await refund(endToEndId, { amount: 1_050, reason: 'MD06' })
  const [row] = await sql<{ id: string }[]>`
    select biz_msg_idr as id from spi_messages where id = ${String(made.json['message_id'])}::uuid`
  await receive(refusal(row?.id ?? ''))
  expect(await read(endToEndId)).toMatchObject({
    refundable: '10.50',
    returns: [{ status: 'rejected', refusal: { code: 'schema', meaning: null } }],
  })
})

test.each([
  ['UNKNOWN', 'unknown'],
  ['FAILED', 'failed'],
])('a return that is %s holds its amount', async (messageStatus, status) => {
  const endToEndId = await received()
  const made = await refund(endToEndId, { amount: 1_000, reason: 'MD06' })
  const id = String(made.json['message_id'])
  await sql`update spi_messages set status = ${messageStatus} where id = ${id}::uuid`
  expect(await read(endToEndId)).toMatchObject({
    held: '10.00',
    refundable: '0.50',
    returned: '0.00',
    returns: [{ status }],
  })
  expect((await refund(endToEndId, { amount: 51, reason: 'MD06' })).status).toBe(409)
})

test('a return that was sent another way counts', async () => {
  const endToEndId = await received()
  await queued(database, 'pacs.004', [
    { endToEndId, instructionId: fresh.returnId(), amountCents: 1_000n },
  ])
  expect((await refund(endToEndId, { amount: 51, reason: 'MD06' })).status).toBe(409)
  expect((await refund(endToEndId, { amount: 50, reason: 'MD06' })).status).toBe(202)
})

test('only what is known to be settled is given back', async () => {
  const pending = fresh.endToEndId()
  await receive(payment({ endToEndId: pending }))
  const asked = { amount: 1, reason: 'MD06' }
  expect(await refund(pending, asked)).toMatchObject({
    status: 409,
    json: { code: 'payment_not_refundable', payment_status: 'pending' },
  })
  await receive(report([{ endToEndId: pending, status: 'RJCT', reason: 'AB03' }]))
  expect(await refund(pending, asked)).toMatchObject({ json: { payment_status: 'rejected' } })
  const sent = fresh.endToEndId()
  await queued(database, 'pacs.008', [{ endToEndId: sent }])
  await receive(report([{ endToEndId: sent, status: 'ACSC' }]))
  expect(await refund(sent, asked)).toMatchObject({ status: 409 })
  const unnamed = await received()
  await sql`update spi_transactions set debtor_ispb = null where end_to_end_id = ${unnamed}`
  expect(await refund(unnamed, asked)).toMatchObject({
    status: 409,
    json: { code: 'payment_not_refundable', payment_status: 'settled' },
  })
  expect(await refund(fresh.endToEndId(), asked)).toMatchObject({ status: 404 })
  expect((await app.call('GET', `/v1/pix/payments/${fresh.endToEndId()}`, { key })).status).toBe(
    404,
  )
})

test('a report whose signature does not fit settles nothing', async () => {
  const endToEndId = await received()
  await sql`update spi_messages set signature = 'INVALID'
    where type = 'pacs.002' and end_to_end_id = ${endToEndId}`
  expect(await refund(endToEndId, { amount: 1, reason: 'MD06' })).toMatchObject({ status: 409 })
})

test('a payment can be returned for 90 days, and not a millisecond longer', async () => {
  const endToEndId = await received()
  const settledAt = new Date(String((await read(endToEndId))['ended_at']))
  const deadline = returnDeadline(settledAt)
  try {
    clock = () => deadline
    expect((await refund(endToEndId, { amount: 1, reason: 'MD06' })).status).toBe(202)
    clock = () => new Date(deadline.getTime() + 1)
    expect(await refund(endToEndId, { amount: 1, reason: 'MD06' })).toMatchObject({
      status: 409,
      json: { code: 'refund_deadline_passed', refundable_until: deadline.toISOString() },
    })
  } finally {
    clock = () => new Date()
  }
})

test('the 90 days begin when the central bank settled, however late we heard of it', async () => {
  const endToEndId = fresh.endToEndId()
  const settledAt = new Date(Date.now() - 3 * 86_400_000).toISOString()
  const told = report([{ endToEndId, status: 'ACCC' }]).replace(
    '</TxInfAndSts>',
    `<FctvIntrBkSttlmDt><DtTm>${settledAt}</DtTm></FctvIntrBkSttlmDt></TxInfAndSts>`,
  )
  await receive(payment({ endToEndId }), told)
  const until = returnDeadline(new Date(settledAt))
  expect(await read(endToEndId)).toMatchObject({
    ended_at: settledAt,
    refundable_until: until.toISOString(),
  })
  try {
    clock = () => new Date(until.getTime() + 1)
    expect(await refund(endToEndId, { amount: 1, reason: 'MD06' })).toMatchObject({
      json: { code: 'refund_deadline_passed' },
    })
  } finally {
    clock = () => new Date()
  }
})

test.each([
  ['OTHR', { cash_amount: 10_000 }, { SL02: 10_000, MD06: 10_000, FR01: 10_000 }],
  [
    'GSCB',
    { cash_amount: 4_000, purchase_amount: 6_000 },
    { SL02: 4_000, MD06: 6_000, BE08: 10_000 },
  ],
])(
  'of a payment with cash (%s) each reason gives back its own part',
  async (purpose, parts, most) => {
    for (const [reason, cents] of Object.entries(most)) {
      const endToEndId = fresh.endToEndId()
      const bytes = build('99999010', 'PACS008', {
        local_instrument: 'MANU',
        transactions: [
          {
            ...transfer('99999010', ispb, 10_000, endToEndId),
            purpose,
            withdrawal: { agent_type: 'AGTEC', agent_ispb: '99999010', ...parts },
          },
        ],
      })
      await receive(Buffer.from(bytes).toString(), report([{ endToEndId, status: 'ACCC' }]))
      const [more, all] = [
        { amount: cents + 1, reason },
        { amount: cents, reason },
      ]
      expect(await refund(endToEndId, more)).toMatchObject({
        status: 409,
        json: { refundable: (cents / 100).toFixed(2) },
      })
      expect((await refund(endToEndId, all)).status).toBe(202)
      expect((await refund(endToEndId, { amount: 1, reason })).status).toBe(409)
    }
  },
)

test('what is malformed is refused with its place', async () => {
  const endToEndId = await received()
  const pointers = async (body: object) => {
    const { status, json } = await refund(endToEndId, body)
    const errors = json['errors'] as unknown as readonly { readonly pointer: string }[]
    return [status, ...errors.map(({ pointer }) => pointer)]
  }
  expect(await pointers({ amount: 0, reason: 'MD06' })).toEqual([400, '/amount'])
  expect(await pointers({ amount: 1.5, reason: 'MD06' })).toEqual([400, '/amount'])
  expect(await pointers({ amount: 1, reason: 'AM09' })).toEqual([400, '/reason'])
  expect(await pointers({ amount: 1, reason: 'SL02' })).toEqual([400, '/reason'])
  const information = { amount: 1, reason: 'MD06', additional_information: 'x'.repeat(106) }
  expect(await pointers(information)).toEqual([400, '/additional_information'])
  const response = await app.call('POST', `/v1/pix/payments/${endToEndId}/refunds`, {
    key: reader.key,
    body: { amount: 1, reason: 'MD06' },
  })
  expect(response.status).toBe(403)
})

test('returns that come for a payment that we sent stand on it', async () => {
  const endToEndId = fresh.endToEndId()
  const returnId = fresh.returnId()
  await queued(database, 'pacs.008', [{ endToEndId, amountCents: 5_000n }])
  await receive(
    report([{ endToEndId, status: 'ACSC' }]),
    paymentReturn(endToEndId, returnId, 'FR01'),
  )
  expect(await read(endToEndId)).toMatchObject({
    direction: 'OUTBOUND',
    status: 'settled',
    returned: '0.00',
    held: '12.30',
    refundable: '0.00',
    refundable_until: null,
    returns: [{ id: returnId, direction: 'INBOUND', status: 'pending', reason: { code: 'FR01' } }],
  })
  await answer(endToEndId, returnId, 'ACCC')
  expect(await read(endToEndId)).toMatchObject({ returned: '12.30', held: '0.00' })
  expect(await read(`${endToEndId}/refunds`)).toMatchObject({
    refunds: [{ id: returnId, status: 'settled' }],
  })
})
