/**
 * Payments from the central bank to the database: pull, queue, check of the signature, commit. Two cores do all the
 * work: that of both stages, of a durable PostgreSQL, and of the simulated bank in a process of its own.
 */
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createMetrics, type Logger } from '#src/platform/observe/index.ts'
import { createPull } from '../../src/spi/in/pull/index.ts'
import { ispb, workerOn } from '../../test/spi/in/worker/support.ts'
import { interfaceClient } from '../../test/spi/link/support.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../../test/support/database.ts'
import { issueCertificate } from '../../test/support/pki.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { type Figure, type Mode, type Suite, smoke } from '../harness.ts'
import { percentile } from '../processes.ts'
import { startServer } from '../server-process.ts'

const messagesPerSecond = 2_500
const evenPerSecond = 500
const p99MsMax = 200
const connectionsMax = 10
const streams = 6
const pair = issueCertificate('Bench')

type Given = { readonly database: TestDatabase; readonly bank: object; readonly count: number }

/** When the bank made the message available, in milliseconds since 1970: 48 bits behind `PI`. */
const availableMs = (resourceId: string): number =>
  Buffer.from(resourceId, 'base64').readUIntBE(2, 6)

/** Runs both stages until `count` messages are stored, and tells how long each was available before its commit. */
const receive = async ({ database, bank, count }: Given) => {
  const server = await startServer('central-bank.ts', JSON.stringify(bank))
  const waitedMs: number[] = []
  const all = Promise.withResolvers<void>()
  // The worker's line for a message follows its commit.
  const logger: Logger = {
    ...quietLogger,
    warn: () => {},
    info: (fields) => {
      const { resource_id: resourceId } = fields as { readonly resource_id?: string }
      if (resourceId === undefined) return
      waitedMs.push(Date.now() - availableMs(resourceId))
      if (waitedMs.length === count) all.resolve()
    },
  }
  const trustedCertificates = { text: pair.cert, path: undefined }
  const worker = await workerOn(database, { trustedCertificates, logger })
  const pull = createPull({
    client: interfaceClient({ PRIMARY: server.url }, { timeoutSeconds: 15 }, ispb),
    broker: worker.broker,
    settings: { streams: streams },
    logger: quietLogger,
    metrics: createMetrics({ version: 'bench', withProcess: false }),
  })
  await worker.feature.start?.()
  const startMs = performance.now()
  await pull.start?.()
  await all.promise
  const tookMs = performance.now() - startMs
  await pull.drain?.()
  await pull.stop?.()
  await worker.stop()
  await server.stop()
  const [row] = await database.sql<{ count: number }[]>`
    select count(*)::int as count from spi_messages where signature = 'VALID'`
  if ((row?.count ?? 0) < count) throw new Error(`${row?.count} of ${count} are stored and valid`)
  return { tookMs, p50: percentile(waitedMs, 0.5), p99: percentile(waitedMs, 0.99) }
}

const figures = async (mode: Mode): Promise<readonly Figure[]> => {
  const directory = temporaryDirectory()
  const server = await startEmbeddedPostgres({ directory })
  process.env['TEST_DATABASE_URL'] = server.url
  const databases = [
    await createTestDatabase(connectionsMax),
    await createTestDatabase(connectionsMax),
  ] as const
  const [many, even] = mode === smoke ? [200, 100] : [8_000, 5_000]
  const common = {
    signing: { certificate: pair.cert, key: pair.key },
    settlementLimitMs: 3_600_000,
    validate: false,
  }
  try {
    const waiting = { to: ispb, count: many }
    const load = await receive({
      database: databases[0],
      bank: { ...common, waiting },
      count: many,
    })
    const payIn = { to: ispb, perSecond: evenPerSecond }
    const steady = await receive({
      database: databases[1],
      bank: { ...common, payIn },
      count: even,
    })
    console.error(
      `  ${Math.round((many / load.tookMs) * 1_000)} signed payments/s from the central bank; at ${evenPerSecond}/s available to stored p50 ${steady.p50} ms, p99 ${steady.p99} ms`,
    )
    return [
      {
        name: `${many} signed payments that wait at the central bank, first read to last commit`,
        value: load.tookMs,
        unit: 'ms',
        atMost: (many * 1_000) / messagesPerSecond,
      },
      {
        name: `available to stored at ${evenPerSecond}/s, p99`,
        value: steady.p99,
        unit: 'ms',
        atMost: p99MsMax,
      },
    ]
  } finally {
    await Promise.all(databases.map((database) => database.close()))
    await server.stop()
    delete process.env['TEST_DATABASE_URL']
  }
}

export const pullSuite: Suite = { name: 'pull', groups: () => [], figures }
