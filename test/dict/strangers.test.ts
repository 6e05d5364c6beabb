/** Every route of the directory, asked by another account, and by whoever sends what no form has. */
import { afterAll, describe, expect, test } from 'bun:test'
import { cursorOf } from '../../src/platform/http/page.ts'
import { testApp, testKey } from '../support/app.ts'
import { other, startDisputes } from './disputes-support.ts'
import type { Json } from './support.ts'

const disputes = await startDisputes()
afterAll(disputes.stop)
const { dict, sql, call } = disputes
const { directory } = dict
const ana = { tax_id: '98765432100', name: 'Ana Souza', trade_name: 'Ana' }
const account = {
  branch: '0001',
  number: '500100',
  type: 'CACC',
  opened_at: '2020-01-10T03:00:00Z',
}

const demand = async (method: string, path: string, body?: object): Promise<Json> => {
  const { status, json } = await call(method, path, body)
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`)
  return json
}
const newEntry = (key: string) => ({ key_type: 'EMAIL', key, owner: ana, account })
const newClaim = (key: string) => {
  directory.register({
    key_type: 'EMAIL',
    key,
    ...ana,
    ispb: other,
    account: '1',
    account_type: 'CACC',
  })
  return { type: 'PORTABILITY', key_type: 'EMAIL', key, claimer: ana, account }
}
const newReport = (transactionId: string) => ({
  transaction_id: transactionId,
  reason: 'REFUND_REQUEST',
  situation: 'OTHER',
  details: 'Golpe',
  contact: { email: 'med@example.com', phone: '+5561988887777' },
})
const flaw = { reason: 'OPERATIONAL_FLAW', amount: 100, details: 'Pago duas vezes' }

/** What one account has made of each kind. */
const make = async () => {
  const entry = await demand('POST', '/v1/dict/entries', newEntry('mine@example.com'))
  const claim = await demand('POST', '/v1/dict/claims', newClaim('claimed@example.com'))
  const transactionId = await disputes.paid()
  const report = await demand('POST', '/v1/dict/infraction-reports', newReport(transactionId))
  const asked = { ...flaw, transaction_id: transactionId }
  const refund = await demand('POST', '/v1/dict/refunds', asked)
  const wanted = { key_type: 'EMAIL', method: 'file' }
  const comparison = await demand('POST', '/v1/dict/comparisons', wanted)
  await sql`
    insert into dict_differences (comparison_id, key, entry_id)
    values (${comparison.id}, 'mine@example.com', ${entry.id})`
  return {
    entries: entry.id,
    claims: claim.id,
    'infraction-reports': report.id,
    refunds: refund.id,
    comparisons: comparison.id,
  } as Readonly<Record<string, string>>
}
const made = await make()

/** The path with what was made in the place of its parameter. */
const pathOf = (path: string): string =>
  path
    .replace('{id}', made[/^\/v1\/dict\/([a-z-]+)/.exec(path)?.[1] ?? ''] ?? '')
    .replace('{key}', encodeURIComponent('joao@example.com'))

/** What each route takes that takes something. */
const transactionId = await disputes.paid()
const bodies: Readonly<Record<string, object>> = {
  'POST /v1/dict/entries': newEntry('hostile@example.com'),
  'PATCH /v1/dict/entries/{id}': { owner: { name: 'Ana', trade_name: 'Loja' }, account },
  'POST /v1/dict/verifications': { key_type: 'EMAIL' },
  'POST /v1/dict/claims': newClaim('hostile-claim@example.com'),
  'POST /v1/dict/claims/{id}/confirm': { reason: 'USER_REQUESTED' },
  'POST /v1/dict/claims/{id}/cancel': { reason: 'RFB_VALIDATION' },
  'POST /v1/dict/infraction-reports': newReport(transactionId),
  'POST /v1/dict/infraction-reports/{id}/acknowledge': {},
  'POST /v1/dict/infraction-reports/{id}/close': {
    result: 'AGREED',
    fraud_type: 'OTHER',
    analysis: 'Golpe',
  },
  'POST /v1/dict/infraction-reports/{id}/cancel': {},
  'POST /v1/dict/refunds': { ...flaw, transaction_id: transactionId },
  'POST /v1/dict/refunds/{id}/close': {
    result: 'REJECTED',
    rejection_reason: 'INVALID_REQUEST',
    analysis: 'Já devolvido',
  },
  'POST /v1/dict/refunds/{id}/cancel': {},
  'POST /v1/dict/comparisons': {
    key_type: 'PHONE',
    method: 'events',
    since: '2026-01-01T00:00:00Z',
  },
  'POST /v1/dict/comparisons/{id}/mend': { key: 'mine@example.com', keep: 'ours' },
}
/** As a list names the place behind an item. */
const placeAt = (place: string): string => cursorOf(place)
const age = '2026-01-01T00:00:00.000Z 00000000-0000-4000-8000-000000000000'
const page = { limit: '10', cursor: placeAt(age) }
const queries: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'GET /v1/dict/keys/{key}': { payer: '12345678909' },
  'GET /v1/dict/entries': { ...page, key: 'mine@example.com' },
  'DELETE /v1/dict/entries/{id}': { reason: 'ACCOUNT_CLOSURE' },
  'GET /v1/dict/claims': {
    ...page,
    key: 'claimed@example.com',
    role: 'donor',
    status: 'open',
    needs_attention: 'true',
  },
  'GET /v1/dict/infraction-reports': { ...page, role: 'asking', status: 'open' },
  'GET /v1/dict/refunds': { ...page, role: 'asking', status: 'open' },
  'GET /v1/dict/comparisons/{id}/differences': { limit: '10', cursor: placeAt('a@example.com') },
}
const routes = dict.routes.map(({ method, path }) => [`${method} ${path}`, method, path] as const)

const tables = [
  ...['dict_entries', 'dict_claims', 'dict_disputes', 'dict_comparisons', 'dict_differences'],
]
const stored = async (): Promise<unknown> =>
  Promise.all(
    tables.map(
      async (table) =>
        (await sql`select md5(string_agg(t::text, ',' order by t::text)) from ${sql(table)} t`)[0],
    ),
  )

describe('another account, whatever its scopes', () => {
  const { key, record } = testKey('*')
  Object.assign(record, { account: 'bia' })
  const app = testApp(dict.routes, { keys: [record] })

  test.each(routes)('%s: finds nothing, and changes nothing', async (name, method, path) => {
    const before = await stored()
    const asked = bodies[name]
    const options = { key, ...(asked === undefined ? {} : { body: asked }) }
    for (const query of ['', `?${new URLSearchParams(queries[name])}`]) {
      const response = await app.call(method, pathOf(path) + query, options)
      expect(response.status).toBe(path.includes('{') ? 404 : 403)
      expect(await response.text()).not.toMatch(/mine@|claimed@|Ana|98765432100|E\d{8}/)
    }
    expect(await stored()).toEqual(before)
  })
})

const texts = [
  ...['', ' ', 'null', '-1', '1e999', '\u202e', '\uffff', "'; drop table dict_entries; --"],
  ...['<a>&amp;]]></a>', '../../../etc/passwd', '9'.repeat(400), 'é'.repeat(5_000)],
  ...['0000-00-00T00:00:00Z', '9999-99-99T99:99:99Z', '+999999-12-31T23:59:59Z'],
  ...['E9999999999999999999999999999999', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ...['a\u0000b', '\ud800', 'x\udfff\ud800y', '\u0001', '\r\n', '😀'.repeat(2_001)],
]
const values = [
  null,
  true,
  0,
  -1,
  0.5,
  1e300,
  2 ** 53,
  [],
  {},
  [null],
  [[{}]],
  { toString: 1 },
  JSON.parse(`${'['.repeat(3_000)}${']'.repeat(3_000)}`) as unknown,
]

/** The value with each of its members in turn put in the place of by each of the others. */
function* disfigured(value: unknown): Generator<unknown> {
  yield* texts
  yield* values
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    for (const one of disfigured(member)) yield { ...value, [name]: one }
    const { [name]: _, ...rest } = value as Readonly<Record<string, unknown>>
    yield rest
  }
  yield { ...value, __proto__: 1, constructor: 1, 'a\u0000': 1, '\ud800': 1 }
}

const raw = [
  ...['', '{', '\u0000', '"', '[1,', '{"a":1,"a":2}', '{"key":"\\ud800"}', '{"\\u0000":1}'],
  ...['1e999', `{"a":${'9'.repeat(10_000)}}`, '['.repeat(15_000), ' '.repeat(20_000)],
  `{"x":"${'x'.repeat(100_000)}"}`,
]

const expectTold = async (
  name: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<void> => {
  const options = body === undefined ? {} : { body: body as object }
  const response = await dict.app.call(method, path, { key: dict.key, ...options })
  const text = await response.text()
  if (response.status < 500) return
  throw new Error(`${name}: ${response.status} ${text} for ${path} ${JSON.stringify(body)}`)
}

describe('what no form has is told, and is nobody’s failure', () => {
  const withBody = routes.filter(([name]) => name in bodies)
  test.each(withBody)('in the body of %s', async (name, method, path) => {
    for (const body of disfigured(bodies[name])) {
      await expectTold(name, method, pathOf(path), body)
    }
    for (const text of raw) await expectTold(name, method, pathOf(path), text)
  })

  const escaped = texts.filter((text) => text.isWellFormed() && text.length < 5_000)
  test.each(routes.filter(([name]) => name in queries))('in the query of %s', async (...route) => {
    const [name, method, path] = route
    const query = queries[name] ?? {}
    const strange = [
      ...escaped,
      ...escaped.map(placeAt),
      '%zz',
      ...[age.replaceAll(/[0-9a-f]/g, '-'), age.replaceAll(/[0-9a-f]/g, '9')].map(placeAt),
      ...[age.replace('2026', '0000'), age.replace('00:00:00', '24:61:61')].map(placeAt),
    ]
    for (const member of Object.keys(query)) {
      for (const text of strange) {
        const asked = new URLSearchParams({ ...query, [member]: text })
        await expectTold(name, method, `${pathOf(path)}?${asked}`)
      }
      const twice = `${new URLSearchParams(query)}&${member}=a&${member}=b`
      await expectTold(name, method, `${pathOf(path)}?${twice}&more[]=1&${member}=%ff%00`)
    }
  })

  const named = routes.filter(([, , path]) => path.includes('{'))
  test.each(named)('in the path of %s', async (name, method, path) => {
    for (const text of [...escaped, '%00', '%ff', '%ed%a0%80']) {
      const at = text.startsWith('%') ? text : encodeURIComponent(text)
      await expectTold(name, method, path.replace(/\{\w+\}/, at), bodies[name])
    }
  })
})

test('the directory has taken nothing that it does not know', () => {
  expect(directory.statistics().answers[500]).toBeUndefined()
})
