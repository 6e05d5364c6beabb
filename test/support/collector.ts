import { type Metadata, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { startTracing } from '#src/platform/observe/tracing/start.ts'

export type CollectedSpan = {
  readonly traceId: string
  readonly spanId: string
  /** Empty for a root. */
  readonly parentSpanId: string
  readonly name: string
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly linkedTraceIds: readonly string[]
  readonly isFailed: boolean
}

export type Collector = {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Attributes of what the spans come from, one for each message. */
  readonly resources: readonly CollectedSpan['attributes'][]
  /** Headers of each message. */
  readonly headers: readonly Readonly<Record<string, unknown>>[]
  /** All bytes received, to search for what must not be there. */
  readonly text: () => string
  stop(): void
}

type Fields = ReadonlyMap<number, readonly (Uint8Array | bigint)[]>

const readVarint = (bytes: Uint8Array, start: number): readonly [value: bigint, end: number] => {
  let value = 0n
  for (let at = start, shift = 0n; ; at++, shift += 7n) {
    const byte = bytes[at] ?? 0
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return [value, at + 1]
  }
}

/** The fields of one protobuf message by number: bytes, or a number. */
const readFields = (bytes: Uint8Array): Fields => {
  const fields = new Map<number, (Uint8Array | bigint)[]>()
  let at = 0
  while (at < bytes.length) {
    const [tag, afterTag] = readVarint(bytes, at)
    at = afterTag
    let value: Uint8Array | bigint
    if ((tag & 7n) === 0n) {
      ;[value, at] = readVarint(bytes, at)
    } else {
      let length = (tag & 7n) === 1n ? 8n : 4n
      if ((tag & 7n) === 2n) [length, at] = readVarint(bytes, at)
      value = bytes.subarray(at, at + Number(length))
      at += Number(length)
    }
    const number = Number(tag >> 3n)
    fields.set(number, [...(fields.get(number) ?? []), value])
  }
  return fields
}

const messages = (fields: Fields, number: number): readonly Fields[] =>
  (fields.get(number) ?? []).map((value) => readFields(value as Uint8Array))
const bytesOf = (fields: Fields, number: number): Uint8Array =>
  (fields.get(number)?.[0] as Uint8Array | undefined) ?? new Uint8Array()
const textOf = (fields: Fields, number: number): string =>
  new TextDecoder().decode(bytesOf(fields, number))

const anyValue = (value: Fields): string | number | boolean => {
  if (value.has(2)) return value.get(2)?.[0] === 1n
  if (value.has(3)) return Number(BigInt.asIntN(64, value.get(3)?.[0] as bigint))
  return textOf(value, 1)
}

const attributesOf = (fields: Fields, number: number): CollectedSpan['attributes'] =>
  Object.fromEntries(
    messages(fields, number).map((pair) => [
      textOf(pair, 1),
      anyValue(messages(pair, 2)[0] ?? new Map()),
    ]),
  )

const spanOf = (span: Fields): CollectedSpan => ({
  traceId: bytesOf(span, 1).toHex(),
  spanId: bytesOf(span, 2).toHex(),
  parentSpanId: bytesOf(span, 4).toHex(),
  name: textOf(span, 5),
  kind: Number(span.get(6)?.[0] ?? 0n),
  attributes: attributesOf(span, 9),
  linkedTraceIds: messages(span, 13).map((link) => bytesOf(link, 1).toHex()),
  isFailed: messages(span, 15)[0]?.get(3)?.[0] === 2n,
})

const service: ServiceDefinition = {
  export: {
    path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  },
}

/** A collector of OTLP over gRPC that keeps what it gets. */
export const startCollector = async (tls?: {
  readonly cert: string
  readonly key: string
}): Promise<Collector> => {
  const spans: CollectedSpan[] = []
  const received: Buffer[] = []
  const resources: CollectedSpan['attributes'][] = []
  const headers: Readonly<Record<string, unknown>>[] = []
  const server = new Server()
  server.addService(service, {
    export: (
      call: { readonly request: Buffer; readonly metadata: Metadata },
      done: (error: null, answer: Buffer) => void,
    ): void => {
      received.push(call.request)
      headers.push(call.metadata.getMap())
      const origins = messages(readFields(call.request), 1)
      resources.push(
        ...origins.flatMap((one) => messages(one, 1)).map((one) => attributesOf(one, 1)),
      )
      const scopes = origins.flatMap((one) => messages(one, 2))
      spans.push(...scopes.flatMap((scope) => messages(scope, 2)).map(spanOf))
      done(null, Buffer.alloc(0))
    },
  })
  const bound = Promise.withResolvers<number>()
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [
          { cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) },
        ])
  server.bindAsync('127.0.0.1:0', credentials, (error, port) =>
    error === null ? bound.resolve(port) : bound.reject(error),
  )
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${await bound.promise}`,
    spans,
    resources,
    headers,
    text: () => received.map((bytes) => bytes.toString('latin1')).join('\n'),
    stop: () => server.forceShutdown(),
  }
}

/** What a collector got while `work` ran. */
export const collected = async (work: () => unknown): Promise<Collector> => {
  const collector = await startCollector()
  const tracing = startTracing({
    endpoint: collector.url,
    serviceName: 'trilho-test',
    serviceVersion: '1',
    samplingRatio: 1,
  })
  try {
    await work()
  } finally {
    await tracing.stop()
    collector.stop()
  }
  return collector
}
