/**
 * Signed payments from the queue to the central bank: queue, signature, request, record. Two cores carry it all: the
 * stage, a durable PostgreSQL, and the simulated bank in a process of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildMessage, createRandomText, messageDefinitionIdOf, spiIspb } from '#codecs/iso20022'
import { createPostgresBroker, topics } from '#src/platform/broker/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createMetrics } from '#src/platform/telemetry/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { enqueueMessages, type OutboundMessage } from '../../src/spi/messages/index.ts'
import { createOutbound } from '../../src/spi/outbound/index.ts'
import { createSigner, signingSettings } from '../../src/spi/signing/index.ts'
import { interfaceClient } from '../../test/spi/interface/support.ts'
import { accepting, ispb } from '../../test/spi/outbound/support.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../../test/support/database.ts'
import { transfer } from '../../test/support/participant.ts'
import { issueCertificate } from '../../test/support/pki.ts'
import { type Figure, type Mode, type Suite, smoke } from '../harness.ts'
import { startServer } from '../server-process.ts'

/** Of the rate at which the runtime signs on all cores, with nothing else to do. */
const RSA_SHARE = 0.75
const CONNECTIONS_MAX = 10
const SIGNING_AT_ONCE = 64
const enqueuedTogether = 200

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
    ...{ endToEndId: message.endToEndIds[0], instructionId: undefined, amountCents: 100n },
    ...{ debtorIspb: ispb, creditorIspb: accepting, status: undefined },
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

/** Signatures per second on all cores, and of nothing else. */
const bareRate = async (signing: ReturnType<typeof signingOf>, count: number): Promise<number> => {
  const signer = await createSigner(signing)
  if (signer.kind === 'none') throw new Error('no signer')
  const { sign } = await signer.key()
  const signedInfo = new Uint8Array(1_500)
  let left = count
  const startMs = performance.now()
  const client = async (): Promise<void> => {
    while (left-- > 0) await sign(signedInfo)
  }
  await Promise.all(Array.from({ length: SIGNING_AT_ONCE }, client))
  const rate = (count / (performance.now() - startMs)) * 1_000
  signer.close()
  return rate
}

const until = async ({ sql }: TestDatabase, count: number): Promise<void> => {
  for (;;) {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from spi_messages where status = 'SENT'`
    if (row?.count === count) return
    await Bun.sleep(20)
  }
}

const throughput = async (
  database: TestDatabase,
  bankUrl: string,
  signing: ReturnType<typeof signingOf>,
  count: number,
): Promise<number> => {
  const { sql, dsn } = database
  const broker = createPostgresBroker({ sql, dsn, retentionDays: 7, logger: quietLogger })
  await broker.start()
  for (let at = 0; at < count; at += enqueuedTogether) {
    const messages = Array.from({ length: Math.min(enqueuedTogether, count - at) }, messageOf)
    await sql.begin((tx) => enqueueMessages(tx, broker, messages))
  }
  const stage = createOutbound({
    ...{ sql, broker, signing, emitEvents, logger: quietLogger },
    client: interfaceClient({ PRIMARY: bankUrl }, { timeoutSeconds: 15 }, ispb),
    settings: {
      ...{ requestsMax: 6, channelFailover: true },
      ...{ settlementLimitSeconds: 3_600, syncTimeoutSeconds: 5 },
    },
    metrics: createMetrics({ version: 'bench', withProcess: false }),
  })
  const startMs = performance.now()
  await stage.start?.()
  broker.wake([topics.outbound])
  await until(database, count)
  const rate = (count / (performance.now() - startMs)) * 1_000
  await stage.drain?.()
  await stage.stop?.()
  await broker.stop()
  return rate
}

const figures = async (mode: Mode): Promise<readonly Figure[]> => {
  const directory = mkdtempSync(join(tmpdir(), 'trilho-bench-'))
  const server = await startEmbeddedPostgres({ directory })
  process.env['TEST_DATABASE_URL'] = server.url
  const database = await createTestDatabase(CONNECTIONS_MAX)
  const bank = await startServer(
    'central-bank.ts',
    JSON.stringify({ validate: false, settlementLimitMs: 3_600_000 }),
  )
  const pair = issueCertificate('Bench')
  const [signing, plain] = [signingOf(pair), signingOf(pair, 'node')]
  const count = mode === smoke ? 200 : 10_000
  try {
    // Before and after, so that a change of the machine's mood hits both sides.
    const before = await bareRate(plain, count)
    const cpuBefore = await bank.cpuUs()
    const rate = await throughput(database, bank.url, signing, count)
    const bankUs = ((await bank.cpuUs()) - cpuBefore) / count
    const bare = (before + (await bareRate(plain, count))) / 2
    const fastest = await bareRate(signing, count)
    console.error(
      `  ${Math.round(rate)} signed payments/s to the central bank (whose CPU is ${bankUs.toFixed(0)} µs each); RSA alone on all cores: ${Math.round(bare)}/s by the runtime, ${Math.round(fastest)}/s by the provider chosen`,
    )
    return [
      {
        name: `${count} queued payments, signed and sent: rate of the runtime’s RSA alone over theirs`,
        value: bare / rate,
        unit: '×',
        atMost: 1 / RSA_SHARE,
      },
    ]
  } finally {
    await bank.stop()
    await database.close()
    await server.stop()
    delete process.env['TEST_DATABASE_URL']
    rmSync(directory, { recursive: true, force: true })
  }
}

export const outboundSuite: Suite = { name: 'outbound', groups: () => [], figures }
