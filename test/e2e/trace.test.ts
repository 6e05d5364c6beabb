import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { type CollectedSpan, startCollector } from '../support/collector.ts'
import { createTestDatabase } from '../support/database.ts'
import { isKafkaHere, startTestKafka } from '../support/kafka.ts'
import { transfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** A Kafka starts in seconds, more of them on a busy machine. */
setDefaultTimeout(150_000)

const ispb = '12345678'
const waitMs = 40_000
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const callerSpanId = '00f067aa0ba902b7'

/** From a span up to the one that the caller had. */
const wayUp = (spans: readonly CollectedSpan[], from: string): readonly string[] => {
  const span = spans.find(({ spanId }) => spanId === from)
  return span === undefined ? [from] : [span.name, ...wayUp(spans, span.parentSpanId)]
}

test.each(['PostgreSQL', ...(isKafkaHere ? ['Kafka'] : [])])(
  'a payment is one trace through processes and %s, from its request to the message interface',
  async (way) => {
    const database = await createTestDatabase(2)
    const kafka = way === 'Kafka' ? await startTestKafka() : undefined
    const bank = await createCentralBank({ longPollMs: 200 })
    const root = issueCertificate('authority', { authority: true })
    const own = issueCertificate('collector', { issuer: root, hosts: ['127.0.0.1'] })
    const collector = await startCollector(own)
    const authority = join(temporaryDirectory(), 'collector.pem')
    await Bun.write(authority, root.cert)
    const collecting = {
      OTEL_EXPORTER_OTLP_CERTIFICATE: authority,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=bank%20a,authorization=Bearer%20t1',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    }
    const { file: keyFile, key } = await apiKeyFile('spi:send')
    const running: RunningProgram[] = []
    const serve = async (more: Readonly<Record<string, string>>): Promise<string> => {
      const program = startProgram(anyVariant, ['serve'], {
        env: {
          HTTP_ADDR: '127.0.0.1:0',
          CARDGW_PORT: '0',
          API_KEYS_FILE: keyFile,
          DATABASE_DSN: database.dsn,
          ISPB: ispb,
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          ...collecting,
          SPI_PRIMARY_URL: bank.url,
          SPI_SECONDARY_URL: bank.secondaryUrl,
          SPI_AUTO_ACCEPT: 'true',
          ...(kafka === undefined ? {} : { BROKER_ADDRESSES: kafka.address }),
          ...more,
        },
      })
      running.push(program)
      const line = await program.line((text) => text.includes('"msg":"listening"'))
      return (JSON.parse(line) as { readonly http_url: string }).http_url
    }
    try {
      const url = await serve({})
      await serve({ SPI_ROLES: 'OUTBOUND_SEND' })
      await serve({ SPI_ROLES: 'INBOUND_PULL,WORKER' })
      const params = { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] }
      const sent = await fetch(`${url}/v1/spi/send`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          traceparent: `00-${traceId}-${callerSpanId}-01`,
        },
        body: JSON.stringify({ message_type: 'PACS008', params }),
      })
      expect(sent.status).toBe(202)
      const endMs = performance.now() + waitMs
      for (;;) {
        const [row] = await database.sql<{ status: string }[]>`select status from spi_messages
          where direction = 'OUTBOUND'`
        if (row?.status === 'ACCEPTED') break
        if (performance.now() > endMs) throw new Error(`not in time: ${row?.status}`)
        await Bun.sleep(20)
      }
      bank.payIn({ to: ispb, amountCents: 100n })
      while (bank.statistics().operations.settled < 2 && performance.now() < endMs) {
        await Bun.sleep(20)
      }
      for (const program of running) program.signal('SIGTERM')
      for (const program of running) expect((await program.end()).code).toBe(0)
    } finally {
      for (const program of running) program.signal('SIGKILL')
      await Promise.all(running.map((program) => program.end()))
      collector.stop()
      await bank.stop()
      await database.close()
      await kafka?.close()
    }
    const { spans } = collector
    // As the installation has it set: over TLS by its own authority, with its headers, and its name on every span.
    expect(collector.headers.length).toBeGreaterThan(2)
    for (const headers of collector.headers) {
      expect(headers).toMatchObject({ 'x-tenant': 'bank a', authorization: 'Bearer t1' })
    }
    for (const resource of collector.resources) {
      expect(resource).toMatchObject({ 'deployment.environment.name': 'test' })
    }
    const call = spans.find(({ name, traceId: id }) => name === 'POST' && id === traceId)
    expect(wayUp(spans, call?.spanId ?? '')).toEqual([
      // The transaction that stores and publishes it is shared, so it is no part of the way.
      'POST',
      'spi send',
      'spi transmit',
      'send pacs.008',
      'POST /v1/spi/send',
      callerSpanId,
    ])
    // Headers that the interface does not know are refused there with 400.
    expect(call?.attributes['http.response.status_code']).toBe(201)
    const handled = spans.find(({ name }) => name === 'receive pacs.002')
    const back = wayUp(spans, handled?.spanId ?? '')
    expect(back.slice(0, 3)).toEqual([
      'receive pacs.002',
      'publish spi.inbound.primary',
      'spi received',
    ])
    // A payment received and the answer to it, up to the interface call, are one trace as well.
    const answer = spans.find(({ name }) => name === 'send pacs.002')
    const answered = spans.find(
      ({ name, traceId: id }) => name === 'POST' && id === answer?.traceId,
    )
    const through = wayUp(spans, answered?.spanId ?? '')
    expect(through.slice(0, 4)).toEqual(['POST', 'spi send', 'spi transmit', 'send pacs.002'])
    expect(through).toEqual(expect.arrayContaining(['publish spi.inbound.primary', 'spi received']))
  },
)
