import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openApiDocument } from '#src/platform/http/index.ts'
import { createMessages } from '#src/spi/index.ts'
import { countedMax } from '#src/spi/messages/domain.ts'
import { changeStatuses, idsByKey, insertMessages } from '#src/spi/messages/index.ts'
import { testApp, testKey } from '../../support/app.ts'
import { createTestDatabase, messagesForEver, quietLogger } from '../../support/database.ts'
import { message } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const reader = testKey('messages:read')
const feature = createMessages({ sql, ...messagesForEver, logger: quietLogger })
const app = testApp(feature.routes ?? [], { keys: [reader.record] })
const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await app.call('GET', path, { key: reader.key, headers })
  const body = response.headers.get('content-type')?.includes('json')
    ? ((await response.json()) as Record<string, unknown>)
    : { text: await response.text() }
  return { status: response.status, headers: response.headers, body }
}

const ids = (body: Record<string, unknown>): string[] =>
  (body['messages'] as { id: string }[]).map(({ id }) => id)

describe('stored messages', () => {
  beforeAll(() => feature.start?.())
  afterAll(() => feature.stop?.())

  test('are read back whole, byte for byte', async () => {
    const base = message()
    const [first] = base.transactions
    const stored = message({
      warnings: [{ rule: 'CreDt', path: '/Envelope/AppHdr/CreDt', message: 'lies ahead' }],
      traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`,
      transactions: [
        first!,
        {
          ...first!,
          endToEndId: undefined,
          instructionId: 'D1',
          amountCents: 5n,
          status: 'RJCT',
          reason: 'AM09',
        },
      ],
    })
    expect(await insertMessages(sql, [stored])).toEqual(new Set([stored.id]))
    const { status, body } = await get(`/v1/messages/${stored.id}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: stored.id,
      type: 'pacs.008',
      direction: 'INBOUND',
      status: 'PROCESSED',
      channel: 'PRIMARY',
      source_ispb: '00038166',
      destination_ispb: '12345678',
      end_to_end_id: first?.endToEndId,
      biz_msg_idr: stored.bizMsgIdr,
      resource_id: stored.resourceId,
      transaction_count: 2,
      amount: '1234567890123456.83',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      definition: 'pacs.008.spi.1.13',
      error_code: null,
      signature: 'VALID',
      warnings: stored.warnings,
      trace_id: 'ab'.repeat(16),
      transactions: [
        {
          end_to_end_id: first?.endToEndId,
          instruction_id: null,
          amount: '1234567890123456.78',
          debtor_ispb: '11111111',
          creditor_ispb: '12345678',
          status: null,
          reason: null,
          refusal: null,
        },
        {
          end_to_end_id: null,
          instruction_id: 'D1',
          amount: '0.05',
          debtor_ispb: '11111111',
          creditor_ispb: '12345678',
          status: 'RJCT',
          reason: 'AM09',
          refusal: null,
        },
      ],
      history: [{ status: 'PROCESSED', at: expect.any(String), detail: null, repetition: null }],
    })
    const xml = await app.call('GET', `/v1/messages/${stored.id}`, {
      key: reader.key,
      headers: { Accept: 'application/xml' },
    })
    expect(xml.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    expect(Buffer.from(await xml.arrayBuffer())).toEqual(Buffer.from(stored.xml))
  })

  test('lie in the partition of their month', async () => {
    const at = new Date()
    const now = message({}, at)
    const old = message({}, new Date('2020-02-29T23:59:59.999Z'))
    await insertMessages(sql, [now, old])
    const rows = await sql<{ id: string; name: string }[]>`
      select id, tableoid::regclass::text as name from spi_messages where id in (${now.id}, ${old.id})`
    const names = new Map(rows.map(({ id, name }) => [id, name]))
    expect(names.get(now.id)).toBe(`spi_messages_p${at.toISOString().slice(0, 7).replace('-', '')}`)
    expect(names.get(old.id)).toBe('spi_messages_default')
  })

  test('are stored once, whichever key they come again by, also by two at the same time', async () => {
    const first = message()
    const sameResource = message({ resourceId: first.resourceId, bizMsgIdr: undefined })
    const sameBusinessId = message({ bizMsgIdr: first.bizMsgIdr })
    const ours = message({
      bizMsgIdr: first.bizMsgIdr,
      direction: 'OUTBOUND',
      resourceId: undefined,
    })
    const batch = [first, sameResource, sameBusinessId, ours]
    const outcomes = await Promise.all([
      insertMessages(sql, batch),
      insertMessages(sql, batch.map((one) => ({ ...one, id: Bun.randomUUIDv7() })).reverse()),
    ])
    const stored = outcomes.flatMap((outcome) => [...outcome])
    // Ours, and either the message with both keys or one for each key, by which batch came first.
    expect([2, 3]).toContain(stored.length)
    const twice = await sql`
      select direction, biz_msg_idr as key from spi_messages where biz_msg_idr is not null
      group by 1, 2 having count(*) > 1
      union all
      select direction, resource_id from spi_messages where resource_id is not null
      group by 1, 2 having count(*) > 1`
    expect(twice.length).toBe(0)
    expect((await insertMessages(sql, [{ ...first, id: Bun.randomUUIDv7() }])).size).toBe(0)
    const known = await idsByKey(sql, 'INBOUND', 'BizMsgIdr', [first.bizMsgIdr!, 'unknown'])
    expect([...known.keys()]).toEqual([first.bizMsgIdr!])
    expect(stored).toContain(known.get(first.bizMsgIdr!)!)
  })

  test('without keys are each stored', async () => {
    const unreadable = () =>
      message({
        type: undefined,
        definition: undefined,
        bizMsgIdr: undefined,
        resourceId: undefined,
        status: 'FAILED',
        errorCode: 'unreadable',
        transactions: [],
      })
    expect((await insertMessages(sql, [unreadable(), unreadable()])).size).toBe(2)
  })

  test('change status only along the allowed ways, with history', async () => {
    const sent = message({ direction: 'OUTBOUND', status: 'QUEUED', resourceId: undefined })
    await insertMessages(sql, [sent])
    const move = async (status: 'SENT' | 'UNKNOWN' | 'ACCEPTED' | 'REJECTED' | 'PROCESSED') =>
      (await changeStatuses(sql, [{ id: sent.id, status, detail: `to ${status}` }])).size
    expect(await move('PROCESSED')).toBe(0)
    expect(
      (await changeStatuses(sql, [{ id: sent.id, status: 'SENT', resourceId: 'UEkx' }])).size,
    ).toBe(1)
    expect(await move('UNKNOWN')).toBe(1)
    expect(await move('SENT')).toBe(0)
    expect(await move('ACCEPTED')).toBe(1)
    expect(await move('REJECTED')).toBe(0)
    const { body } = await get(`/v1/messages/${sent.id}`)
    expect(body).toMatchObject({
      status: 'ACCEPTED',
      resource_id: 'UEkx',
      history: [
        { status: 'QUEUED', detail: null },
        { status: 'SENT', detail: null },
        { status: 'UNKNOWN', detail: 'to UNKNOWN' },
        { status: 'ACCEPTED', detail: 'to ACCEPTED' },
      ],
    })
  })

  test('are found by the resource id of their sending, also when an answer came before it', async () => {
    const sent = message({ direction: 'OUTBOUND', status: 'QUEUED', resourceId: undefined })
    await insertMessages(sql, [sent])
    const resourceId = `UEklate${sent.id}`
    await changeStatuses(sql, [{ id: sent.id, status: 'ACCEPTED' }])
    const late = { id: sent.id, status: 'SENT', resourceId } as const
    expect((await changeStatuses(sql, [late])).size).toBe(0)
    const { body } = await get(`/v1/messages/${sent.id}`)
    expect(body).toMatchObject({ status: 'ACCEPTED', resource_id: resourceId })
    const found = await idsByKey(sql, 'OUTBOUND', 'ResourceId', [resourceId])
    expect([...found.values()]).toEqual([sent.id])
  })

  test('that were processed before they were stored have both statuses', async () => {
    const receivedAt = new Date(Date.now() - 1500)
    const received = message({ receivedAt })
    await insertMessages(sql, [received])
    const { body } = await get(`/v1/messages/${received.id}`)
    expect(body['history']).toMatchObject([
      { status: 'RECEIVED', at: receivedAt.toISOString(), detail: null },
      { status: 'PROCESSED', at: expect.any(String), detail: null },
    ])
  })
})

describe('the list', () => {
  test('tells of the amount of all transactions together, however large; of none where there is none', async () => {
    const largest = 9_223_372_036_854_775_807n
    const [one] = message().transactions
    const both = message({
      sourceIspb: 'AMOUNTS1',
      transactions: [
        { ...one!, amountCents: largest },
        { ...one!, endToEndId: undefined, amountCents: largest },
      ],
    })
    const none = message({
      sourceIspb: 'AMOUNTS1',
      transactions: [{ ...one!, amountCents: undefined }],
    })
    await insertMessages(sql, [both, none])
    const { body } = await get('/v1/messages?source_ispb=AMOUNTS1')
    const amounts = (body['messages'] as { id: string; amount: unknown }[]).map(
      ({ id, amount }) => [id, amount] as const,
    )
    expect(new Map(amounts)).toEqual(
      new Map<string, unknown>([
        [both.id, '184467440737095516.14'],
        [none.id, null],
      ]),
    )
  })

  const many = Array.from({ length: 120 }, (_, index) =>
    message(
      {
        type: index % 2 === 0 ? 'camt.054' : 'pacs.002',
        sourceIspb: 'LISTTEST',
        destinationIspb: index % 3 === 0 ? '33333333' : '12345678',
        direction: index % 5 === 0 ? 'OUTBOUND' : 'INBOUND',
        status: index % 7 === 0 ? 'FAILED' : 'PROCESSED',
      },
      new Date(Date.UTC(2019, 0, 1, 0, 0, index)),
    ),
  )
  beforeAll(() => insertMessages(sql, many))
  const all = '/v1/messages?source_ispb=LISTTEST'
  const newestFirst = many.map(({ id }) => id).reverse()

  test('is newest first, 50 unless asked, with an exact total', async () => {
    const { body } = await get(all)
    expect(ids(body)).toEqual(newestFirst.slice(0, 50))
    expect(body['total']).toBe(120)
    expect(ids((await get(`${all}&limit=10&offset=115`)).body)).toEqual(newestFirst.slice(115))
  })

  test('the total is counted up to a bound, and one more tells of more', async () => {
    const stored = async (count: number) => {
      const made = Array.from({ length: count }, () => message({ destinationIspb: 'COUNTED1' }))
      await insertMessages(sql, made)
    }
    const total = async () =>
      (await get('/v1/messages?destination_ispb=COUNTED1&limit=1')).body['total']
    await stored(countedMax)
    expect(await total()).toBe(countedMax)
    await stored(1)
    expect(await total()).toBe(countedMax + 1)
    await stored(1)
    expect(await total()).toBe(countedMax + 1)
  })

  test('every parameter filters, also together', async () => {
    const total = async (query: string) => (await get(`${all}&${query}`)).body['total']
    expect(await total('type=camt.054')).toBe(60)
    expect(await total('destination_ispb=33333333')).toBe(40)
    expect(await total('direction=OUTBOUND')).toBe(24)
    expect(await total('status=FAILED')).toBe(18)
    // As the answer to a send request writes them.
    expect(await total('status=failed')).toBe(18)
    expect(await total('type=camt.054&direction=OUTBOUND')).toBe(12)
    expect(await total('from=2019-01-01T00:00:10Z&to=2019-01-01T00:00:20Z')).toBe(10)
    expect(await total('from=2018-12-31T21:00:10-03:00&to=2019-01-01T00:00:20Z')).toBe(10)
    expect(await total('from=1969-12-31T23:59:59Z')).toBe(120)
    expect(await total('to=0001-01-01T00:00:00Z')).toBe(0)
    expect(await total('from=9999-12-31T23:59:59Z')).toBe(0)
    expect(await total(`end_to_end_id=${many[7]?.transactions[0]?.endToEndId}`)).toBe(1)
  })

  test('the cursor walks every message once, also while new ones come', async () => {
    const seen: string[] = []
    let cursor: unknown = ''
    while (cursor !== null) {
      const from = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await get(`${all}&limit=50${from}`)
      seen.push(...ids(body))
      expect(body['total']).toBeGreaterThanOrEqual(120)
      cursor = body['next_cursor']
      await insertMessages(sql, [message({ sourceIspb: 'LISTTEST' })])
    }
    expect(seen).toEqual(newestFirst)
  })

  test('limit is at most 500; what is malformed or unknown is refused by name', async () => {
    expect((await get('/v1/messages?limit=500')).status).toBe(200)
    expect((await get('/v1/messages?offset=100000')).status).toBe(200)
    for (const query of [
      'limit=501',
      'limit=0',
      'offset=-1',
      'direction=inbound',
      'type=PACS008',
      'source_ispb=1',
      'from=yesterday',
      'cursor=AAAA',
      'status=sending',
      'transaction_status=REFUSED',
      'transaction_status=',
      'offset=100001',
      'colour=red',
    ]) {
      const { status, body } = await get(`/v1/messages?${query}`)
      expect([query, status]).toEqual([query, 400])
      expect(JSON.stringify(body)).toContain(query.split('=')[0]!)
      expect(body['detail']).not.toContain('The body')
    }
  })

  test('of one payment holds every message with a transaction of it', async () => {
    const batch = message()
    const other = batch.transactions[0]!
    const pair = message({ transactions: [other, { ...other, endToEndId: 'E2SECOND' }] })
    await insertMessages(sql, [batch, pair])
    const { body } = await get('/v1/messages/e2e/E2SECOND')
    expect(ids(body)).toEqual([pair.id])
    expect((await get(`/v1/messages/e2e/${other.endToEndId}`)).body['total']).toBe(2)
    expect((await get('/v1/messages/e2e/E2NOBODY')).status).toBe(404)
  })

  test('are found by the status of any transaction, once each, and beside every other filter', async () => {
    const [first] = message().transactions
    const part = (status: string) => ({ ...first!, status, reason: undefined })
    const stored = (statuses: readonly string[], direction: 'INBOUND' | 'OUTBOUND') =>
      message({ sourceIspb: 'PARTTEST', direction, transactions: statuses.map(part) })
    const mixed = stored(['ACSC', 'RJCT', 'RJCT'], 'OUTBOUND')
    const refused = stored(['RJCT'], 'INBOUND')
    const accepted = stored(['ACSC', 'ACSC'], 'INBOUND')
    await insertMessages(sql, [mixed, refused, accepted])
    const found = async (query: string) =>
      ids((await get(`/v1/messages?source_ispb=PARTTEST&${query}`)).body)
    expect(await found('transaction_status=RJCT')).toEqual([refused.id, mixed.id])
    expect(await found('transaction_status=acsc')).toEqual([accepted.id, mixed.id])
    expect(await found('transaction_status=RJCT&direction=OUTBOUND')).toEqual([mixed.id])
    expect(await found(`transaction_status=RJCT&end_to_end_id=${first?.endToEndId}`)).toEqual([
      refused.id,
      mixed.id,
    ])
    expect(await found('transaction_status=ACCC')).toEqual([])
    const { body } = await get('/v1/messages?source_ispb=PARTTEST&transaction_status=RJCT&limit=1')
    expect([body['total'], ids(body)]).toEqual([2, [refused.id]])
    expect(await found(`transaction_status=RJCT&limit=1&cursor=${body['next_cursor']}`)).toEqual([
      mixed.id,
    ])
  })

  test('of one payment is paged as any', async () => {
    const [first] = message().transactions
    const pages = Array.from({ length: 3 }, () => message({ transactions: [first!] }))
    await insertMessages(sql, pages)
    const path = `/v1/messages/e2e/${first?.endToEndId}`
    const newest = await get(`${path}?limit=2`)
    expect([ids(newest.body).length, newest.body['total']]).toEqual([2, 3])
    const last = await get(`${path}?limit=2&cursor=${newest.body['next_cursor']}`)
    expect([...ids(newest.body), ...ids(last.body)].sort()).toEqual(
      pages.map(({ id }) => id).sort(),
    )
    expect(last.body['next_cursor']).toBeNull()
    expect(ids((await get(`${path}?offset=2`)).body)).toEqual(ids(last.body))
    for (const query of ['limit=501', 'cursor=AAAA', 'status=SENT']) {
      expect([query, (await get(`${path}?${query}`)).status]).toEqual([query, 400])
    }
  })
})

test('what is not there is 404; without a database 503 names the setting; a key needs the scope', async () => {
  expect((await get('/v1/messages/nonsense')).status).toBe(404)
  expect((await get(`/v1/messages/${Bun.randomUUIDv7()}`)).status).toBe(404)
  const stranger = testKey('spi:send')
  const without = createMessages({ sql: undefined, ...messagesForEver, logger: quietLogger })
  const bare = testApp(without.routes ?? [], { keys: [reader.record, stranger.record] })
  for (const path of [
    '/v1/messages',
    `/v1/messages/${Bun.randomUUIDv7()}`,
    '/v1/messages/e2e/E1',
  ]) {
    const answer = await bare.call('GET', path, { key: reader.key })
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('DATABASE_DSN')
  }
  expect((await bare.call('GET', '/v1/messages', { key: stranger.key })).status).toBe(403)
  expect((await bare.call('GET', '/v1/messages')).status).toBe(401)
})

test('the document tells the parameters, the limits and what can go wrong', async () => {
  type Operation = {
    readonly parameters: readonly { readonly name: string; readonly schema: object }[]
    readonly responses: Readonly<Record<string, { readonly content: object }>>
  }
  const { paths } = JSON.parse(
    JSON.stringify(await openApiDocument(feature.routes ?? [], 'test')),
  ) as { readonly paths: Readonly<Record<string, { readonly get: Operation }>> }
  const operation = (path: string): Operation => paths[path]!.get
  const schemas = Object.fromEntries(
    operation('/v1/messages').parameters.map(({ name, schema }) => [name, schema]),
  )
  expect(Object.keys(schemas)).toEqual(
    'type direction status transaction_status source_ispb destination_ispb end_to_end_id biz_msg_idr amount amount_from amount_to from to limit cursor offset'.split(
      ' ',
    ),
  )
  expect(schemas).toMatchObject({
    limit: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
    offset: { type: 'integer', minimum: 0, maximum: 100_000, default: 0 },
  })
  const { responses } = operation('/v1/messages/{id}')
  expect(Object.keys(responses['200']!.content)).toEqual(['application/json', 'application/xml'])
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['404', '503']))
  expect(Object.keys(operation('/v1/messages').responses)).toEqual(
    expect.arrayContaining(['400', '503']),
  )
})
