import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { createAudit, writeAudit } from '#src/platform/http/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createKeyTableStore } from '#src/platform/security/index.ts'
import { createSend } from '#src/spi/out/send/index.ts'
import { createWebhooks } from '#src/webhooks/index.ts'
import { sealEntries } from '../../../../src/platform/http/audit/chain/seal.ts'
import { testApp, testKey } from '../../../support/app.ts'
import {
  createTestDatabase,
  keptForEver,
  quietLogger as logger,
} from '../../../support/database.ts'
import { transfer } from '../../../support/participant.ts'

const database = await createTestDatabase()
const { sql, dsn } = database
const broker = createPostgresBroker({ sql, dsn, logger })
const audit = createAudit({ databases: [sql], ...keptForEver, logger })
await audit.start?.()
const webhooks = createWebhooks({
  sql,
  broker,
  sealer: undefined,
  version: 'test',
  logger,
  settings: {
    secret: 'common',
    allowedTargets: ['127.0.0.0/8'],
    timeoutSeconds: 2,
    concurrencyMax: 8,
    retentionDays: 1,
    sequenceDays: 400,
    certificate: undefined,
    key: undefined,
    ca: undefined,
  },
  metrics: createMetrics({ version: 'test', withProcess: false }),
})
const send = createSend({ ispb: '12345678', sql, broker, revision: '5.11.1', logger })
const operator = testKey('*')
const shop = testKey('spi:send')
const { call } = testApp(
  [...(audit.routes ?? []), ...(webhooks.routes ?? []), ...(send.routes ?? [])],
  { keys: [operator.record, shop.record] },
)

afterEach(async () => {
  await sql`truncate audit_log`
})
afterAll(async () => {
  await audit.stop?.()
  await broker.stop()
  await database.close()
})

type Page = {
  readonly entries: readonly Readonly<Record<string, string | null>>[]
  readonly next_cursor: string | null
}
const read = async (query = ''): Promise<Page> => {
  const response = await call('GET', `/v1/audit${query}`, { key: operator.key })
  if (response.status !== 200) throw new Error(await response.text())
  return (await response.json()) as Page
}
const payment = {
  message_type: 'PACS008',
  params: { local_instrument: 'MANU', transactions: [transfer('12345678', '99999A04', 100)] },
}
const malformed = { ...payment, params: { ...payment.params, local_instrument: 'NONE' } }
const by = (id: string) => ({ id, requestId: undefined })

describe('an entry is written with', () => {
  test('a message sent, once per Idempotency-Key, and not with one refused', async () => {
    const headers = { 'Idempotency-Key': 'audited', 'X-Request-Id': 'request-4711' }
    const response = await call('POST', '/v1/spi/send', { key: shop.key, body: payment, headers })
    const { id } = (await response.json()) as { readonly id: string }
    await call('POST', '/v1/spi/send', { key: shop.key, body: payment, headers })
    await call('POST', '/v1/spi/send', { key: shop.key, body: malformed })
    const { entries } = await read()
    expect(entries).toEqual([
      {
        id: expect.any(String),
        at: expect.stringMatching(/^20\d\d-.*Z$/),
        actor: shop.record.id,
        action: 'spi.send',
        object: id,
        outcome: 'queued',
        request_id: 'request-4711',
      },
    ])
  })

  test('what is done to an endpoint, and nothing of its secret', async () => {
    const { key } = operator
    const body = {
      url: 'http://127.0.0.1:9/',
      events: ['*'],
      secret: 'a secret of this one endpoint',
    }
    const made = await call('POST', '/v1/webhooks', { key, body })
    const { id } = (await made.json()) as { readonly id: string }
    const path = `/v1/webhooks/${id}`
    await call('PATCH', path, { key, body: { active: false } })
    await call('POST', `${path}/rotate`, { key, body: {} })
    await call('DELETE', path, { key })
    // Nothing was done to what is not there.
    await call('DELETE', path, { key })
    const { entries } = await read(`?object=${id}`)
    expect(entries.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'webhooks.delete deleted',
      'webhooks.rotate rotated',
      'webhooks.change changed',
      'webhooks.create created',
    ])
    expect(JSON.stringify(entries)).not.toContain('secret')
  })

  test('a key made and revoked by a command', async () => {
    const store = createKeyTableStore(sql, by('cli:maria'))
    const made = {
      name: 'shop',
      account: 'default',
      environment: 'test',
      grants: ['*'],
      expiresAt: undefined,
    } as const
    const { id } = await store.create(made)
    expect(await store.revoke(id)).toBe(true)
    expect(await store.revoke(id)).toBe(false)
    const { entries } = await read('?actor=cli:maria')
    expect(entries.map(({ action, object }) => [action, object])).toEqual([
      ['keys.revoke', id],
      ['keys.create', id],
    ])
  })
})

