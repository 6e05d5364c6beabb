import type { OutgoingMessage } from '#src/platform/broker/index.ts'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createEnvelopeSigner, createNativeSigner } from '#src/spi/out/signing/index.ts'
import { fresh, inbound, payment, workerOn } from '../../test/spi/in/worker/support.ts'
import { createTestDatabase } from '../../test/support/database.ts'
import { sliceEnvelope } from '../../test/support/envelope.ts'
import { issueCertificate } from '../../test/support/pki.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { type Figure, type Mode, type Suite, smoke } from '../harness.ts'

const messagesPerSecond = 2_500
/** The interface brings this many in one response. */
const publishedTogether = 10
const publishersCount = 4
const connectionsMax = 10
const namespace = 'https://www.bcb.gov.br/pi/pacs.008/1.13'

/** Signed payments of one transaction each, as INBOUND_PULL publishes them. */
const signedPayments = async (
  count: number,
  { cert, key }: ReturnType<typeof issueCertificate>,
): Promise<readonly OutgoingMessage[]> => {
  const native = await createNativeSigner(cert, key)
  const signer = createEnvelopeSigner(native)
  const messages: OutgoingMessage[] = []
  for (let at = 0; at < count; at++) {
    const endToEndId = fresh.endToEndId()
    const xml = await signer.sign(sliceEnvelope(payment({ endToEndId }), namespace))
    messages.push({ ...inbound('', { key: endToEndId }), value: xml })
  }
  native.close()
  return messages
}

const publishAll = async (
  publish: (messages: readonly OutgoingMessage[]) => Promise<void>,
  messages: readonly OutgoingMessage[],
): Promise<void> => {
  let at = 0
  const publisher = async (): Promise<void> => {
    while (at < messages.length) {
      const from = at
      at += publishedTogether
      await publish(messages.slice(from, from + publishedTogether))
    }
  }
  await Promise.all(Array.from({ length: publishersCount }, publisher))
}

/** A durable PostgreSQL, its broker and the worker: from the first publication to the last commit. */
const figures = async (mode: Mode): Promise<readonly Figure[]> => {
  const directory = temporaryDirectory()
  const server = await startEmbeddedPostgres({ directory })
  process.env['TEST_DATABASE_URL'] = server.url
  const database = await createTestDatabase(connectionsMax)
  const certificate = issueCertificate('Bench')
  const worker = await workerOn(database, {
    trustedCertificates: { text: certificate.cert, path: undefined },
  })
  try {
    const count = mode === smoke ? 200 : 8_000
    const messages = await signedPayments(count, certificate)
    await worker.feature.start?.()
    const startMs = performance.now()
    await publishAll(worker.broker.publish, messages)
    for (;;) {
      const [row] = await database.sql<{ count: number }[]>`
        select count(*)::int as count from spi_messages where signature = 'VALID'`
      if (row?.count === count) break
      await Bun.sleep(5)
    }
    return [
      {
        name: `${count} signed messages, first publication to last commit`,
        value: performance.now() - startMs,
        unit: 'ms',
        atMost: (count * 1000) / messagesPerSecond,
      },
    ]
  } finally {
    await worker.stop()
    await database.close()
    await server.stop()
    delete process.env['TEST_DATABASE_URL']
  }
}

export const inboundSuite: Suite = { name: 'inbound', groups: () => [], figures }
