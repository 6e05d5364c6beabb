import { expect, setDefaultTimeout, test } from 'bun:test'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase } from '../support/database.ts'
import { isKafkaHere, startTestKafka } from '../support/kafka.ts'
import { transfer } from '../support/participant.ts'
import { anyVariant, runProgram, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

/** A Kafka starts in seconds, more of them on a busy machine. */
setDefaultTimeout(150_000)

const ispb = '12345678'
const settleMs = 40_000
const paymentsIn = 25

const createKeyFile = async () => {
  const { file, key } = await apiKeyFile('spi:send', 'messages:read', 'ops:read')
  return {
    file,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
  }
}

/** A process with these settings, once it listens. */
const serve = async (env: Readonly<Record<string, string>>) => {
  const program = startProgram(anyVariant, ['serve'], {
    env: { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0', ...env },
  })
  const ended = program.end()
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const { http_url: url } = JSON.parse(line) as { readonly http_url: string }
  return { url, ended, signal: program.signal }
}

test('pulling without anything that keeps messages ends the start and says what is needed', async () => {
  const { code, err } = await runProgram(anyVariant, ['serve'], {
    env: { SPI_ROLES: 'INBOUND_PULL', ISPB: ispb, SPI_PRIMARY_URL: 'http://127.0.0.1:1' },
  })
  expect(code).toBe(78)
  expect(err).toContain('needs BROKER_ADDRESSES or DATABASE_DSN')
})

test.skipIf(!isKafkaHere)(
  'every role is a process of its own through Kafka, and the one that pulls has no database',
  async () => {
    const kafka = await startTestKafka()
    const database = await createTestDatabase(2)
    const bank = await createCentralBank({ longPollMs: 200, streamIdleMs: 1_000 })
    const { file, headers } = await createKeyFile()
    const common = {
      BROKER_ADDRESSES: kafka.address,
      API_KEYS_FILE: file,
      ISPB: ispb,
      SPI_PRIMARY_URL: bank.url,
      SPI_SECONDARY_URL: bank.secondaryUrl,
    }
    const kept = { ...common, DATABASE_DSN: database.dsn, SPI_AUTO_ACCEPT: 'true' }
    const all: Awaited<ReturnType<typeof serve>>[] = []
    try {
      const puller = await serve({ ...common, SPI_ROLES: 'INBOUND_PULL' })
      all.push(puller)
      all.push(await serve({ ...kept, SPI_ROLES: 'WORKER' }))
      const sender = await serve({ ...kept, SPI_ROLES: 'OUTBOUND_SEND' })
      all.push(sender)
      for (let count = 0; count < paymentsIn; count++) bank.payIn({ to: ispb, amountCents: 100n })
      const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
      const sent = await fetch(`${sender.url}/v1/spi/send`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ message_type: 'PACS008', params }),
      })
      expect(sent.status).toBe(202)
      const [endToEndId] = ((await sent.json()) as { readonly end_to_end_ids: [string] })
        .end_to_end_ids
      const linesOf = async (direction: string): Promise<readonly string[]> => {
        const rows = await database.sql<{ line: string }[]>`
          select end_to_end_id || ' ' || status as line from spi_messages
          where type = 'pacs.008' and direction = ${direction}`
        return rows.map(({ line }) => line).sort()
      }
      await until(
        async () => {
          const [out = ''] = await linesOf('OUTBOUND')
          const isOver = out.endsWith('ACCEPTED') && bank.statistics().operations.waiting === 0
          return isOver && (await linesOf('INBOUND')).length === paymentsIn
        },
        settleMs,
        'all is over',
      )
      expect(await linesOf('OUTBOUND')).toEqual([`${endToEndId} ACCEPTED`])
      const paidIn = bank.book().operations.filter(({ payer }) => payer !== ispb)
      expect(paidIn.map(({ state }) => state)).toEqual(paidIn.map(() => 'settled'))
      expect(await linesOf('INBOUND')).toEqual(
        paidIn.map(({ endToEndId: id }) => `${id} PROCESSED`).sort(),
      )
      // What the process without a database says of itself.
      const health = await (await fetch(`${puller.url}/health`, { headers })).json()
      const { checks } = health as { readonly checks: Readonly<Record<string, unknown>> }
      expect(checks['broker']).toMatchObject({
        status: 'ok',
        detail: { kind: 'kafka' },
      })
      expect(checks).not.toHaveProperty('database')
      expect((await fetch(`${puller.url}/ready`)).status).toBe(200)
      const messages = await fetch(`${puller.url}/v1/messages`, { headers })
      expect(messages.status).toBe(503)
      expect(await messages.text()).toContain('DATABASE_DSN')
      for (const { signal } of all) signal('SIGTERM')
      for (const { ended } of all) expect((await ended).code).toBe(0)
    } finally {
      for (const { signal } of all) signal('SIGKILL')
      await Promise.all(all.map(({ ended }) => ended))
      await bank.stop()
      await database.close()
      await kafka.close()
    }
  },
)
