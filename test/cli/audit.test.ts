import { expect, test } from 'bun:test'
import { writeAudit } from '#src/platform/http/index.ts'
import { sealEntries } from '../../src/platform/http/audit/chain/seal.ts'
import { commandHere } from '../support/command-here.ts'
import { createTestDatabase, quietLogger as logger } from '../support/database.ts'

/** A database whose log has so many sealed entries. */
const sealed = async (entries: number) => {
  const { sql, dsn, close } = await createTestDatabase()
  for (let n = 0; n < entries; n++) {
    const actor = { id: 'cli:test', requestId: undefined }
    await writeAudit(sql, { actor, action: 'keys.create', object: `key ${n}`, outcome: 'created' })
  }
  await sealEntries({ sql, logger, nowMs: () => Date.now() + 60_000 })
  const { out } = await commandHere(['audit', 'verify', '--json'], { DATABASE_DSN: dsn })
  const { databases } = JSON.parse(out) as { readonly databases: readonly { head: string }[] }
  return { dsn, head: databases[0]?.head ?? '', close }
}

test('an anchor is looked for in the chain of its own database', async () => {
  const [first, second] = [await sealed(1), await sealed(2)]
  const env = { DATABASE_DSN: first.dsn, CARDGW_DATABASE_URL: second.dsn }
  const verify = (...more: readonly string[]) => commandHere(['audit', 'verify', ...more], env)
  const ofSecond = ['--anchor', second.head, '--database', '2']
  expect(await verify('--anchor', first.head)).toMatchObject({ code: 0 })
  expect(await verify(...ofSecond)).toMatchObject({ code: 0 })
  for (const wrong of [[first.head, '2'], [second.head, '1'], [second.head]]) {
    const [anchor = '', database] = wrong
    const number = database === undefined ? [] : ['--database', database]
    const { code, out } = await verify('--anchor', anchor, ...number)
    expect([code, out.match(/anchor 1:/g)]).toEqual([1, ['anchor 1:']])
  }
  const alone = { DATABASE_DSN: second.dsn }
  expect(await commandHere(['audit', 'verify', ...ofSecond], alone)).toMatchObject({ code: 2 })
  await first.close()
  await second.close()
})
