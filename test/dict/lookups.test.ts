import { afterAll, beforeEach, expect, test } from 'bun:test'
import type { DrawTokens } from '#src/platform/http/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createDirectoryClient } from '../../src/dict/client.ts'
import { answerBytesMax } from '../../src/dict/exchange.ts'
import { createLookupTokens } from '../../src/dict/policies.ts'
import { forgetLookups } from '../../src/dict/retention.ts'
import { waitingMax } from '../../src/dict/service.ts'
import { createDirectoryWire } from '../../src/dict/wire.ts'
import { issueCertificate } from '../support/pki.ts'
import { startDict } from './support.ts'

const at = await startDict({ DICT_TIMEOUT: '1' })
const { directory, lookUp, sql } = at
const key = 'joao@example.com'
afterAll(at.stop)
/** No answer is used again, and no bucket is less than full. */
beforeEach(async () => {
  directory.setFaults([])
  at.pass(60_000)
  await sql`delete from rate_buckets`
})

const lastAct = async () => {
  const [last] = await sql<{ action: string; object: string; outcome: string }[]>`
    select action, object, outcome from audit_log order by id desc limit 1`
  return last
}

test('a key is shown with its owner, as a payer may see it, and the EndToEndId to pay with', async () => {
  const { status, json, headers } = await lookUp(key)
  expect(status).toBe(200)
  expect(json).toMatchObject({
    key,
    key_type: 'EMAIL',
    ispb: '99999A04',
    account_type: 'CACC',
    claimed_since: null,
    owner: { type: 'natural_person', name: 'João Lima', tax_id: '***654321**' },
  })
  expect(json.end_to_end_id).toMatch(/^E12345678\d{12}[0-9A-Za-z]{11}$/)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(directory.statistics().lookups).toContain(json.end_to_end_id)
  expect(await lastAct()).toEqual({
    action: 'dict.lookup',
    object: json.end_to_end_id,
    outcome: 'found',
  })
  expect((await lookUp('11222333000181')).json).toMatchObject({
    owner: { type: 'legal_person', trade_name: 'Padaria 3 Irmãos', tax_id: '11222333000181' },
  })
})

test('an answer is used again as long as the directory says, under an EndToEndId of its own', async () => {
  const first = await lookUp(key)
  const asked = () => directory.statistics().answers['200']
  const before = asked()
  at.pass(29_000)
  const again = await lookUp(key)
  expect(again.json.end_to_end_id).not.toBe(first.json.end_to_end_id)
  expect([asked(), (await lastAct())?.outcome]).toEqual([before, 'found_again'])
  at.pass(1_000)
  await lookUp(key)
  expect(asked()).toBe((before ?? 0) + 1)
})

test('an answer holds no longer where the clock is set back', async () => {
  await lookUp(key)
  const asked = () => directory.statistics().answers['200']
  const before = asked()
  at.set(-3_600_000)
  at.pass(31_000)
  await lookUp(key)
  expect(asked()).toBe((before ?? 0) + 1)
  at.set(3_600_000)
})

test('a payment of a company gives back two of its lookups, one of a person, one each of ours', async () => {
  const drawn: (readonly [subject: string, tokens: number])[] = []
  const draw = async (subject: string, _: unknown, tokens: number) => {
    drawn.push([subject.split(':')[1] ?? '', tokens])
    return { granted: 1, left: 1 }
  }
  const tokens = createLookupTokens(draw as unknown as DrawTokens, '12345678', 'E', () => 0)
  await tokens.paid({ payer: '12345678909', isContact: true })
  await tokens.paid({ payer: '11222333000181', isContact: false })
  expect(drawn).toEqual([
    ['contact', -1],
    ['participant', -1],
    ['other', -2],
    ['participant', -1],
  ])
})

test('nothing personal is in the log, the audit log or the tables', async () => {
  const { json } = await lookUp(key)
  expect(json.owner.name).toBe('João Lima')
  await lookUp('maria@example.com')
  const [tables] = await sql<{ text: string }[]>`
    select coalesce((select string_agg(l::text, ' ') from dict_lookups l), '')
      || coalesce((select string_agg(a::text, ' ') from audit_log a), '')
      || coalesce((select string_agg(b::text, ' ') from rate_buckets b), '') as text`
  const all = `${tables?.text} ${at.app.lines.join('\n')} ${await at.metrics.render()}`
  for (const secret of ['João', 'joao', 'maria', '98765432100', '12345678909', '600200']) {
    expect(all).not.toContain(secret)
  }
})

