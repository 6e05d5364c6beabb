import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  type TestVault,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { testKey } from '../support/app.ts'
import { authorizationBody, type CardRecord } from '../support/cards-rig.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { anyVariant, bareEnvironment, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(60_000)

const waitMs = 40_000

let database: TestDatabase
let simulator: CardNetwork
let vault: TestVault
beforeAll(async () => {
  database = await createTestDatabase()
  const dialect = findDialect('ascii')
  const framing = findFraming('binary-2')
  if (dialect === undefined || framing === undefined) throw new Error('no such dialect')
  simulator = createCardNetwork({ dialect, framing })
  simulator.start()
  vault = createTestVault({ key: testVaultKey })
})
afterAll(async () => {
  simulator.stop()
  await vault.stop()
  await database.close()
})

const { key, record: keyRecord } = testKey('cards:*', 'ops:read')

const keyFile = (): string => {
  const path = join(temporaryDirectory(), 'keys.json')
  const { id, name, grants, hash } = keyRecord
  const entry = { id, name, hash, scopes: grants }
  const created_at = new Date().toISOString()
  writeFileSync(path, JSON.stringify({ keys: [{ ...entry, created_at }] }))
  return path
}

const environment = () =>
  bareEnvironment({
    HTTP_ADDR: '127.0.0.1:0',
    CARDGW_PORT: '0',
    API_KEYS_FILE: keyFile(),
    CARDGW_NETA_HOST: '127.0.0.1',
    CARDGW_NETA_PORT: String(simulator.port()),
    CARDGW_NETA_TIMEOUT: '10',
    CARDGW_NETA_POOL_SIZE: '1',
    CARDGW_VAULT_URL: vault.url,
    CARDGW_VAULT_TOKEN: testVaultKey,
    CARDGW_DATABASE_URL: database.dsn,
    // Nobody reads the lines of the requests, which would fill the pipe.
    CARDGW_LOG_LEVEL: 'warn',
  })

const serve = async (env = environment()) => {
  const program = startProgram(anyVariant, ['serve'], { env })
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const { cards_url: url } = JSON.parse(line) as { cards_url: string }
  const call = (method: string, path: string, body?: unknown, idempotencyKey?: string) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return { program, url, call }
}

const eventually = async <T>(ask: () => Promise<T | undefined>, what: string): Promise<T> => {
  const deadline = performance.now() + waitMs
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`${what} did not come`)
    await Bun.sleep(10)
  }
}

/** Connections are made after the listener opens; on a busy machine the database may answer a check late. */
const connected = (url: string) =>
  eventually(async () => {
    const health = (await (
      await fetch(`${url}/health`, { headers: { Authorization: `Bearer ${key}` } })
    ).json()) as { status: string }
    return health.status === 'ok' ? health : undefined
  }, 'the network')

describe('trilho serve with a network, a vault and a database of cards alone', () => {
  test('authorizes, captures and voids; health has the figures of the network', async () => {
    const { program, url, call } = await serve()
    expect(await connected(url)).toMatchObject({
      checks: {
        cards_database: { status: 'ok' },
        card_networks: {
          detail: {
            neta: { connections_up: 1, connections_max: 1, in_flight: 0, in_flight_max: 256 },
          },
        },
      },
    })
    const path = '/v1/transactions/authorize'
    const authorized = await call('POST', path, authorizationBody('tok_visa_approved'))
    const { id, status } = (await authorized.json()) as CardRecord
    expect([authorized.status, status]).toEqual([201, 'authorized'])
    const captured = await call('POST', `/v1/transactions/${id}/capture`, { amount: 5_000 })
    expect(await captured.json()).toMatchObject({ status: 'captured', captured_amount: 5_000 })
    const voided = await call('POST', `/v1/transactions/${id}/void`)
    expect(await voided.json()).toMatchObject({ status: 'voided' })
    const bare = await fetch(`${url}${path}`, { method: 'POST' })
    expect(bare.status).toBe(401)
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  })

  test('reverses after a restart what a kill left on the wire', async () => {
    const first = await serve()
    await connected(first.url)
    simulator.setSilent(true)
    const body = authorizationBody('tok_visa_approved', { amount: 31_337 })
    const lost = first
      .call('POST', '/v1/transactions/authorize', body, 'killed')
      .catch(() => 'lost')
    const { sql } = database
    const id = await eventually(async () => {
      const [row] = await sql<{ id: string }[]>`
        select id from card_transactions where amount_cents = 31337`
      return row?.id
    }, 'the row')
    first.program.signal('SIGKILL')
    await first.program.end()
    expect(await lost).toBe('lost')
    expect(await sql`select status, operation from card_transactions where id = ${id}`).toEqual([
      { status: 'pending', operation: null },
    ] as never)
    simulator.setSilent(false)
    // As if the time of the network had passed.
    await sql`update card_transactions set touched_at = now() - interval '1 minute' where id = ${id}`
    const second = await serve()
    const record = await eventually(async () => {
      // The same: the network has never heard of it, and is asked until it can no longer be on its way.
      await sql`
        update card_reversals set created_at = created_at - interval '1 minute', next_attempt_at = now()
        where transaction_id = ${id} and status = 'pending'`
      const one = (await (await second.call('GET', `/v1/transactions/${id}`)).json()) as CardRecord
      return one.status === 'voided' ? one : undefined
    }, 'the reversal')
    expect(record).toMatchObject({ reason: 'abandoned', auth_code: '' })
    const again = await second.call('POST', '/v1/transactions/authorize', body, 'killed')
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([504, 'true'])
    expect(simulator.book().filter(({ authorizedAmount }) => authorizedAmount === 31_337)).toEqual(
      [],
    )
    second.program.signal('SIGTERM')
    expect((await second.program.end()).code).toBe(0)
  })
})

describe('trilho serve without what cards need', () => {
  test('answers 503 with the names of the settings', async () => {
    const { program, call } = await serve(
      bareEnvironment({ HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0', API_KEYS_FILE: keyFile() }),
    )
    const response = await call('GET', '/v1/transactions')
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      error: {
        code: 'NOT_CONFIGURED',
        details: { settings: ['CARDGW_DATABASE_URL', 'CARDGW_NETA_HOST', 'CARDGW_VAULT_URL'] },
      },
    })
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  })
})
