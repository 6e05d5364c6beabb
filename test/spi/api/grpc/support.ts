import { join } from 'node:path'
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { loadSettings } from '#src/platform/config/index.ts'
import type { Rooms } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import { createAuthenticator, type KeyRecord } from '#src/platform/security/index.ts'
import type { ConnectionTimes } from '#src/spi/api/grpc/index.ts'
import { createGrpc, createTransform, grpcSettings } from '#src/spi/index.ts'
import { testKey } from '../../../support/app.ts'
import { root } from '../../../support/program.ts'

/** The interface as another implementation reads it. */
const types = protobuf.loadSync(join(root, 'proto/spigw/v1/transformation.proto'))
export const requestType = types.lookupType('spigw.v1.TransformRequest')
const responseType = types.lookupType('spigw.v1.TransformResponse')
export const listType = types.lookupType('spigw.v1.ListTransformationsResponse')

export type Request = {
  readonly source_format?: string
  readonly target_format?: string
  readonly message?: Uint8Array
  readonly options?: { readonly validate?: boolean; readonly enrich?: boolean }
}

export type Response = {
  readonly transformationId: string
  readonly result: Uint8Array
  readonly status: 'SUCCESS' | 'VALIDATION_ERROR' | 'PARSE_ERROR' | 'UNSUPPORTED_FORMAT'
}

export const encodeRequest = (request: Request): Buffer => {
  const { source_format, target_format, ...rest } = request
  const value = { sourceFormat: source_format, targetFormat: target_format, ...rest }
  return Buffer.from(requestType.encode(requestType.fromObject(value)).finish())
}

export const decodeResponse = (bytes: Uint8Array): Response =>
  responseType.toObject(responseType.decode(bytes), {
    enums: String,
    defaults: true,
  }) as Response

export const jsonOf = (response: Response): Record<string, unknown> =>
  JSON.parse(Buffer.from(response.result).toString())

export type Rig = {
  readonly grpc: Feature
  readonly target: string
  readonly port: number
  /** May transform. */
  readonly key: string
  /** Changes what is stored of the key. */
  readonly changeKey: (changes: Partial<KeyRecord>) => void
  /** May do something else only. */
  readonly weakKey: string
  readonly lines: string[]
  readonly metrics: ReturnType<typeof createMetrics>
  readonly transform: ReturnType<typeof createTransform>
  readonly stop: () => Promise<void>
} & AsyncDisposable

/** The feature on a free port, with the real authenticator, logger and transformations. */
export const startRig = async (
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly failingKeys?: boolean
    readonly keyCacheMs?: number
    readonly stopTimeoutMs?: number
    readonly connectionsMax?: number
    readonly rooms?: Rooms
    readonly handshakeMs?: number
    readonly times?: Partial<ConnectionTimes>
  } = {},
): Promise<Rig> => {
  const good = testKey('spi:transform')
  const weak = testKey('messages:read')
  const records: readonly KeyRecord[] = [good.record, weak.record]
  const lines: string[] = []
  const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const transform = createTransform({ metrics })
  const { values, problems } = loadSettings(
    { grpc: grpcSettings },
    { GRPC_ADDR: '127.0.0.1:0', ...options.env },
  )
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  const grpc = createGrpc({
    settings: values.grpc,
    run: transform.run,
    authenticator: createAuthenticator({
      sources: [
        {
          find: async (id) => {
            if (options.failingKeys === true) throw new Error('away')
            return records.find((record) => record.id === id)
          },
        },
      ],
      ...(options.keyCacheMs === undefined ? {} : { cacheMs: options.keyCacheMs }),
    }),
    logger,
    metrics,
    stopTimeoutMs: options.stopTimeoutMs ?? 16_000,
    times: options.times,
    connectionsMax: options.connectionsMax,
    rooms: options.rooms,
    handshakeMs: options.handshakeMs,
  })
  await grpc.start?.()
  const { port } = new URL(grpc.url?.() ?? '')
  let stopping: Promise<void> | undefined
  const stopOnce = async (): Promise<void> => {
    await grpc.drain?.()
    await grpc.stop?.()
  }
  const stop = (): Promise<void> => {
    stopping ??= stopOnce()
    return stopping
  }
  return {
    grpc,
    target: `localhost:${port}`,
    port: Number(port),
    key: good.key,
    changeKey: (changes) => void Object.assign(good.record, changes),
    weakKey: weak.key,
    lines,
    metrics,
    transform,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

export const service = '/spigw.v1.TransformationService'

export const withKey = (key: string, more: Readonly<Record<string, string>> = {}): Metadata => {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${key}`)
  for (const [name, value] of Object.entries(more)) metadata.set(name, value)
  return metadata
}

const same = (bytes: Buffer): Buffer => bytes

type Answer = {
  readonly bytes: Buffer
  readonly headers: Metadata | undefined
}

export type RawClient = {
  /** Rejects with a ServiceError. */
  readonly unary: (
    path: string,
    bytes: Buffer,
    metadata?: Metadata,
    deadlineMs?: number,
  ) => Promise<Answer>
  readonly stream: (
    path: string,
    metadata?: Metadata,
    deadlineMs?: number,
  ) => ClientDuplexStream<Buffer, Buffer>
  readonly close: () => void
}

/** A client that sends and takes bytes: what they mean is for protobufjs. */
export const rawClient = (
  target: string,
  channel: ChannelCredentials = credentials.createInsecure(),
): RawClient => {
  const client = new Client(target, channel, {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    'grpc.use_local_subchannel_pool': 1,
  })
  return {
    unary: (path, bytes, metadata = new Metadata(), deadlineMs = 50_000) =>
      new Promise((resolve, reject) => {
        let headers: Metadata | undefined
        const call = client.makeUnaryRequest(
          path,
          same,
          same,
          bytes,
          metadata,
          { deadline: Date.now() + deadlineMs },
          (error: ServiceError | null, answer?: Buffer) => {
            if (error !== null || answer === undefined) reject(error)
            else resolve({ bytes: answer, headers })
          },
        )
        call.on('metadata', (received) => {
          headers = received
        })
      }),
    stream: (path, metadata = new Metadata(), deadlineMs = 50_000) =>
      client.makeBidiStreamRequest(path, same, same, metadata, {
        deadline: Date.now() + deadlineMs,
      }),
    close: () => client.close(),
  }
}

/** The status of a call that must fail. */
export const failure = async (call: Promise<unknown>): Promise<ServiceError> => {
  const outcome = await call.then(
    () => undefined,
    (error: ServiceError) => error,
  )
  if (outcome === undefined) throw new Error('the call succeeded')
  return outcome
}
