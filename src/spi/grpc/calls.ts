import {
  status as codes,
  type Metadata,
  Metadata as MetadataClass,
  type ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js'
import type { Authenticator, Principal, Scope } from '#src/platform/auth/index.ts'
import { requestIdOf } from '#src/platform/http/index.ts'
import { type Logger, latencyBucketsSeconds, type Metrics } from '#src/platform/telemetry/index.ts'
import { isTracing, type OpenSpan, openSpan } from '#src/platform/tracing/index.ts'
import { createOpenSet } from './open-set.ts'

export type CallsDeps = {
  readonly authenticator: Authenticator
  readonly logger: Logger
  readonly metrics: Metrics
  /** By the path of the method; one that is not here is UNIMPLEMENTED. */
  readonly scopes: ReadonlyMap<string, Scope | 'public'>
}

export type Calls = {
  /** Around every call: key and scope before a byte of the request is read, then count and log line. */
  readonly interceptor: ServerInterceptor
  /** Ends the calls that still run with UNAVAILABLE. */
  readonly cutOff: () => void
  /** Resolves when no call runs. */
  readonly idle: () => Promise<void>
}

export const requestIdKey = 'x-request-id'

/** What a caller made up as a method is neither a label nor a name of a span. */
const unmatched = 'unmatched'

/** Names and values of one call's metadata together; HTTP/2 itself allows more. */
export const metadataBytesMax = 16_384

/** One call, from its metadata to its status. */
type Call = {
  readonly path: string
  readonly startedMs: number
  requestId: string
  principal: Principal | undefined
  ended: boolean
  span: OpenSpan | undefined
}

export const createCalls = ({ authenticator, logger, metrics, scopes }: CallsDeps): Calls => {
  const running = createOpenSet<ServerInterceptingCallInterface>()
  const observe = createObserver(metrics, logger)

  const interceptor: ServerInterceptor = (definition, base) => {
    const { path } = definition
    const scope = scopes.get(path)
    const call: Call = {
      path: scope === undefined ? unmatched : path,
      startedMs: performance.now(),
      requestId: '',
      principal: undefined,
      ended: false,
      span: undefined,
    }
    const end = (code: number): void => {
      if (call.ended) return
      call.ended = true
      running.delete(base)
      observe(call, code)
      call.span?.end(code === codes.OK ? undefined : { code: codes[code] })
    }
    dropOverflownDeadline(base)
    running.add(base)
    watchStatus(base, (status) => {
      end(status.code ?? codes.UNKNOWN)
      return withRequestId(status, call.requestId)
    })
    const refuse = (code: number, details: string): void => base.sendStatus({ code, details })
    const admit = (
      principal: Principal | undefined,
      metadata: Metadata,
      next: (metadata: Metadata) => void,
    ): void => {
      call.principal = principal
      const refusal = refusalOf(principal, scope)
      if (refusal === undefined) next(metadata)
      else refuse(refusal.code, refusal.details)
    }
    const onMetadata = (metadata: Metadata, next: (metadata: Metadata) => void): void => {
      call.requestId = requestIdOf(onlyText(metadata, requestIdKey) ?? null)
      if (metadataBytes(metadata) > metadataBytesMax) {
        const details = `The metadata is over ${metadataBytesMax} bytes.`
        refuse(codes.RESOURCE_EXHAUSTED, details)
        return
      }
      metadata.set(requestIdKey, call.requestId)
      if (isTracing()) call.span = spanOf(call.path, onlyText(metadata, 'traceparent'))
      if (scope === undefined) {
        refuse(codes.UNIMPLEMENTED, 'There is no such method.')
        return
      }
      if (scope === 'public') {
        next(metadata)
        return
      }
      const found = authenticator.verify(onlyText(metadata, 'authorization'))
      if (!(found instanceof Promise)) {
        admit(found, metadata, next)
        return
      }
      found.then(
        (principal) => admit(principal, metadata, next),
        (err: unknown) => {
          logger.error({ request_id: call.requestId, err }, 'a key cannot be verified')
          refuse(codes.UNAVAILABLE, 'The API key cannot be verified now.')
        },
      )
    }
    // Also told after every status; then the call has ended already.
    const onCancel = (): void => end(isLate(base) ? codes.DEADLINE_EXCEEDED : codes.CANCELLED)
    wrap(base, { call, onMetadata, onCancel })
    // Typed as the library's own wrapper, of which it uses no more than this interface.
    return base as ServerInterceptingCall
  }

  return {
    interceptor,
    idle: running.empty,
    cutOff: () => {
      for (const base of running.items()) {
        base.sendStatus({ code: codes.UNAVAILABLE, details: 'The gateway is stopping.' })
      }
    },
  }
}

type PartialStatus = Parameters<ServerInterceptingCallInterface['sendStatus']>[0]

/** A success has told the id in its headers already. */
const withRequestId = (status: PartialStatus, requestId: string): PartialStatus => {
  if (status.code === codes.OK || requestId === '') return status
  const metadata = status.metadata ?? new MetadataClass()
  metadata.set(requestIdKey, requestId)
  return { ...status, metadata }
}

/**
 * Puts our steps before the library's own. Its `ServerInterceptingCall` would do the same with a queue and two objects
 * per event: a third of the cost of a whole call.
 */
const wrap = (
  base: ServerInterceptingCallInterface,
  own: {
    readonly call: Call
    readonly onMetadata: (metadata: Metadata, next: (metadata: Metadata) => void) => void
    readonly onCancel: () => void
  },
): void => {
  const { call } = own
  const start = base.start.bind(base)
  const sendMetadata = base.sendMetadata.bind(base)
  const within = (work: () => void): void => {
    if (call.span === undefined) work()
    else call.span.within(work)
  }
  base.start = (listener) =>
    start({
      onReceiveMetadata: (metadata) =>
        own.onMetadata(metadata, (admitted) => listener.onReceiveMetadata(admitted)),
      onReceiveMessage: (message) => within(() => listener.onReceiveMessage(message)),
      onReceiveHalfClose: () => within(() => listener.onReceiveHalfClose()),
      onCancel: () => {
        own.onCancel()
        listener.onCancel()
      },
    })
  base.sendMetadata = (metadata) => {
    metadata.set(requestIdKey, call.requestId)
    sendMetadata(metadata)
  }
}

const methodName = (path: string): string => (path === unmatched ? path : path.slice(1))

/** `/spigw.v1.TransformationService/Transform` */
const spanOf = (path: string, parent: string | undefined): OpenSpan => {
  const [, service = '', method = '_OTHER'] = path.split('/')
  const attributes = { 'rpc.system.name': 'grpc', 'rpc.service': service, 'rpc.method': method }
  return openSpan(methodName(path), { kind: 'server', parent, attributes })
}

/** The library ends calls by itself too (deadline, size), past every interceptor, but by this method. */
const watchStatus = (
  base: ServerInterceptingCallInterface,
  change: (status: PartialStatus) => PartialStatus,
): void => {
  const send = base.sendStatus.bind(base)
  base.sendStatus = (status) => send(change(status))
}

const refusalOf = (
  principal: Principal | undefined,
  scope: Scope | 'public' | undefined,
): { readonly code: number; readonly details: string } | undefined => {
  if (principal === undefined) {
    const details = 'A valid API key is needed: send authorization: Bearer <key>.'
    return { code: codes.UNAUTHENTICATED, details }
  }
  if (scope !== undefined && scope !== 'public' && principal.scopes.has(scope)) return undefined
  return { code: codes.PERMISSION_DENIED, details: `The API key lacks the scope ${scope}.` }
}

/** Undefined when the key is missing, or there more than once. */
const onlyText = (metadata: Metadata, key: string): string | undefined => {
  const values = metadata.get(key)
  const [value] = values
  return values.length === 1 && typeof value === 'string' ? value : undefined
}

/** The library's own map: its public views copy every value, and this is done for every call. */
type MetadataEntries = { readonly internalRepr: ReadonlyMap<string, readonly (string | Buffer)[]> }

const metadataBytes = (metadata: Metadata): number => {
  let size = 0
  for (const [key, values] of (metadata as unknown as MetadataEntries).internalRepr) {
    for (const value of values) size += key.length + value.length
  }
  return size
}

/** The library's own, made just before it is intercepted. */
type Timed = { deadline: number; deadlineTimer: ReturnType<typeof setTimeout> | null }

const overflowMsMax = 5

/** A time of more than 24 days has too many milliseconds for the library: it is over before it begins. */
const dropOverflownDeadline = (base: ServerInterceptingCallInterface): void => {
  const timed = base as unknown as Timed
  if (timed.deadlineTimer === null || timed.deadline > Date.now() - overflowMsMax) return
  clearTimeout(timed.deadlineTimer)
  timed.deadlineTimer = null
  timed.deadline = Number.POSITIVE_INFINITY
}

const isLate = (base: ServerInterceptingCallInterface): boolean => {
  const deadline = base.getDeadline()
  return (typeof deadline === 'number' ? deadline : deadline.getTime()) <= Date.now()
}

/** Counts a call and writes its log line. */
const createObserver = (metrics: Metrics, logger: Logger): ((call: Call, code: number) => void) => {
  const requests = metrics.counter('trilho_grpc_requests_total', 'gRPC calls by method and code.', [
    'method',
    'code',
  ])
  const durations = metrics.histogram(
    'trilho_grpc_request_duration_seconds',
    'gRPC calls from their metadata to their status.',
    ['method'],
    latencyBucketsSeconds,
  )
  /** By method and code: looking labels up for each call would cost more than counting. */
  const known = new Map<string, ReturnType<typeof seriesOf>>()
  const seriesOf = (path: string, code: number) => {
    const method = methodName(path)
    const name = codes[code] ?? 'UNKNOWN'
    return {
      name,
      count: requests.labels({ method, code: name }),
      duration: durations.labels({ method }),
    }
  }
  return ({ path, startedMs, requestId, principal }, code) => {
    const durationMs = performance.now() - startedMs
    const key = `${path} ${code}`
    let series = known.get(key)
    if (series === undefined) {
      series = seriesOf(path, code)
      known.set(key, series)
    }
    const { name } = series
    series.count.inc()
    series.duration.observe(durationMs / 1000)
    logger.request({
      requestId,
      method: 'GRPC',
      path,
      status: code,
      durationMs,
      keyId: principal?.keyId,
      more: { code: name },
    })
  }
}
