import { afterAll, expect, test } from 'bun:test'
import { openDatabases, settingGroups } from '#src/composition/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createAuthenticator } from '#src/platform/security/index.ts'
import { commandHere } from '../support/command-here.ts'
import { createTestDatabase, quietLogger as logger } from '../support/database.ts'

/** A database of cards that is the shared one by another name. */

const [shared, other] = [await createTestDatabase(), await createTestDatabase()]
const { dsn, sql } = shared
const role = `plain_${process.pid}`
await sql.unsafe(`create role ${role} login password 'plain'; create schema apart`)
afterAll(async () => {
  await sql.unsafe(`drop role ${role}`)
  await Promise.all([shared.close(), other.close()])
})

const changed = (change: (url: URL) => void): string => {
  const url = new URL(dsn)
  change(url)
  return url.href
}
const named = changed((url) => url.searchParams.set('application_name', 'cards'))
const byAnotherRole = changed((url) => {
  url.username = role
  url.password = 'plain'
})
const inAnotherSchema = changed((url) => url.searchParams.set('search_path', 'apart'))
const away = 'postgres://nobody@127.0.0.1:1/none'

/** Starts what waits for the schemas; the settings migrate nothing. */
const start = async (database: string, cards: string): Promise<void> => {
  const env = {
    DATABASE_DSN: database,
    CARDGW_DATABASE_URL: cards,
    TRILHO_MIGRATE_ON_START: 'false',
  }
  const { values } = loadSettings(settingGroups, env)
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const authenticator = createAuthenticator({ sources: [] })
  const common = { logger, cardsLogger: logger, metrics, authenticator, version: 'test' }
  const opened = openDatabases(values, new Set(), undefined, { ...common, tls: undefined })
  const features = opened.features.filter(({ name }) => name.includes('database'))
  try {
    for (const feature of features) await feature.start?.()
  } finally {
    for (const feature of features) await feature.stop?.()
  }
}

test.each([
  ['another text', named],
  ['another role', byAnotherRole],
])('the shared database by %s ends the start, and doctor says so', async (_, cards) => {
  await expect(start(dsn, cards)).rejects.toThrow(
    'CARDGW_DATABASE_URL leads to the database of DATABASE_DSN: take it out',
  )
  const env = { DATABASE_DSN: dsn, CARDGW_DATABASE_URL: cards }
  const { checks } = JSON.parse((await commandHere(['doctor', '--json'], env)).out)
  expect(checks).toContainEqual({
    name: 'CARDGW_DATABASE_URL',
    status: 'failed',
    detail: 'leads to the database of DATABASE_DSN',
    fix: 'take it out',
  })
})

test.each([
  ['of another name', dsn, other.dsn],
  ['that is another schema', dsn, inAnotherSchema],
  ['beside a shared one that is away', away, other.dsn],
])('a database %s is one of its own', async (_, database, cards) => {
  await start(database, cards)
})