test.each([
  ['nobody', 400, 'value_refused'],
  ['maria@example.com', 404, 'dict_key_not_found'],
] as const)('of the key %s: %s %s', async (asked, status, code) => {
  const answer = await lookUp(asked)
  expect([answer.status, answer.json.code]).toEqual([status, code])
})

test('a payer without check digits is refused', async () => {
  const { status, json } = await lookUp(key, '12345678900')
  expect([status, json.errors[0].rule]).toEqual([400, 'check_digits'])
})

test('a key of this institution is not paid over the SPI', async () => {
  directory.register({
    key_type: 'EMAIL',
    key: 'own@example.com',
    name: 'Ana',
    tax_id: '11144477735',
    ispb: '12345678',
    account: '1',
    account_type: 'CACC',
  })
  expect((await lookUp('own@example.com')).json.code).toBe('dict_key_of_this_institution')
  directory.remove('own@example.com')
})

test('the directory is asked no more often than it allows, and by no process alone', async () => {
  const stranger = '52998224725'
  // Twenty each: the sixth would find less than a token.
  const missed = await Promise.all(
    Array.from({ length: 5 }, () => lookUp('x@example.com', stranger)),
  )
  expect(missed.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
  const before = { ...directory.statistics().answers }
  const refused = await lookUp(key, stranger)
  expect([refused.status, refused.json.code, refused.json.retryable]).toEqual([
    429,
    'dict_limited',
    true,
  ])
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 31)
  expect(directory.statistics().answers).toEqual(before)
  // Another type of key has another bucket, another payer too.
  expect((await lookUp('11222333000181', stranger)).status).toBe(200)
  expect((await lookUp(key)).status).toBe(200)
})

test('where the directory refuses all the same, it is left alone for as long as it says, for this payer', async () => {
  directory.setFaults([{ kind: 'rate_limited', times: 1 }])
  const refused = await lookUp(key)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
  const before = { ...directory.statistics().answers }
  expect((await lookUp(key)).status).toBe(429)
  expect(directory.statistics().answers).toEqual(before)
  expect((await lookUp(key, '11144477735')).status).toBe(200)
  at.pass(30_000)
  expect((await lookUp(key)).status).toBe(200)
})

test('a refusal empties the bucket of a payer only where little was left', async () => {
  const left = new Map<string, number>()
  const draw: DrawTokens = async (subject, { burst }, wanted) => {
    const tokens = left.get(subject) ?? burst
    const granted = Math.min(wanted, tokens)
    left.set(subject, tokens - granted)
    return { granted, left: tokens - granted }
  }
  const tokens = createLookupTokens(draw, '12345678', 'E', () => 0)
  const looker = { payer: '12345678909', isContact: true }
  const [own = ''] = await tokens.take(looker).then(() => left.keys())
  for (const [had, has] of [
    [99, 99],
    [21, 21],
    [20, 0],
    [3, 0],
  ] as const) {
    left.set(own, had)
    await tokens.exhausted(looker, 1_000)
    expect(left.get(own)).toBe(has)
  }
})

test('a 429 that is not the directory’s own says nothing of its buckets', async () => {
  const headers = { 'Retry-After': '3600' }
  const proxy = Bun.serve({
    port: 0,
    fetch: () => new Response('<html/>', { status: 429, headers }),
  })
  const wire = createDirectoryWire({
    url: proxy.url.origin,
    ispb: '12345678',
    tls: undefined,
    refusalOfSignature: () => undefined,
    sign: async (document) => document,
    timeoutMs: 1_000,
    metrics: createMetrics({ version: 'test', withProcess: false }),
  })
  const { lookUp } = createDirectoryClient(wire.lane(), '12345678')
  const asked = { key, payer: '12345678909', endToEndId: '' }
  await expect(lookUp(asked)).rejects.toMatchObject({ reason: 'status' })
  await proxy.stop(true)
})

test.each([
  ['wrong_signature', 'signature'],
  ['no_signature', 'signature'],
  ['other_key', 'document'],
  ['garbage', 'document'],
  ['unavailable', 'status'],
  ['proxy_refusal', 'status'],
  ['conflict', 'status'],
] as const)('after %s nothing is known, and the next answer counts', async (kind, reason) => {
  directory.setFaults([{ kind, times: 1 }])
  const { status, json } = await lookUp(key)
  expect([status, json.code, json.reason, json.retryable]).toEqual([
    503,
    'dict_unavailable',
    reason,
    true,
  ])
  expect((await lastAct())?.outcome).toBe('dict_unavailable')
  expect((await lookUp(key)).status).toBe(200)
})

