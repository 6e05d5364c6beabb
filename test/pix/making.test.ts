/** How new charges reach the database: alone in one statement, and together in few. */
import { afterAll, expect, test } from 'bun:test'
import type { Client } from '#src/platform/database/index.ts'
import { chargeBody, freshTxid, startPix } from './support.ts'

let statements = 0
let transactions = 0
/** Counts what begins as a statement does, and transactions. */
const counted = (sql: Client): Client =>
  new Proxy(sql, {
    apply: (target, self, given: readonly unknown[]) => {
      const [strings] = given
      if (Array.isArray(strings) && /^\s*(?:with|insert|select|update)\b/.test(strings[0])) {
        statements++
      }
      return Reflect.apply(target as never, self, given)
    },
    get: (target, name) => {
      if (name === 'begin') transactions++
      return Reflect.get(target, name) as unknown
    },
  })

const pix = await startPix(undefined, counted)
afterAll(() => pix.database.close())
const { key, token } = await pix.receiver('ana')
const elsewhere = await pix.receiver('bia', '11222333000181')

const put = (txid: string, chave = key, by = token) =>
  pix.call('PUT', `/pix/v2/cob/${txid}`, { token: by, body: chargeBody(chave) })

/** Each request asks once for the token. */
const countsOf = async (work: () => Promise<unknown>) => {
  statements = 0
  transactions = 0
  await work()
  return { statements, transactions }
}

test('a charge that is new takes one statement', async () => {
  await put(freshTxid())
  const asking = await countsOf(() => pix.call('GET', '/pix/v2/webhook/none', { token }))
  const making = await countsOf(() => put(freshTxid()))
  expect(making.transactions).toBe(0)
  expect(making.statements).toBeLessThanOrEqual(asking.statements)
})

test('a payload takes one statement', async () => {
  const { location } = (await put(freshTxid())).json
  const path = location.slice(location.indexOf('/'))
  const read = await countsOf(async () => {
    expect((await pix.call('GET', path)).status).toBe(200)
  })
  expect(read).toEqual({ statements: 1, transactions: 0 })
})

test('payloads that are read together share statements', async () => {
  const all = await Promise.all(Array.from({ length: 64 }, () => put(freshTxid())))
  const paths = all.map(({ json }) => json.location.slice(json.location.indexOf('/')))
  const read = await countsOf(() => Promise.all(paths.map((path) => pix.call('GET', path))))
  expect(read.transactions).toBe(0)
  expect(read.statements).toBeLessThanOrEqual(2)
})

test('charges that come together share statements, each with its own answer', async () => {
  const txids = Array.from({ length: 64 }, freshTxid)
  const taken = txids[7] ?? ''
  await put(taken)
  const notOurs = txids[9] ?? ''
  const { transactions: begun } = await countsOf(async () => {
    const all = await Promise.all(
      txids.map((txid) => put(txid, txid === notOurs ? elsewhere.key : key)),
    )
    expect(all.map(({ status }) => status)).toEqual(
      txids.map((txid) => (txid === notOurs ? 400 : 201)),
    )
    const made = all.filter((_, at) => txids[at] !== notOurs)
    expect(made.map(({ json }) => json.txid)).toEqual(txids.filter((txid) => txid !== notOurs))
    expect(new Set(made.map(({ json }) => json.loc.id)).size).toBe(63)
    expect(made.every(({ json }) => json.revisao === 0)).toBe(true)
  })
  // Only the one that is there already, and the one of another account's key, are looked at more closely.
  expect(begun).toBe(2)
  for (const txid of txids.filter((one) => one !== notOurs)) {
    const { json } = await pix.call('GET', `/pix/v2/cob/${txid}`, { token })
    expect([json.txid, json.loc.txid]).toEqual([txid, txid])
  }
  const [row] = await pix.sql`
    select count(*)::int as count from pix_charges c left join pix_locations l on l.charge_id = c.id
    where not c.is_shown or l.id is null`
  expect(row?.['count']).toBe(0)
})

test('one txid that comes many times at once is one charge', async () => {
  const txid = freshTxid()
  const all = await Promise.all(Array.from({ length: 16 }, () => put(txid)))
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(all.map(({ json }) => json.location)).size).toBe(1)
})

test.each([0, 15])('the one at place %p that cannot be stored fails alone', async (place) => {
  await pix.sql.unsafe(`
    create or replace function refuse() returns trigger language plpgsql as
      $$ begin if new.txid like 'wrong%' then raise check_violation; end if; return new; end $$;
    create or replace trigger refuse before insert on pix_charges for each row execute function refuse()`)
  const wrong = freshTxid().replace('txid', 'wrong')
  const all = await Promise.all(
    Array.from({ length: 16 }, (_, at) => put(at === place ? wrong : freshTxid())),
  )
  expect(all.map(({ status }) => status)).toEqual(all.map((_, at) => (at === place ? 500 : 201)))
  await pix.sql.unsafe('drop trigger refuse on pix_charges')
})
