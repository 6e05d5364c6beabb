/** Dead letters over the API: what operators see of them, and what they do about them. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import {
  createDeadLetters,
  deadLetterHeaders,
  openDeadLetters,
} from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { testApp, testKey } from '../../support/app.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

const base = '/v1/ops/dead-letters'
const noSubjects = { reopen: async () => {}, end: async () => {} }
const operator = testKey('ops:*')
const reader = testKey('ops:read')

const database = await createTestDatabase()
const { routes = [] } = createDeadLetters({
  sql: database.sql,
  isRelayed: false,
  subjects: { ...noSubjects, held: async () => [] },
  retentionDays: 7,
  logger: quietLogger,
  metrics: createMetrics({ version: 'test', withProcess: false }),
})
const call = testApp(routes, { keys: [operator.record, reader.record] }).call
beforeEach(async () => {
  await database.sql`truncate broker_dead_letters, broker_queue, audit_log`
})
afterAll(() => database.close())

/** @param topic undefined: the letter does not say where it came from */
const bury = async (
  code: string,
  topic: string | undefined = 'spi.inbound.pacs.008',
  key = 'E1',
) => {
  const headers = {
    [deadLetterHeaders.errorCode]: code,
    [deadLetterHeaders.attempt]: '5',
    [deadLetterHeaders.firstFailure]: '2026-01-02T03:04:05.678Z',
    ...(topic === undefined ? {} : { [deadLetterHeaders.topic]: topic }),
    about: key,
  }
  const [row] = await database.sql<{ id: string }[]>`
    insert into broker_dead_letters (key, headers, value)
    values (${key}, ${database.sql.json(headers)}, 'Fulano de Tal') returning id::text`
  return row?.id ?? ''
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
const asked = async (method: string, path = '', body?: unknown, headers = {}): Promise<any> => {
  const options = { key: operator.key, headers, ...(body === undefined ? {} : { body }) }
  const answer = await call(method, base + path, options)
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}

const acts = async () =>
  (
    await database.sql<{ act: string }[]>`
      select action || ' ' || object || ' ' || outcome as act from audit_log order by id`
  ).map(({ act }) => act)

test('doctor and metrics are told of those that stay though they are past their retention', async () => {
  await bury('refused_by_interface', 'spi.outbound')
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const feature = createDeadLetters({
    sql: database.sql,
    isRelayed: false,
    subjects: { ...noSubjects, held: async (_, letters) => letters },
    retentionDays: 7,
    logger: quietLogger,
    metrics,
  })
  const told = async () => (await feature.checks?.())?.map(({ status }) => status)
  const gauged = async () =>
    (await metrics.render()).text.match(/^spigw_broker_dead_letters_\w+ \d+$/gm)
  expect(await told()).toEqual(['ok'])
  expect(await gauged()).toEqual([
    'spigw_broker_dead_letters_waiting 1',
    'spigw_broker_dead_letters_held 0',
  ])
  await database.sql`update broker_dead_letters set published_at = now() - interval '8 days'`
  expect(await told()).toEqual(['warning'])
  expect(await gauged()).toContain('spigw_broker_dead_letters_held 1')
})

test('they are listed by class, the newest first, without what they hold', async () => {
  await bury('unreadable')
  await bury('unreadable')
  const newest = await bury('refused_by_interface', 'spi.outbound')
  const { status, body } = await asked('GET', '?limit=1')
  expect(status).toBe(200)
  expect(body.dead_letters).toEqual([
    {
      id: newest,
      at: expect.any(String),
      topic: 'spi.outbound',
      code: 'refused_by_interface',
      attempts: 5,
      key: 'E1',
      bytes: 13,
      can_be_retried: true,
      first_failure_at: '2026-01-02T03:04:05.678Z',
    },
  ])
  expect(body.classes).toEqual([
    { code: 'unreadable', topic: 'spi.inbound.pacs.008', count: 2, can_be_retried: 2 },
    { code: 'refused_by_interface', topic: 'spi.outbound', count: 1, can_be_retried: 1 },
  ])
  expect(JSON.stringify(body)).not.toContain('Fulano')
  const rest = await asked('GET', `?limit=5&cursor=${body.next_cursor}`)
  expect(rest.body.dead_letters.map(({ code }: { code: string }) => code)).toEqual([
    ...['unreadable', 'unreadable'],
  ])
  expect(rest.body.next_cursor).toBeNull()
  const ofCode = await asked('GET', '?code=unreadable')
  expect(ofCode.body.dead_letters).toHaveLength(2)
})

test('one is retried once, whatever is asked twice, and the audit says who did it', async () => {
  const id = await bury('unreadable')
  const headers = { 'Idempotency-Key': 'again' }
  const first = await asked('POST', `/${id}/retry`, undefined, headers)
  expect(first).toEqual({ status: 202, body: { retried: 1 } })
  expect(await asked('POST', `/${id}/retry`, undefined, headers)).toEqual(first)
  expect((await asked('POST', `/${id}/retry`)).status).toBe(404)
  const queued = await database.sql<{ value: Uint8Array }[]>`
    select value from broker_queue where id > 0`
  expect(queued.map(({ value }) => Buffer.from(Bun.zstdDecompressSync(value)).toString())).toEqual([
    'Fulano de Tal',
  ])
  expect(await acts()).toEqual([`dead_letters.retry ${id} retried`])
})

test('all of a class are retried, and no others', async () => {
  const [one, two, other] = [await bury('unreadable'), await bury('unreadable'), await bury('x')]
  expect(await asked('POST', '/retry', { code: 'unreadable' })).toEqual({
    status: 202,
    body: { retried: 2 },
  })
  const { body } = await asked('GET')
  expect(body.dead_letters.map(({ id }: { id: string }) => id)).toEqual([other])
  expect(await acts()).toEqual([one, two].map((id) => `dead_letters.retry ${id} retried`))
})

test('two classes with the same subjects are retried at once, whatever the order of their letters', async () => {
  const topic = 'spi.outbound'
  await bury('one', topic, 'E1')
  for (const key of ['E2', 'E1']) await bury('other', topic, key)
  await bury('one', topic, 'E2')
  const { routes = [] } = createDeadLetters({
    sql: database.sql,
    isRelayed: false,
    subjects: {
      ...noSubjects,
      held: async () => [],
      // As events count their subjects: held until the end of the transaction.
      reopen: async (tx, { headers }) => {
        await tx`select pg_advisory_xact_lock(hashtext(${headers['about'] ?? ''}))`
        await tx`select pg_sleep(0.2)`
      },
    },
    retentionDays: 7,
    logger: quietLogger,
    metrics: createMetrics({ version: 'test', withProcess: false }),
  })
  const app = testApp(routes, { keys: [operator.record] })
  const answers = await Promise.all(
    ['one', 'other'].map(async (code) => {
      const answer = await app.call('POST', `${base}/retry`, { key: operator.key, body: { code } })
      return [answer.status, await answer.json()]
    }),
  )
  expect(answers).toEqual([
    [202, { retried: 2 }],
    [202, { retried: 2 }],
  ])
})

test('a topic beside the code leaves the letters of other topics where they are', async () => {
  const payment = await bury('attempts_exhausted', 'spi.outbound')
  const event = await bury('attempts_exhausted', 'webhook.events')
  const body = { code: 'attempts_exhausted', topic: 'webhook.events' }
  expect((await asked('POST', '/retry', body)).body).toEqual({ retried: 1 })
  expect(await acts()).toEqual([`dead_letters.retry ${event} retried`])
  expect((await asked('GET')).body.dead_letters).toMatchObject([{ id: payment }])
})

test('one is dropped; one without an origin is not retried, and stays', async () => {
  const headers = { [deadLetterHeaders.errorCode]: 'x' }
  const [lost] = await database.sql<{ id: string }[]>`
    insert into broker_dead_letters (headers, value)
    values (${database.sql.json(headers)}, 'x') returning id::text`
  expect((await asked('GET')).body).toMatchObject({
    dead_letters: [{ can_be_retried: false }],
    classes: [{ topic: null, can_be_retried: 0 }],
  })
  expect((await asked('POST', `/${lost?.id}/retry`)).status).toBe(422)
  expect((await asked('DELETE', `/${lost?.id}`)).status).toBe(204)
  expect((await asked('DELETE', `/${lost?.id}`)).status).toBe(404)
  expect(await acts()).toEqual([`dead_letters.drop ${lost?.id} dropped`])
})

test('one that holds a beginning only is not retried, alone or with others, and stays as it is', async () => {
  const cut = await bury('x')
  await database.sql`
    update broker_dead_letters
    set headers = headers || ${database.sql.json({ [deadLetterHeaders.cutFrom]: '99' })}`
  await bury('x')
  expect((await asked('GET')).body).toMatchObject({
    dead_letters: [{ can_be_retried: true }, { id: cut, can_be_retried: false }],
    classes: [{ code: 'x', count: 2, can_be_retried: 1 }],
  })
  const refused = await asked('POST', `/${cut}/retry`)
  expect([refused.status, refused.body.detail]).toEqual([
    422,
    'It holds only the beginning of its message: it can only be thrown away.',
  ])
  expect((await asked('POST', '/retry', { code: 'x' })).body).toEqual({ retried: 1 })
  const left = await database.sql`select id::text, headers from broker_dead_letters`
  expect(left).toMatchObject([{ id: cut, headers: { [deadLetterHeaders.cutFrom]: '99' } }])
})

test.each([
  ['a batch', 'unreadable_batch'],
  ['an answer', 'answer_unreadable:multipart_truncated'],
])(
  '%s that cannot be read is no message: it is not retried, alone or with others, and stays',
  async (_, code) => {
    const batch = await bury(code, 'spi.outbound')
    const refused = await asked('POST', `/${batch}/retry`)
    expect([refused.status, refused.body.detail]).toEqual([
      422,
      'It holds what cannot be read, and no message: it can only be thrown away.',
    ])
    expect((await asked('POST', '/retry', { code })).body).toEqual({ retried: 0 })
    expect(await openDeadLetters(database.sql).ids(10)).toEqual([])
    expect((await asked('GET')).body).toMatchObject({
      dead_letters: [{ id: batch, can_be_retried: false }],
      classes: [{ code, count: 1, can_be_retried: 0 }],
    })
    expect((await asked('DELETE', `/${batch}`)).status).toBe(204)
  },
)

test('an id beyond any is not there; who may only read does nothing', async () => {
  const id = await bury('unreadable')
  expect((await asked('DELETE', `/${'9'.repeat(19)}`)).status).toBe(404)
  expect((await asked('DELETE', '/none')).status).toBe(404)
  const { key } = reader
  expect((await call('GET', base, { key })).status).toBe(200)
  expect((await call('POST', `${base}/${id}/retry`, { key })).status).toBe(403)
  expect((await call('DELETE', `${base}/${id}`, { key })).status).toBe(403)
})