test('what is rolled back leaves no entry', async () => {
  const entry = { actor: by('a'), action: 'keys.create', object: 'k', outcome: 'created' } as const
  const failed = sql.begin(async (tx) => {
    await writeAudit(tx, entry)
    throw new Error('rolled back')
  })
  await failed.catch(() => undefined)
  expect((await read()).entries).toEqual([])
})

test('the cursor walks every entry once; filters and times hold', async () => {
  for (let index = 0; index < 7; index++) {
    const action = index % 2 === 0 ? 'keys.create' : 'keys.revoke'
    await writeAudit(sql, { actor: by('a'), action, object: `k${index}`, outcome: 'done' })
  }
  const seen: (string | null | undefined)[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await read(`?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
    seen.push(...page.entries.map(({ object }) => object))
    cursor = page.next_cursor
  }
  expect(seen).toEqual(['k6', 'k5', 'k4', 'k3', 'k2', 'k1', 'k0'])
  expect((await read('?action=keys.revoke')).entries).toHaveLength(3)
  expect((await read('?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')).entries).toEqual([])
  const ask = (query: string) => call('GET', `/v1/audit${query}`, { key: operator.key })
  for (const query of ['?limit=0', '?limit=501', '?action=other', '?cursor=1', '?x=1']) {
    expect([query, (await ask(query)).status]).toEqual([query, 400])
  }
  expect((await ask('?limit=500')).status).toBe(200)
})

test('entries of two databases are read as one, newest first, in whole pages', async () => {
  const other = await createTestDatabase()
  try {
    const object = Bun.randomUUIDv7()
    const actor = { id: 'somebody', requestId: undefined }
    const written: string[] = []
    for (const [index, outcome] of ['one', 'two', 'three', 'four', 'five'].entries()) {
      const into = index % 2 === 0 ? sql : other.sql
      await writeAudit(into, { actor, action: 'spi.send', object, outcome })
      written.unshift(outcome)
    }
    const { key, record } = testKey('ops:admin')
    const both = createAudit({ databases: [sql, other.sql], ...keptForEver, logger })
    const app = testApp(both.routes ?? [], { keys: [record] })
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const path = `/v1/audit?object=${object}&limit=2${cursor}`
      const { entries, next_cursor: next } = (await (
        await app.call('GET', path, { key })
      ).json()) as {
        readonly entries: readonly { readonly outcome: string }[]
        readonly next_cursor: string | null
      }
      seen.push(...entries.map(({ outcome }) => outcome))
      if (next === null) break
      cursor = `&cursor=${next}`
    }
    expect(seen).toEqual(written)
  } finally {
    await other.close()
  }
})

test('needs ops:admin, and a database', async () => {
  expect((await call('GET', '/v1/audit', { key: shop.key })).status).toBe(403)
  const { key, record } = testKey('ops:admin')
  const bare = testApp(createAudit({ databases: [], ...keptForEver, logger }).routes ?? [], {
    keys: [record],
  })
  const response = await bare.call('GET', '/v1/audit', { key })
  expect(response.status).toBe(503)
  expect(await response.text()).toContain('DATABASE_DSN')
})

test('the chain is verified over HTTP, a part at a time; links that are none are refused', async () => {
  const verify = async (query: string) => {
    const answer = await call('GET', `/v1/audit/verification${query}`, { key: operator.key })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  await writeAudit(sql, {
    actor: { id: 'key', requestId: undefined },
    action: 'keys.create',
    object: 'k',
    outcome: 'created',
  })
  await sealEntries({ sql, logger, nowMs: () => Date.now() + 60_000 })
  const { status, body } = await verify('?limit=1')
  expect([status, body['entries'], body['findings'], body['next_after']]).toEqual([
    200,
    1,
    [],
    null,
  ])
  await sql`update audit_log set object = 'another'`
  const altered = await verify(`?anchor=${body['head']}`)
  expect(altered.body).toMatchObject({ findings_count: 1, findings: [{ kind: 'altered' }] })
  const written = await verify(`?anchor=1:${'0'.repeat(64)}`)
  expect(written.body['findings']).toMatchObject([{ kind: 'anchor', at: '1' }, { kind: 'altered' }])
  for (const query of ['?after=7', '?database=2']) {
    const { status, body } = await verify(query)
    expect([query, status, body['code']]).toEqual([query, 400, 'value_refused'])
  }
  for (const query of ['?limit=0', '?limit=101', '?anchor=none', '?database=3']) {
    const { status, body } = await verify(query)
    expect([query, status, body['code']]).toEqual([query, 400, 'validation_failed'])
  }
  const answer = await call('GET', '/v1/audit/verification', { key: shop.key })
  expect(answer.status).toBe(403)
  await sql`truncate audit_links`
})
