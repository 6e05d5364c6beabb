import { expect, test } from 'bun:test'
import { buildableMessages } from '#codecs/iso20022'
import { openApiDocument } from '#src/platform/http/index.ts'
import { insertMessages } from '#src/spi/messages/index.ts'
import { createSend } from '#src/spi/out/send/index.ts'
import { examples } from '../../../codecs/iso20022/building/support.ts'
import { expectOwnedByAccount, testApp, testKey } from '../../../support/app.ts'
import { runningBroker } from '../../../support/broker.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { endToEndId } from '../../../support/messages.ts'

const database = await createTestDatabase()
const { sql } = database
const broker = await runningBroker(database)

const ispb = '12345678'
const revision = '5.11.1'
const { key, record } = testKey('spi:send')
const reader = testKey('messages:read')
const appOf = (deps: Partial<Parameters<typeof createSend>[0]> = {}) =>
  testApp(createSend({ ispb, sql, broker, revision, logger: quietLogger, ...deps }).routes ?? [], {
    keys: [record, reader.record],
  })
const app = appOf()

const send = (body: unknown, idempotencyKey?: string): Promise<Response> =>
  app.call('POST', '/v1/spi/send', {
    key,
    body,
    headers: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
  })

const payment = (change: Readonly<Record<string, unknown>> = {}, amount: unknown = 12345) => ({
  message_type: 'PACS008',
  params: {
    local_instrument: 'MANU',
    ...change,
    transactions: [
      {
        amount,
        purpose: 'IPAY',
        debtor: {
          ispb,
          name: 'Fulana',
          document: '12345678909',
          account_num: '500100',
          account_type: 'CACC',
        },
        creditor: {
          ispb: '87654321',
          document: '98765432100',
          account_num: '600200',
          account_type: 'TRAN',
        },
      },
    ],
  },
})
const report = {
  message_type: 'PACS002',
  params: { original_end_to_end_id: endToEndId(1), status: 'ACSP' },
}
const countOf = async (): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from spi_messages`
  return row?.count ?? -1
}

test('a repetition is answered as the first was, though its id is too old for a new one by now', async () => {
  let nowMs = Date.now()
  const own = appOf({ nowMs: () => nowMs })
  const made = await own.call('POST', '/v1/spi/build', { key, body: payment() })
  const [id] = ((await made.json()) as { end_to_end_ids: string[] }).end_to_end_ids
  const body = structuredClone(payment())
  Object.assign(body.params.transactions[0] ?? {}, { end_to_end_id: id })
  const post = (idempotencyKey: string) =>
    own.call('POST', '/v1/spi/send', { key, body, headers: { 'Idempotency-Key': idempotencyKey } })
  const first = await post('kept-for-long')
  expect(first.status).toBe(202)
  nowMs += 13 * 3_600_000
  const again = await post('kept-for-long')
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([202, 'true'])
  expect(await again.text()).toBe(await first.text())
  expect((await post('another')).status).toBe(400)
})

test('a payment belongs to the account: a rotated API key does not pay twice', () =>
  expectOwnedByAccount((headers) =>
    app.call('POST', '/v1/spi/send', { key, body: payment(), headers }),
  ))

test('a payment is stored and queued, with its transaction', async () => {
  const response = await send(payment())
  const answer = (await response.json()) as { id: string; end_to_end_ids: string[] }
  expect([response.status, answer]).toMatchObject([
    202,
    { message_type: 'PACS008', status: 'queued', biz_msg_idr: expect.stringMatching(/^M12345678/) },
  ])
  expect(answer.end_to_end_ids).toHaveLength(1)
  const rows =
    await sql`select status, direction, channel from spi_messages where id = ${answer.id}`
  expect([...rows]).toEqual([{ status: 'QUEUED', direction: 'OUTBOUND', channel: 'PRIMARY' }])
  const transactions = await sql`
    select end_to_end_id as id, amount_cents::text as cents from spi_transactions
    where message_id = ${answer.id}`
  expect([...transactions]).toEqual([{ id: answer.end_to_end_ids[0], cents: '12345' }])
})

test.each([
  [report, 'PRIMARY'],
  [{ ...report, channel: 'SECONDARY' }, 'SECONDARY'],
  [payment({ service_level: 'PAGAGD' }), 'SECONDARY'],
  [{ ...payment({ service_level: 'PAGAGD' }), channel: 'PRIMARY' }, 'PRIMARY'],
])('the channel is the one named, or follows from the priority %#', async (body, channel) => {
  const { id } = (await (await send(body)).json()) as { id: string }
  const rows = await sql`select channel from spi_messages where id = ${id}`
  expect([...rows]).toEqual([{ channel }])
})

test('the answer to a payment takes the channel on which that came, the answer to a return the primary', async () => {
  const received = async (endToEnd: string, type: string, channel: 'PRIMARY' | 'SECONDARY') => {
    const id = Bun.randomUUIDv7()
    await insertMessages(sql, [
      {
        id,
        type,
        definition: undefined,
        direction: 'INBOUND',
        status: 'PROCESSED',
        channel,
        sourceIspb: '00038166',
        destinationIspb: ispb,
        bizMsgIdr: undefined,
        resourceId: id,
        errorCode: undefined,
        signature: 'VALID',
        warnings: [],
        transactions: [
          {
            endToEndId: endToEnd,
            instructionId: undefined,
            amountCents: 1n,
            debtorIspb: undefined,
            creditorIspb: ispb,
            status: undefined,
          },
        ],
        xml: new Uint8Array(),
      },
    ])
  }
  const channelFor = async (params: object) => {
    const response = await send({ message_type: 'PACS002', params })
    const { id } = (await response.json()) as { id: string }
    const [row] = await sql`select channel from spi_messages where id = ${id}`
    return row?.['channel']
  }
  const [first, second] = [endToEndId(71), endToEndId(72)]
  await received(first, 'pacs.008', 'SECONDARY')
  await received(second, 'pacs.008', 'PRIMARY')
  await received(second, 'pacs.004', 'SECONDARY')
  const accept = (id: string) => ({ original_end_to_end_id: id, status: 'ACSP' })
  expect(await channelFor(accept(first))).toBe('SECONDARY')
  expect(await channelFor(accept(second))).toBe('PRIMARY')
  // However much cites it.
  for (let n = 0; n < 120; n++) await received(first, 'pacs.002', 'PRIMARY')
  expect(await channelFor(accept(first))).toBe('SECONDARY')
  expect(await channelFor({ transactions: [accept(first), accept(second)] })).toBe('SECONDARY')
  const minute = new Date().toISOString().replace(/\D/g, '').slice(0, 12)
  const returnId = `D87654321${minute}00000000071`
  const ofReturn = { ...accept(first), original_instruction_id: returnId }
  expect(await channelFor(ofReturn)).toBe('PRIMARY')
  expect(await channelFor({ transactions: [accept(first), ofReturn] })).toBe('PRIMARY')
  // Nor does anybody choose another for it, or for the return itself.
  const giveBack = { ...accept(first), amount: 1, return_reason: 'MD06' }
  const { status: _, ...returned } = giveBack
  for (const [messageType, params] of [
    ['PACS002', ofReturn],
    ['PACS002', { transactions: [accept(first), ofReturn] }],
    ['PACS004', { ...returned, receiving_ispb: '87654321' }],
  ] as const) {
    const body = { message_type: messageType, channel: 'SECONDARY', params }
    const response = await send(body)
    expect(response.status).toBe(400)
    expect(((await response.json()) as { errors: object[] }).errors).toMatchObject([
      { pointer: '/channel', rule: 'channel', expected: 'PRIMARY or no channel' },
    ])
    expect((await send({ ...body, channel: 'PRIMARY' })).status).toBe(202)
  }
})

test('a repetition under the key is the first answer; another body is refused', async () => {
  const before = await countOf()
  const first = await send(report, 'once')
  const again = await send(report, 'once')
  expect(await again.text()).toBe(await first.text())
  expect(again.headers.get('Idempotent-Replayed')).toBe('true')
  expect((await send(payment(), 'once')).status).toBe(422)
  expect(await countOf()).toBe(before + 1)
})

test('ten at once under one key make one message', async () => {
  const before = await countOf()
  const all = await Promise.all(Array.from({ length: 10 }, () => send(report, 'ten')))
  expect(all.every(({ status }) => status === 202 || status === 409)).toBe(true)
  expect(await countOf()).toBe(before + 1)
})

test.each([
  [payment({}, '12345'), '/params/transactions/0/amount'],
  [payment({ local_instrument: 'NONE' }), '/params/local_instrument'],
  [{ ...report, message_type: 'PACS009' }, '/message_type'],
  [{ ...report, channel: 'THIRD' }, '/channel'],
  [{ message_type: 'PACS002' }, '/params'],
])('a refusal names its field and stores nothing %#', async (body, pointer) => {
  const before = await countOf()
  const response = await send(body)
  const { errors } = (await response.json()) as { errors: { pointer: string }[] }
  expect([response.status, errors[0]?.pointer]).toEqual([400, pointer])
  expect(await countOf()).toBe(before)
})

test('a body is JSON, and has a mebibyte at most', async () => {
  const statusOf = async (body: string, contentType = 'application/json') => {
    const headers = { 'Content-Type': contentType, 'Content-Length': String(body.length) }
    return (await app.call('POST', '/v1/spi/send', { key, body, headers })).status
  }
  const body = JSON.stringify(report)
  expect(await statusOf(body.padEnd(1_048_576))).toBe(202)
  expect(await statusOf(body.padEnd(1_048_577))).toBe(413)
  expect(await statusOf(body, 'text/plain')).toBe(415)
  expect(await statusOf(body, 'application/json; charset=utf-8')).toBe(202)
})

test('what is not configured is named; a key without the scope is refused', async () => {
  for (const [deps, name] of [
    [{ ispb: undefined }, 'ISPB'],
    [{ sql: undefined, broker: undefined }, 'DATABASE_DSN'],
  ] as const) {
    const response = await appOf(deps).call('POST', '/v1/spi/send', { key, body: report })
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining(name)])
  }
  expect((await app.call('POST', '/v1/spi/send', { body: report })).status).toBe(401)
  const other = await app.call('POST', '/v1/spi/send', { key: reader.key, body: report })
  expect(other.status).toBe(403)
})

/** The payment and the report have tests of their own above. */
const others = Object.entries(examples).filter(([type]) => type !== 'PACS008' && type !== 'PACS002')

test.each(others)('%s is queued under its own type', async (messageType, params) => {
  const response = await send({ message_type: messageType, params })
  expect(response.status).toBe(202)
  const { id } = (await response.json()) as { id: string }
  const type = `${messageType.slice(0, 4).toLowerCase()}.${messageType.slice(4)}`
  const rows = await sql`select type, status from spi_messages where id = ${id}`
  expect([...rows]).toEqual([{ type, status: 'QUEUED' }])
})

const acceptance = { original_end_to_end_id: endToEndId(1), status: 'ACSP' }

test('a version may be named, and an unknown one is refused with those that are known', async () => {
  const named = await send({ message_type: 'PACS002', version: '1.17', params: acceptance })
  expect(named.status).toBe(202)
  const { id } = (await named.json()) as { id: string }
  const [row] = await sql`select definition from spi_messages where id = ${id}`
  expect(row?.['definition']).toBe('pacs.002.spi.1.17')
  for (const version of ['1.11', '9.9', '']) {
    const refused = await send({ message_type: 'PACS002', version, params: acceptance })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      errors: [
        {
          pointer: '/version',
          rule: 'version',
          expected: '1.12 | 1.13 | 1.14 | 1.15 | 1.16 | 1.17',
        },
      ],
    })
  }
})

test('the document shows a request of every type, and each is taken', async () => {
  const { routes = [] } = createSend({ ispb, sql, broker, revision, logger: quietLogger })
  const document = JSON.parse(JSON.stringify(await openApiDocument(routes, 'test'))) as {
    readonly paths: Readonly<Record<string, { readonly post: { readonly requestBody: Body } }>>
  }
  const body = document.paths['/v1/spi/send']?.post.requestBody
  const examples = body?.content['application/json']?.examples ?? {}
  const shown = Object.values(examples).map(
    ({ value }) => (value as { message_type: string }).message_type,
  )
  expect([...new Set(shown)].sort()).toEqual([...buildableMessages].sort())
  for (const [type, { value }] of Object.entries(examples)) {
    expect([type, (await send(value)).status]).toEqual([type, 202])
  }
})

type Body = {
  readonly content: Readonly<
    Record<string, { readonly examples: Readonly<Record<string, { readonly value: unknown }>> }>
  >
}

test('what breaks a business rule is refused by place and rule, and nothing is stored', async () => {
  const late = appOf({ nowMs: () => Date.UTC(2026, 2, 3, 2, 6) })
  const body = payment()
  const [first] = body.params.transactions
  const before = await countOf()
  const changed = { ...first, end_to_end_id: endToEndId(1), creditor: { ...first!.creditor, ispb } }
  const params = { ...body.params, transactions: [changed] }
  const response = await late.call('POST', '/v1/spi/send', { key, body: { ...body, params } })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    errors: [
      { pointer: '/params/transactions/0/end_to_end_id', rule: 'date' },
      { pointer: '/params/transactions/0/creditor/ispb', rule: 'settlement' },
    ],
  })
  expect(await countOf()).toBe(before)
})

test('null stands for nothing: a parameter that has no value is left out', async () => {
  const body = payment()
  const [first] = body.params.transactions
  const params = {
    ...body.params,
    service_level: null,
    transactions: [{ ...first, transaction_id: null }],
  }
  const before = await countOf()
  for (const path of ['/v1/spi/send', '/v1/spi/build']) {
    const response = await app.call('POST', path, { key, body: { ...body, params } })
    expect(response.status).toBe(400)
    const message = 'must not be null: leave it out'
    expect(await response.json()).toMatchObject({
      errors: ['/params/transactions/0/transaction_id', '/params/service_level'].map((pointer) => ({
        pointer,
        rule: 'type',
        message,
      })),
    })
  }
  expect(await countOf()).toBe(before)
})

test('a message is built as it would be sent, and nothing is stored', async () => {
  const counted = async () => {
    const [row] = await sql`select count(*)::int as count from spi_messages`
    return row?.['count']
  }
  const before = await counted()
  const build = (body: unknown) => app.call('POST', '/v1/spi/build', { key, body })
  for (const [messageType, params] of Object.entries(examples)) {
    const answer = await build({ message_type: messageType, params })
    const built = (await answer.json()) as Record<'xml' | 'biz_msg_idr' | 'definition', string>
    expect([messageType, answer.status]).toEqual([messageType, 200])
    expect(built.xml).toContain(`<BizMsgIdr>${built.biz_msg_idr}</BizMsgIdr>`)
    expect(built.xml).toContain(`<MsgDefIdr>${built.definition}</MsgDefIdr>`)
  }
  for (const body of [payment({}, -1), { ...payment(), version: '9.99' }, { ...payment(), x: 1 }]) {
    const [built, sent] = [await build(body), await send(body)]
    expect(built.status).toBe(400)
    const told = async (answer: Response) => ((await answer.json()) as { errors: object }).errors
    expect(await told(built)).toEqual(await told(sent))
  }
  expect(await counted()).toBe(before)
})
