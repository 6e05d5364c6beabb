import { expect, test } from 'bun:test'
import { openDatabase, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { quietLogger } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { transfer } from '../support/participant.ts'
import { anyVariant, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const ispb = '12345678'
const restarts = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const
const outageMs = 700
const settleMs = 40_000
const senderCount = 4
const paymentsIn = 40

const childrenOf = (pid: number): readonly number[] =>
  Bun.spawnSync(['ps', '-o', 'pid=', '--ppid', String(pid)])
    .stdout.toString()
    .split('\n')
    .map(Number)
    .filter((child) => child > 0)

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('PostgreSQL restarts under load in three ways: the same process goes on, and no payment is lost or doubled', async () => {
  const directory = temporaryDirectory()
  const port = freePort()
  let server = await startEmbeddedPostgres({ directory, port })
  const bank = await createCentralBank({ longPollMs: 200, streamIdleMs: 1_000 })
  const { file: keyFile, key } = await apiKeyFile('spi:send')
  const httpPort = freePort()
  const url = `http://127.0.0.1:${httpPort}`
  const gateway = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: `127.0.0.1:${httpPort}`,
      CARDGW_PORT: String(httpPort),
      DATABASE_DSN: server.url,
      API_KEYS_FILE: keyFile,
      ISPB: ispb,
      SPI_PRIMARY_URL: bank.url,
      SPI_SECONDARY_URL: bank.secondaryUrl,
      SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
      SPI_AUTO_ACCEPT: 'true',
    },
  })
  const ended = gateway.end()
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${url}/ready`).catch(() => undefined))?.status === 200
  /** The EndToEndId, or undefined when the caller learnt nothing. */
  const send = async (idempotencyKey: string): Promise<string | undefined> => {
    const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
    const response = await fetch(`${url}/v1/spi/send`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': idempotencyKey,
      },
      body: JSON.stringify({ message_type: 'PACS008', params }),
    })
    if (response.status !== 202) {
      expect(response.status).toBe(503)
      await response.body?.cancel()
      return undefined
    }
    const body = (await response.json()) as { readonly end_to_end_ids: readonly string[] }
    return body.end_to_end_ids[0]
  }
  const sendUntilKnown = async (idempotencyKey: string): Promise<string> => {
    for (;;) {
      const id = await send(idempotencyKey)
      if (id !== undefined) return id
      await Bun.sleep(20)
    }
  }
  try {
    await until(isReady, settleMs, 'the gateway is ready')
    const ids: string[] = []
    let isLoaded = true
    const senders = Array.from({ length: senderCount }, async (_, sender) => {
      for (let count = 0; isLoaded; count++) {
        ids.push(await sendUntilKnown(`key-${sender}-${count}`))
        await Bun.sleep(5)
      }
    })
    for (const signal of restarts) {
      for (let count = 0; count < paymentsIn; count++) {
        bank.payIn({ to: ispb, amountCents: 100n })
      }
      await Bun.sleep(300)
      const processes = childrenOf(server.pid)
      process.kill(server.pid, signal)
      await server.exited
      // The processes of a killed server end by themselves, and the next one starts only then.
      await until(() => !processes.some(isRunning), settleMs, `its processes end after ${signal}`)
      await Bun.sleep(outageMs)
      server = await startEmbeddedPostgres({ directory, port })
      await until(isReady, settleMs, `ready after ${signal}`)
    }
    isLoaded = false
    await Promise.all(senders)
    const database = openDatabase({
      dsn: server.url,
      connectionsMax: 1,
      statementTimeoutMs: 30_000,
      logger: quietLogger,
    })
    const linesOf = async (direction: string): Promise<readonly string[]> => {
      const rows = await database.sql<{ line: string }[]>`
        select end_to_end_id || ' ' || status as line from spi_messages
        where type = 'pacs.008' and direction = ${direction}`
      return rows.map(({ line }) => line).sort()
    }
    const isOver = async (): Promise<boolean> =>
      (await linesOf('OUTBOUND')).every((line) => line.endsWith('ACCEPTED')) &&
      bank.statistics().operations.waiting === 0
    await until(isOver, settleMs, 'every payment has ended')
    const { operations, balanced } = bank.book()
    expect(await linesOf('OUTBOUND')).toEqual(ids.map((id) => `${id} ACCEPTED`).sort())
    expect(operations.filter(({ payer }) => payer === ispb)).toHaveLength(ids.length)
    const paidIn = operations.filter(({ payer }) => payer !== ispb)
    expect(paidIn).toHaveLength(restarts.length * paymentsIn)
    expect(await linesOf('INBOUND')).toEqual(
      paidIn.map(({ endToEndId }) => `${endToEndId} PROCESSED`).sort(),
    )
    expect(balanced).toBe(true)

    // It listens again: without, everything would still work, but a sweep later.
    const isListening = async (): Promise<boolean> =>
      (await database.sql`select from pg_stat_activity where query like 'listen %'`).count === 1
    await until(isListening, settleMs, 'one connection listens')
    ids.push(await sendUntilKnown('key-afterwards'))
    await until(isOver, settleMs, 'one more payment')
    await database.close()
    gateway.signal('SIGTERM')
    expect((await ended).code).toBe(0)
  } finally {
    gateway.signal('SIGKILL')
    await ended
    await bank.stop()
    await server.stop()
  }
}, 120_000)
