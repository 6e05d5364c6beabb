import { expect, test } from 'bun:test'
import { type CentralBank, createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { isKafkaHere, startTestKafka, type TestKafka } from '../support/kafka.ts'
import { transfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'
import { seed } from '../support/seed.ts'

/** The long lane kills each stage fifty times, and any of them as often; the ordinary one each once and one more. */
const isLong = process.env['TRILHO_LONG'] === '1'
const kills = isLong ? 50 : 5
const outPerKill = 20
const inPerKill = 20
const settleMs = 180_000
/** A stage that is killed before its Kafka group has it back sends nothing until the last kill: no payment may end by its time. */
const settlementLimitMs = 3_600_000
const ispb = '12345678'
const signer = issueCertificate('signer')
const stages = ['OUTBOUND_SEND', 'WORKER', 'INBOUND_PULL', 'API'] as const
type Stage = (typeof stages)[number]

/** Every stage a process of its own, on one database, one bank and perhaps one Kafka. */
const createPipeline = async (
  database: TestDatabase,
  bank: CentralBank,
  kafka: TestKafka | undefined,
  isSync: boolean,
) => {
  const { file: keyFile, key } = await apiKeyFile('spi:send', 'ops:*')
  const apiPort = freePort()
  const running = new Map<Stage, RunningProgram>()
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  let sentAtOnce = 0
  const start = async (stage: Stage): Promise<void> => {
    const port = stage === 'API' ? apiPort : 0
    const env = {
      HTTP_ADDR: `127.0.0.1:${port}`,
      CARDGW_PORT: String(port),
      // What only pulls needs no database where Kafka keeps the topics.
      ...(stage === 'INBOUND_PULL' && kafka !== undefined ? {} : { DATABASE_DSN: database.dsn }),
      API_KEYS_FILE: keyFile,
      ISPB: ispb,
      SPI_PRIMARY_URL: bank.url,
      SPI_SECONDARY_URL: bank.secondaryUrl,
      SPI_AUTO_ACCEPT: 'true',
      SPI_SIGN_ENABLED: 'true',
      SPI_SIGN_PROVIDER: 'node',
      SPI_SIGN_CERT_BASE64: btoa(signer.cert),
      SPI_SIGN_KEY_BASE64: btoa(signer.key),
      ...(kafka === undefined ? {} : { BROKER_ADDRESSES: kafka.address }),
      ...(stage === 'API' ? { SPI_SYNC_ENABLED: String(isSync) } : { SPI_ROLES: stage }),
    }
    const program = startProgram(anyVariant, ['serve'], { env })
    running.set(stage, program)
    await program.line((line) => line.includes('"listening"'))
  }
  return {
    start,
    /** Answers that said `sent`, repetitions among them. */
    sentAtOnce: () => sentAtOnce,
    kill: async (stage: Stage): Promise<void> => {
      running.get(stage)?.signal('SIGKILL')
      await running.get(stage)?.end()
      await start(stage)
    },
    /** The EndToEndId, or undefined when the caller learnt nothing. */
    send: async (idempotencyKey: string): Promise<string | undefined> => {
      const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
      try {
        const response = await fetch(`http://127.0.0.1:${apiPort}/v1/spi/send`, {
          method: 'POST',
          headers: { ...headers, 'Idempotency-Key': idempotencyKey },
          body: JSON.stringify({ message_type: 'PACS008', params }),
        })
        if (response.status !== 202) return undefined
        const body = (await response.json()) as {
          readonly status: string
          readonly end_to_end_ids: readonly string[]
        }
        if (body.status === 'sent') sentAtOnce++
        return body.end_to_end_ids[0]
      } catch {
        return undefined
      }
    },
    /** What an operator does about messages that were set aside for the deaths of processes. */
    retryDeadLetters: async (code: string): Promise<void> => {
      const response = await fetch(`http://127.0.0.1:${apiPort}/v1/ops/dead-letters/retry`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ code }),
      })
      expect(response.status).toBe(202)
    },
    stop: async (): Promise<void> => {
      for (const program of running.values()) program.signal('SIGKILL')
      await Promise.all([...running.values()].map((program) => program.end()))
    },
  }
}

type Books = {
  /** By EndToEndId, each message of ours with its status. */
  readonly sent: readonly string[]
  readonly received: readonly string[]
}

const booksOf = async ({ sql }: TestDatabase): Promise<Books> => {
  const rows = await sql<{ direction: string; line: string }[]>`
    select direction, end_to_end_id || ' ' || status as line from spi_messages
    where type = 'pacs.008'`
  // Sorted here: a database may have other rules for it.
  const of = (direction: string) =>
    rows
      .filter((row) => row.direction === direction)
      .map(({ line }) => line)
      .sort()
  return { sent: of('OUTBOUND'), received: of('INBOUND') }
}

