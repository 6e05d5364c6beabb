/** Locations of charges while their charges change. */
import { afterAll, expect, test } from 'bun:test'
import { chargeBody, freshTxid, startPix } from './support.ts'

const pix = await startPix()
afterAll(() => pix.database.close())
const { sql } = pix.database
const { key, token } = await pix.receiver('ana')

const call = (method: string, path: string, body?: unknown) =>
  pix.call(method, `/pix/v2${path}`, { token, ...(body === undefined ? {} : { body }) })
const charge = async () => {
  const txid = freshTxid()
  return { txid, loc: (await call('PUT', `/cob/${txid}`, chargeBody(key))).json.loc }
}
/** Until a request waits for the rows that a test has locked. */
const someoneWaits = async () => {
  for (let n = 0; n < 400; n++) {
    const waiting = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    if (waiting.length > 0) return
    await Bun.sleep(5)
  }
  throw new Error('nobody waits')
}

test('a location that is freed waits for its charge, and keeps nobody from changing it', async () => {
  const { txid, loc } = await charge()
  const asked = await sql.begin(async (tx) => {
    await tx`select from pix_charges where txid = ${txid} for update`
    const freed = call('DELETE', `/loc/${loc.id}/txid`)
    await someoneWaits()
    // What changes the charge takes the location next.
    await tx`select from pix_locations where id = ${loc.id} for update nowait`
    return [freed] as const
  })
  const { json } = await asked[0]
  expect(json).toEqual({ ...loc, txid: undefined })
  expect((await call('GET', `/loc/${loc.id}`)).json).toEqual(json)
  expect((await call('GET', `/cob/${txid}`)).json.pixCopiaECola).toBeUndefined()
})

test('a location that shows another charge by the time keeps it, and so does the charge that left', async () => {
  const [one, other] = [await charge(), await charge()]
  const empty = (await call('POST', '/loc', { tipoCob: 'cob' })).json
  const idOf = async ({ txid }: { txid: string }) =>
    (await sql<{ id: string }[]>`select id from pix_charges where txid = ${txid}`)[0]?.id ?? ''
  const ids = [await idOf(one), await idOf(other)] as const
  const asked = await sql.begin(async (tx) => {
    await tx`select from pix_charges where id = ${ids[0]} for update`
    const freed = call('DELETE', `/loc/${one.loc.id}/txid`)
    await someoneWaits()
    await tx`update pix_locations set charge_id = null where id = ${other.loc.id}`
    await tx`update pix_locations set charge_id = ${ids[1]} where id = ${one.loc.id}`
    await tx`update pix_locations set charge_id = ${ids[0]} where id = ${empty.id}`
    return [freed] as const
  })
  expect((await asked[0]).status).toBe(200)
  expect((await call('GET', `/cob/${other.txid}`)).json.loc.id).toBe(one.loc.id)
  expect((await call('GET', `/cob/${one.txid}`)).json.loc.id).toBe(empty.id)
  const shown = await sql`select from pix_charges where id = ${ids[0]} and is_shown`
  expect(shown).toHaveLength(1)
})
