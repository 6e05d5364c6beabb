import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { freePort } from '../support/free-port.ts'
import { transfer } from '../support/participant.ts'
import { anyVariant, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const ispb = '12345678'
const settleMs = 40_000
const quick = { wal_receiver_status_interval: '1s', wal_retrieve_retry_interval: '100ms' }

/** A primary and a standby that follows it. */
const startPair = async () => {
  const [first, second] = [temporaryDirectory(), temporaryDirectory()]
  const made = await startEmbeddedPostgres({ directory: first })
  await made.stop()
  await Bun.$`cp -a ${made.directory}/. ${second}/`.quiet()
  const primary = await startEmbeddedPostgres({ directory: first })
  const { username, password, port } = new URL(primary.url)
  writeFileSync(join(second, 'data', 'standby.signal'), '')
  const standby = await startEmbeddedPostgres({
    directory: second,
    settings: {
      ...quick,
      primary_conninfo: `host=127.0.0.1 port=${port} user=${username} password=${password}`,
    },
  })
  return { primary, standby }
}

test('of several hosts the one that takes writes is found, again after a failover', async () => {
  const { primary, standby } = await startPair()
  const bank = await createCentralBank({ longPollMs: 200, streamIdleMs: 1_000 })
  const { file, key } = await apiKeyFile('spi:send')
  const { username, password } = new URL(primary.url)
  // The standby comes first: whoever takes the first host that answers does not get far.
  const hosts = `127.0.0.1:${standby.port},127.0.0.1:${freePort()},127.0.0.1:${primary.port}`
  const program = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      DATABASE_DSN: `postgres://${username}:${password}@${hosts}/trilho?target_session_attrs=read-write`,
      API_KEYS_FILE: file,
      ISPB: ispb,
      SPI_PRIMARY_URL: bank.url,
      SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
    },
  })
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const { http_url: url } = JSON.parse(line) as { readonly http_url: string }
  const isReady = async () => (await fetch(`${url}/ready`)).status === 200
  const send = async (): Promise<number> => {
    const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
    const response = await fetch(`${url}/v1/spi/send`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ message_type: 'PACS008', params }),
    })
    await response.body?.cancel()
    return response.status
  }
  await until(isReady, settleMs, 'ready on the primary')
  expect(await send()).toBe(202)

  const admin = postgres(standby.url, { max: 1, onnotice: () => {} })
  const accepted = async (): Promise<number> => {
    const rows = await admin`
      select from spi_messages where direction = 'OUTBOUND' and status = 'ACCEPTED'`
    return rows.length
  }
  await until(async () => (await accepted()) === 1, settleMs, 'the standby has the payment')
  process.kill(primary.pid, 'SIGKILL')
  await until(async () => !(await isReady()), settleMs, 'not ready without a primary')
  await admin`select pg_promote()`
  await until(isReady, settleMs, 'ready on the new primary')
  expect(await send()).toBe(202)
  await until(async () => (await accepted()) === 2, settleMs, 'the new payment ends')
  await admin.end()
  program.signal('SIGTERM')
  expect((await program.end()).code).toBe(0)
  await bank.stop()
  await standby.stop()
  await primary.exited
}, 120_000)
