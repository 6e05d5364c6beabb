/**
 * Signed payments from the queue to the central bank: queue, signature, request, record. Two cores do all the work:
 * that of the stage, of a durable PostgreSQL, and of the simulated bank in a process of its own.
 */
import { buildMessage, createRandomText, messageDefinitionIdOf, spiIspb } from '#codecs/iso20022'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createMetrics, type Metrics } from '#src/platform/observe/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { enqueueMessages, type OutboundMessage } from '../../src/spi/messages/index.ts'
import { createSigner, signingMaterial, signingSettings } from '../../src/spi/out/signing/index.ts'
import { createOutbound } from '../../src/spi/out/stage/index.ts'
import { interfaceClient } from '../../test/spi/link/support.ts'
import { accepting, ispb } from '../../test/spi/out/stage/support.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../../test/support/database.ts'
import { transfer } from '../../test/support/participant.ts'
import { issueCertificate } from '../../test/support/pki.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { type Figure, type Mode, type Suite, smoke } from '../harness.ts'
import { familyUs } from '../processes.ts'
import { type Server, startServer } from '../server-process.ts'

/** The share of the rate at which the runtime signs on all cores with nothing else to do. */
const rsaShare = 0.75
const connectionsMax = 10
const signingAtOnce = 64
const enqueuedTogether = 200
/** We ask seldom, because asking costs the stage a little. */
const askedEveryMs = 200

const random = createRandomText((bytes) => crypto.getRandomValues(bytes))

const messageOf = (): OutboundMessage => {
  const params = { local_instrument: 'MANU', transactions: [transfer(ispb, accepting, 100)] }
  const built = buildMessage('PACS008', params, {
    ispb,
    nowMs: Date.now(),
    random,
    revision: '5.11.1',
  })
  if (!built.ok) throw new Error(JSON.stringify(built.problems))
  const { message } = built
  const transaction = {
    endToEndId: message.endToEndIds[0],
    instructionId: undefined,
    amountCents: 100n,
    debtorIspb: ispb,
    creditorIspb: accepting,
    status: undefined,
  }
  return {
    id: Bun.randomUUIDv7(),
    type: message.type,
    definition: messageDefinitionIdOf(message),
    channel: 'PRIMARY',
    sourceIspb: ispb,
    destinationIspb: spiIspb,
    bizMsgIdr: message.businessMessageId,
    transactions: [transaction],
    envelope: message,
  }
}

const signingOf = (
  { cert, key }: ReturnType<typeof issueCertificate>,
  provider: 'auto' | 'node' = 'auto',
) =>
  loadSettings(
    { signing: signingSettings },
    {
      SPI_SIGN_ENABLED: 'true',
      SPI_SIGN_CERT_BASE64: btoa(cert),
      SPI_SIGN_KEY_BASE64: btoa(key),
      SPI_SIGN_PROVIDER: provider,
    },
  ).values.signing

/** Signatures per second on all cores, with no other work. */
const bareRate = async (signing: ReturnType<typeof signingOf>, count: number): Promise<number> => {
  const signer = await createSigner(signing, signingMaterial(signing))
  if (signer.kind === 'none') throw new Error('no signer')
  const { sign } = await signer.key()
  const signedInfo = new Uint8Array(1_500)
  let left = count
  const startMs = performance.now()
  const client = async (): Promise<void> => {
    while (left-- > 0) await sign(signedInfo)
  }
  await Promise.all(Array.from({ length: signingAtOnce }, client))
  const rate = (count / (performance.now() - startMs)) * 1_000
  signer.close()
  return rate
}

/** How many payments are sent and recorded. We ask the metrics, as counting rows would cost more than sending. */
const sentOf = async (metrics: Metrics): Promise<number> => {
  const { text } = await metrics.render()
  const found = /^spigw_messages_processed_total\{[^}]*status="SENT"[^}]*\} (\d+)/m.exec(text)
  return Number(found?.[1] ?? 0)
}

const until = async (metrics: Metrics, count: number): Promise<number> => {
  for (;;) {
    const sent = await sentOf(metrics)
    if (sent >= count) return sent
    await Bun.sleep(askedEveryMs)
  }
}

type Rate = {
  readonly perSecond: number
  /** CPU time of a payment in this process, in µs. */
  readonly ownUs: number
  readonly databaseUs: number
  readonly bankUs: number
}