const lettersOf = async ({ sql }: TestDatabase): Promise<readonly string[]> => {
  const rows = await sql<{ code: string }[]>`
    select headers ->> 'dlq-error-code' as code from broker_dead_letters`
  return rows.map(({ code }) => code)
}

/** Through Kafka, and with messages sent within their requests, only in the long lane. */
const ways = isLong
  ? ['PostgreSQL', 'the fast path', ...(isKafkaHere ? ['Kafka'] : [])]
  : ['PostgreSQL']
const victims = isLong ? (['any stage', ...stages] as const) : (['any stage'] as const)

test.each(victims.flatMap((victim) => ways.map((way) => [victim, way] as const)))(
  `${kills} kills of %s under load in both directions, through %s: both books agree (seed ${seed})`,
  async (victim, way) => {
    const pick = seeded(seed)
    const database = await createTestDatabase(4)
    const bank = await createCentralBank({
      longPollMs: 200,
      streamIdleMs: 1_000,
      settlementLimitMs: settlementLimitMs,
      participantCertificates: { [ispb]: [signer.cert] },
    })
    const kafka = way === 'Kafka' ? await startTestKafka() : undefined
    const pipeline = await createPipeline(database, bank, kafka, way === 'the fast path')
    try {
      for (const stage of stages) await pipeline.start(stage)
      const keys: string[] = []
      for (let kill = 0; kill < kills; kill++) {
        bank.setFaults([
          { kind: 'error_after_storing', operation: 'send', probability: 0.05 },
          { kind: 'cut', probability: 0.05 },
          { kind: 'duplicate', probability: 0.05 },
          { kind: 'reorder', probability: 0.05 },
        ])
        const round = Array.from({ length: outPerKill }, (_, index) => `key-${kill}-${index}`)
        keys.push(...round)
        const any = stages[kill < stages.length ? kill : pick(stages.length)] ?? 'WORKER'
        const killed = Bun.sleep(pick(300)).then(() =>
          pipeline.kill(victim === 'any stage' ? any : victim),
        )
        for (let index = 0; index < inPerKill; index++) {
          bank.payIn({ to: ispb, amountCents: 100n })
        }
        await Promise.all(round.map(pipeline.send))
        await killed
      }
      bank.setFaults([])
      // Asked for again by its key, as a caller would who never learnt the outcome.
      const ids: string[] = []
      for (const key of keys) {
        let id = await pipeline.send(key)
        for (; id === undefined; id = await pipeline.send(key)) await Bun.sleep(50)
        ids.push(id)
      }
      const endMs = performance.now() + settleMs
      while (performance.now() < endMs) {
        const { sent } = await booksOf(database)
        const isOpen = sent.some((line) => !line.endsWith('ACCEPTED'))
        // What is in hand of six processes that die takes itself for the cause, and is set aside: where one stage is
        // killed again and again, some are.
        if (victim !== 'any stage') await pipeline.retryDeadLetters('attempts_exhausted')
        const isSetAside = (await lettersOf(database)).length > 0
        if (!isOpen && !isSetAside && bank.statistics().operations.waiting === 0) break
        await Bun.sleep(100)
      }
      const books = await booksOf(database)
      const { operations, balanced } = bank.book()
      const inBank = (payer: (ispb: string) => boolean): readonly string[] =>
        operations.filter((one) => payer(one.payer)).map((one) => `${one.endToEndId} ${one.state}`)
      expect(books.sent).toEqual(ids.map((id) => `${id} ACCEPTED`).sort())
      expect([...inBank((payer) => payer === ispb)].sort()).toEqual(
        ids.map((id) => `${id} settled`).sort(),
      )
      expect(books.received).toEqual(
        inBank((payer) => payer !== ispb)
          .map((line) => line.replace('settled', 'PROCESSED'))
          .sort(),
      )
      expect(books.received).toHaveLength(kills * inPerKill)
      expect(balanced).toBe(true)
      expect(await lettersOf(database)).toEqual([])
      // Under another BizMsgIdr a payment or an answer would be one more message, and refused or late.
      const { received, lateAnswers } = bank.statistics()
      expect({ ...received, lateAnswers }).toMatchObject({
        'pacs.008': ids.length,
        'pacs.002': kills * inPerKill,
        lateAnswers: 0,
      })
      expect(received['refused']).toBeUndefined()
      expect(pipeline.sentAtOnce() > 0).toBe(way === 'the fast path')
    } finally {
      await pipeline.stop()
      await bank.stop()
      await database.close()
      await kafka?.close()
    }
  },
  120_000 + settleMs + kills * 20_000,
)
