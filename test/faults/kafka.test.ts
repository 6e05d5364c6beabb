import { expect, setDefaultTimeout, test } from 'bun:test'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { isKafkaHere, startTestKafka } from '../support/kafka.ts'
import { transfer } from '../support/participant.ts'
import { startProgram, variants } from '../support/program.ts'
import { until } from '../support/until.ts'

/** A Kafka starts, rebalances and comes back in seconds, more of them on a busy machine. */
setDefaultTimeout(60_000)

const ispb = '12345678'
const settleMs = 40_000
const outageMs = 500
const payments = 30

// The built file: what the client library reads at run time has to be in it.
test.skipIf(!isKafkaHere)(
  'payments go both ways through Kafka, are taken while it is away, and none is lost or doubled when it is killed',
  async () => {
    const built = variants.find(({ name }) => name === 'built file')
    if (built === undefined) throw new Error('no program')
    const kafka = await startTestKafka()
    const database = await createTestDatabase(2)
    const bank = await createCentralBank({ longPollMs: 200, streamIdleMs: 1_000 })
    const { file: keyFile, key } = await apiKeyFile('spi:send', 'ops:read')
    const port = freePort()
    const url = `http://127.0.0.1:${port}`
    const gateway = startProgram(built, ['serve'], {
      env: {
        HTTP_ADDR: `127.0.0.1:${port}`,
        CARDGW_PORT: String(port),
        DATABASE_DSN: database.dsn,
        BROKER_ADDRESSES: kafka.address,
        API_KEYS_FILE: keyFile,
        ISPB: ispb,
        SPI_PRIMARY_URL: bank.url,
        SPI_SECONDARY_URL: bank.secondaryUrl,
        SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
        SPI_AUTO_ACCEPT: 'true',
      },
    })
    const ended = gateway.end()
    const send = async (): Promise<string> => {
      const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
      const response = await fetch(`${url}/v1/spi/send`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ message_type: 'PACS008', params }),
      })
      expect(response.status).toBe(202)
      const body = (await response.json()) as { readonly end_to_end_ids: readonly [string] }
      return body.end_to_end_ids[0]
    }
    const linesOf = async (direction: string): Promise<readonly string[]> => {
      const rows = await database.sql<{ line: string }[]>`
        select end_to_end_id || ' ' || status as line from spi_messages
        where type = 'pacs.008' and direction = ${direction}`
      return rows.map(({ line }) => line).sort()
    }
    const isOver = async (): Promise<boolean> =>
      (await linesOf('OUTBOUND')).every((line) => line.endsWith('ACCEPTED')) &&
      bank.statistics().operations.waiting === 0
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const brokerStatus = async (): Promise<unknown> => {
      const response = await fetch(`${url}/health`, { headers })
      type Health = { readonly checks: { readonly broker: { readonly status: string } } }
      const { checks } = (await response.json()) as Health
      return checks.broker.status
    }
    const load = async (): Promise<readonly string[]> => {
      for (let count = 0; count < payments; count++) bank.payIn({ to: ispb, amountCents: 100n })
      return Promise.all(Array.from({ length: payments }, send))
    }
    try {
      await gateway.line((line) => line.includes('"listening"'))
      const first = await send()
      await until(isOver, settleMs, 'the first payment has ended')
      expect(await linesOf('OUTBOUND')).toEqual([`${first} ACCEPTED`])
      expect(await brokerStatus()).toBe('ok')

      const underLoad = load()
      await kafka.kill()
      const ids = [first, ...(await underLoad), ...(await load())]
      // Requests are answered all the same: it says what is amiss, and is ready.
      await until(
        async () => (await brokerStatus()) === 'down',
        settleMs,
        'Kafka is known to be away',
      )
      expect((await fetch(`${url}/ready`)).status).toBe(200)
      await Bun.sleep(outageMs)
      await kafka.start()
      await until(isOver, settleMs, 'every payment has ended')

      const { operations, balanced } = bank.book()
      expect(await linesOf('OUTBOUND')).toEqual(ids.map((id) => `${id} ACCEPTED`).sort())
      expect(operations.filter(({ payer }) => payer === ispb)).toHaveLength(ids.length)
      const paidIn = operations.filter(({ payer }) => payer !== ispb)
      expect(paidIn).toHaveLength(2 * payments)
      await until(
        async () => {
          const stored = await linesOf('INBOUND')
          return stored.filter((line) => line.endsWith('PROCESSED')).length === paidIn.length
        },
        settleMs,
        'what came in is stored',
      )
      expect(await linesOf('INBOUND')).toEqual(
        paidIn.map(({ endToEndId }) => `${endToEndId} PROCESSED`).sort(),
      )
      expect(balanced).toBe(true)
      gateway.signal('SIGTERM')
      expect((await ended).code).toBe(0)
    } finally {
      gateway.signal('SIGKILL')
      await ended
      await bank.stop()
      await database.close()
      await kafka.close()
    }
  },
  240_000,
)