const throughput = async (
  { sql, dsn }: TestDatabase,
  { bank, databasePid }: { readonly bank: Server; readonly databasePid: number },
  signing: ReturnType<typeof signingOf>,
  { warmUp, count }: { readonly warmUp: number; readonly count: number },
): Promise<Rate> => {
  const broker = createPostgresBroker({ sql, dsn, logger: quietLogger })
  await broker.start()
  // Some payments are left at the end of the measurement, so that the last question may come late.
  const total = Math.ceil((warmUp + count) * 1.1)
  for (let at = 0; at < total; at += enqueuedTogether) {
    const messages = Array.from({ length: Math.min(enqueuedTogether, total - at) }, messageOf)
    await sql.begin((tx) => enqueueMessages(tx, broker, messages))
  }
  const metrics = createMetrics({ version: 'bench', withProcess: false })
  const stage = createOutbound({
    sql,
    broker,
    signing,
    signingMaterial: signingMaterial(signing),
    emitEvents,
    metrics,
    logger: quietLogger,
    client: interfaceClient({ PRIMARY: bank.url }, { timeoutSeconds: 15 }, ispb),
    settings: {
      requestsMax: 6,
      channelFailover: true,
      settlementLimitSeconds: 3_600,
      scheduledLimitSeconds: 3_600,
      syncTimeoutSeconds: 5,
    },
  })
  await stage.start?.()
  const first = await until(metrics, warmUp)
  const startMs = performance.now()
  const [own, databaseUs, bankUs] = [process.cpuUsage(), familyUs(databasePid), await bank.cpuUs()]
  const last = await until(metrics, warmUp + count)
  const seconds = (performance.now() - startMs) / 1_000
  const { user, system } = process.cpuUsage(own)
  const sent = last - first
  const rate = {
    perSecond: sent / seconds,
    ownUs: (user + system) / sent,
    databaseUs: (familyUs(databasePid) - databaseUs) / sent,
    bankUs: ((await bank.cpuUs()) - bankUs) / sent,
  }
  await until(metrics, total)
  await stage.drain?.()
  await stage.stop?.()
  await broker.stop()
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from spi_messages where status = 'SENT'`
  if (row?.count !== total) throw new Error(`${row?.count} of ${total} are SENT`)
  return rate
}

const figures = async (mode: Mode): Promise<readonly Figure[]> => {
  const directory = temporaryDirectory()
  const server = await startEmbeddedPostgres({ directory })
  process.env['TEST_DATABASE_URL'] = server.url
  const database = await createTestDatabase(connectionsMax)
  const bank = await startServer(
    'central-bank.ts',
    JSON.stringify({ validate: false, settlementLimitMs: 3_600_000 }),
  )
  const pair = issueCertificate('Bench')
  const [signing, plain] = [signingOf(pair), signingOf(pair, 'node')]
  // The compiling of the first seconds is no part of the rate.
  const [warmUp, count] = mode === smoke ? [0, 200] : [15_000, 20_000]
  try {
    // We measure before and after, so that a change of the machine's mood hits both sides.
    const before = await bareRate(plain, count)
    const parties = { bank, databasePid: server.pid }
    const rate = await throughput(database, parties, signing, { warmUp, count })
    const bare = (before + (await bareRate(plain, count))) / 2
    const fastest = await bareRate(signing, count)
    console.error(
      `  ${Math.round(rate.perSecond)} signed payments/s, CPU of each: ${rate.ownUs.toFixed(0)} µs of the gateway with its signing threads, ${rate.databaseUs.toFixed(0)} µs of PostgreSQL, ${rate.bankUs.toFixed(0)} µs of the central bank; RSA alone on all cores: ${Math.round(bare)}/s by the runtime, ${Math.round(fastest)}/s by the provider chosen`,
    )
    return [
      {
        name: `${count} queued payments, signed and sent: rate of the runtime’s RSA alone over theirs`,
        value: bare / rate.perSecond,
        unit: '×',
        atMost: 1 / rsaShare,
      },
    ]
  } finally {
    await bank.stop()
    await database.close()
    await server.stop()
    delete process.env['TEST_DATABASE_URL']
  }
}

export const outboundSuite: Suite = { name: 'outbound', groups: () => [], figures }