test('an owner that cannot be read is one key’s, and keeps nobody from another', async () => {
  const entry = {
    key_type: 'EMAIL',
    key: 'unread@example.com',
    name: 'x'.repeat(151),
    tax_id: '11144477735',
    ispb: '99999A04',
    account: '8',
    account_type: 'CACC',
  } as const
  directory.register(entry)
  for (let i = 0; i < 8; i++) {
    const { status, json } = await lookUp(entry.key)
    expect([status, json.reason]).toEqual([503, 'document'])
  }
  expect((await lookUp(key)).status).toBe(200)
  directory.remove(entry.key)
})

test('a directory that is too slow is not waited for', async () => {
  directory.setFaults([{ kind: 'latency', delayMs: 60_000, times: 1 }])
  const { status, json } = await lookUp(key)
  expect([status, json.reason]).toEqual([503, 'timeout'])
})

test('of an endless answer no more than the bound is read', async () => {
  const endless = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(answerBytesMax / 4)),
        }),
      ),
  })
  const other = await startDict(
    { DICT_URL: `http://127.0.0.1:${endless.port}/api/v2` },
    { on: at.database },
  )
  try {
    expect((await other.lookUp(key)).json.reason).toBe('too_large')
    await endless.stop(true)
    for (let i = 0; i < 4; i++) {
      expect((await other.lookUp(key)).json.reason).toBe('connection')
    }
    // Five failures in a row: it is not tried for some time.
    const left = async () =>
      (await sql`select tokens from rate_buckets where subject like 'dict:contact:%'`)[0]?.[
        'tokens'
      ]
    const before = await left()
    expect((await other.lookUp(key)).json.reason).toBe('circuit_open')
    expect(await left()).toBeGreaterThanOrEqual(before)
  } finally {
    await other.stop()
  }
})

test('no more lookups wait at once than may', async () => {
  const end = Promise.withResolvers<void>()
  let held = 0
  const slow = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async () => {
      held++
      await end.promise
      return new Response(null, { status: 404 })
    },
  })
  const env = { DICT_URL: `http://127.0.0.1:${slow.port}/api/v2`, DICT_TIMEOUT: '60' }
  const other = await startDict(env, { on: at.database })
  try {
    const company = '11222333000181'
    const waiting = Array.from({ length: waitingMax }, () => other.lookUp(key, company))
    while (held < waitingMax) await Bun.sleep(5)
    const { status, json } = await other.lookUp(key, company)
    expect([status, json.code]).toEqual([503, 'unavailable'])
    end.resolve()
    const codes = (await Promise.all(waiting)).map((one) => one.json.code)
    expect(new Set(codes)).toEqual(new Set(['dict_unavailable']))
  } finally {
    end.resolve()
    await other.stop()
    await slow.stop(true)
  }
})

test('who signs with another certificate is not believed', async () => {
  const other = await startDict({}, { trusted: issueCertificate('other'), on: at.database })
  try {
    expect((await other.lookUp(key)).json.reason).toBe('signature')
  } finally {
    await other.stop()
  }
})

test('a key without the scope asks nothing', async () => {
  const path = `/v1/dict/keys/${key}?payer=12345678909`
  expect((await at.app.call('GET', path, { key: at.readerKey })).status).toBe(403)
})

test('old lookups and full buckets are forgotten, young ones stay', async () => {
  const { json } = await lookUp(key)
  await sql`update dict_lookups set created_at = now() - interval '2 days' where end_to_end_id <> ${json.end_to_end_id}`
  await sql`insert into rate_buckets (subject, tokens, at) values
    ('dict:other:x', 1, now() - interval '2 days'), ('key:x', 1, now() - interval '2 days')`
  await forgetLookups(sql)
  const [left] = await sql`select count(*)::int as lookups from dict_lookups`
  expect(left?.['lookups']).toBe(1)
  const buckets = await sql<{ subject: string }[]>`select subject from rate_buckets order by 1`
  expect(buckets.map(({ subject }) => subject)).toContain('key:x')
  expect(buckets.map(({ subject }) => subject)).not.toContain('dict:other:x')
})
