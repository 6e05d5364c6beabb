/**
 * The check of all entries that this institution keeps, against the directory's own: of 10 000, and with TRILHO_LONG=1 of
 * a million.
 */
import { afterAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { cidFor, type EntryContent } from '../../src/dict/entries/domain.ts'
import { startDict } from './support.ts'

const entries = process.env['TRILHO_LONG'] === '1' ? 1_000_000 : 10_000
const atOnce = 10_000
const dict = await startDict()
afterAll(dict.stop)

const content = (i: number): EntryContent => ({
  owner: { taxIdNumber: '98765432100', name: `João Lima ${i}` },
  account: {
    participant: '12345678',
    branch: undefined,
    accountNumber: String(i),
    accountType: 'CACC',
  },
  openedAt: '2020-01-01T03:00:00.000Z',
})

/** In the directory, and in our book as if it had been registered there by us. */
const register = (i: number) => {
  const [id, key, of] = [randomUUID(), `k${i}@example.com`, content(i)]
  const { taxIdNumber: tax_id, name } = of.owner
  dict.directory.register(
    {
      key_type: 'EMAIL',
      key,
      name,
      tax_id,
      ispb: '12345678',
      account: String(i),
      account_type: 'CACC',
    },
    id,
  )
  return { id, key, content: JSON.stringify(of), cid: cidFor({ id, keyType: 'EMAIL' }, key, of) }
}

const verify = async () => {
  const { json } = await dict.call('POST', '/v1/dict/verifications', { key_type: 'EMAIL' })
  return [json.entries, json.result]
}

test(`${entries} entries are the directory's, and not with one more or one less`, async () => {
  for (let from = 0; from < entries; from += atOnce) {
    const rows = Array.from({ length: atOnce }, (_, i) => register(from + i))
    await dict.sql`
      insert into dict_entries
        (id, created_by, key_type, key, status, content, cid, created_at, changed_at)
      select id, 'test', 'EMAIL', key, 'registered', content, cid, now(), now()
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
        as r(id uuid, key text, content text, cid text)`
  }
  expect(await verify()).toEqual([entries, 'same'])
  dict.directory.remove('k7@example.com')
  expect(await verify()).toEqual([entries, 'different'])
  await dict.sql`delete from dict_entries where key = 'k7@example.com'`
  expect(await verify()).toEqual([entries - 1, 'same'])
  await dict.sql`
    update dict_entries set cid = reverse(cid) where key = ${`k${entries - 1}@example.com`}`
  expect(await verify()).toEqual([entries - 1, 'different'])
}, 600_000)
