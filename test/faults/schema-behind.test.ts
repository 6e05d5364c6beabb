/** A process that starts before the schema is up to date does nothing until it is: no payment ends for that reason. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { transfer } from '../support/participant.ts'
import { anyVariant, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(240_000)

const ispb = '12345678'
const settleMs = 60_000
/** Longer than a message needs that fails at once until it is a dead letter. */
const behindMs = 6_000

/** What ends those that a failure leaves. */
const running: (() => void)[] = []

const serve = async (env: Readonly<Record<string, string>>) => {
  const program = startProgram(anyVariant, ['serve'], {
    env: { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0', ISPB: ispb, ...env },
  })
  const ended = program.end()
  running.push(() => program.signal('SIGKILL'))
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const { http_url: url } = JSON.parse(line) as { readonly http_url: string }
  const stop = async (): Promise<number> => {
    program.signal('SIGTERM')
    return (await ended).code
  }
  return { url, stop }
}

/** As before a migration that adds what the sender reads. @returns what brings it back */
const setBack = async (sql: TestDatabase['sql']): Promise<() => Promise<void>> => {
  const rename = (from: string, to: string) =>
    sql`alter table spi_messages rename column ${sql(from)} to ${sql(to)}`
  await rename('waits_for', 'not_there')
  const [last] = await sql`
    delete from schema_migrations where name = (select max(name) from schema_migrations) returning *`
  return async () => {
    await rename('not_there', 'waits_for')
    await sql`insert into schema_migrations ${sql(last as Record<string, string>)}`
  }
}

const send = async (url: string, key: string): Promise<Response> =>
  fetch(`${url}/v1/spi/send`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      message_type: 'PACS008',
      params: { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] },
    }),
  })

test('what waits to be sent is sent once the schema is up to date', async () => {
  const database = await createTestDatabase(2)
  const { sql } = database
  const bank = await createCentralBank({ longPollMs: 200, streamIdleMs: 1_000 })
  const { file, key } = await apiKeyFile('spi:send')
  const env = { DATABASE_DSN: database.dsn, API_KEYS_FILE: file, SPI_PRIMARY_URL: bank.url }
  const states = () => sql`
    select (select string_agg(to_jsonb(m) ->> 'status', ' ') from spi_messages m) as messages,
      (select count(*)::int from broker_dead_letters) as letters`
  try {
    const taking = await serve({ ...env, TRILHO_ROLES: 'api' })
    expect((await send(taking.url, key)).status).toBe(202)
    await taking.stop()
    const bringBack = await setBack(sql)
    const waits = { ...env, TRILHO_MIGRATE_ON_START: 'false' }
    const ended = await serve({ ...waits, TRILHO_ROLES: 'send,jobs' })
    expect(await ended.stop()).toBe(0)
    const sending = await serve({ ...waits, TRILHO_ROLES: 'api,send,jobs' })
    await Bun.sleep(behindMs)
    expect((await fetch(`${sending.url}/ready`)).status).toBe(503)
    const refused = await send(sending.url, key)
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { code: 'database_unavailable' },
    ])
    expect(await states()).toMatchObject([{ messages: 'QUEUED', letters: 0 }])
    await bringBack()
    await until(
      async () => (await states())[0]?.['messages'] !== 'QUEUED',
      settleMs,
      'the payment has left',
    )
    expect((await states())[0]?.['messages']).toMatch(/^(SENDING|SENT|ACCEPTED)$/)
    expect(await states()).toMatchObject([{ letters: 0 }])
    expect((await fetch(`${sending.url}/ready`)).status).toBe(200)
    expect(await sending.stop()).toBe(0)
  } finally {
    for (const kill of running) kill()
    await bank.stop()
    await database.close()
  }
})
