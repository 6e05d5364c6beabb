import {
  status as codes,
  type Metadata,
  Metadata as MetadataClass,
  type ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js'
import {
  type Acts,
  type Allowance,
  ApiError,
  callerMsMax,
  createActs,
  type GiveUpReason,
  type Language,
  portugueseOf,
  type RateLimits,
  type RecordAct,
  type Rooms,
  requestIdOf,
  retryAfterMs,
} from '#src/platform/http/index.ts'
import {
  currentTraceId,
  isTracing,
  type Logger,
  type Metrics,
  type OpenSpan,
  openSpan,
} from '#src/platform/observe/index.ts'
import type { Authenticator, Networks, Principal, Scope } from '#src/platform/security/index.ts'
import { CallerWait } from './caller-wait.ts'
import { dropOverflownDeadline, isLate } from './deadline.ts'
import { createInflation, type InflateInTurn } from './inflation.ts'
import { languageOfCall, metadataBytes, onlyText, setText } from './metadata.ts'
import { createObserver, methodName, unmatched } from './observer.ts'
import { createOpenSet, type OpenSet } from './open-set.ts'
import { addressOf, refusalOf } from './permission.ts'

export type CallsDeps = {
  readonly authenticator: Authenticator
  readonly logger: Logger
  readonly metrics: Metrics
  /** By the path of the method; any other method is UNIMPLEMENTED. */
  readonly scopes: ReadonlyMap<string, Scope | 'public'>
  /** The paths of methods that stream: how long such a call lasts is the caller's choice. */
  readonly streams: ReadonlySet<string>
  /** Learns of each call as it begins. False: too many do, and its connection ends. */
  readonly mayBegin: (base: ServerInterceptingCallInterface) => boolean
  /** Learns where each call with a valid key comes from: address and port. */
  readonly know: (peer: string) => void
  /** Undefined without a database. */
  readonly recordAct?: RecordAct | undefined
  /** Undefined: no caller is limited. A call counts as one request, however many messages it streams. */
  readonly rates?: RateLimits | undefined
  /** Room for calls; undefined: as many as come. */
  readonly rooms?: Rooms | undefined
  /** Proxies whose word for the caller's address counts. */
  readonly trustedProxies?: Networks | undefined
}

export type Calls = ReturnType<typeof createCalls>

export const requestIdKey = 'x-request-id'

/** Limit for the names and values of one call's metadata; HTTP/2 itself allows more. */
export const metadataBytesMax = 16_384

export const createCalls = (deps: CallsDeps) => {
  const running = createOpenSet<GatewayCall>()
  const context: Context = {
    ...deps,
    running,
    observe: createObserver(deps.metrics, deps.logger),
    acts: createActs(deps.recordAct, deps.logger),
    inflateInTurn: createInflation(),
  }
  return {
    /** Wraps every call: checks key and scope before it reads a byte of the request, then counts and logs. */
    interceptor: (({ path }, base) =>
      // Typed as the library's own wrapper, of which it uses no more than this interface.
      new GatewayCall(
        context,
        path,
        base,
      ) as unknown as ServerInterceptingCall) satisfies ServerInterceptor,
    /** Resolves when no call runs. */
    idle: running.empty,
    /** Ends the calls that still run with UNAVAILABLE. */
    cutOff: (): void => {
      for (const call of running.items()) {
        call.refuse(codes.UNAVAILABLE, 'The gateway is stopping.')
      }
    },
  }
}

type Context = CallsDeps & {
  readonly running: OpenSet<GatewayCall>
  readonly observe: ReturnType<typeof createObserver>
  readonly acts: Acts
  readonly inflateInTurn: InflateInTurn
}

const noMetadata = new MetadataClass()

type Base = ServerInterceptingCallInterface
type Listener = Parameters<Base['start']>[0]
type PartialStatus = Parameters<Base['sendStatus']>[0]

/**
 * One call, from its metadata to its status. It replaces the library's `ServerInterceptingCall`, which does the same
 * with a queue and two objects per event: a third of the cost of a whole call.
 */
class GatewayCall implements Base, Listener {
  readonly path: string
  readonly startedMs = performance.now()
  requestId = ''
  keyId: string | undefined = undefined
  traceId: string | undefined = undefined
  private readonly context: Context
  private readonly base: Base
  private readonly scope: Scope | 'public' | undefined
  private metadata = noMetadata
  private listener: Listener | undefined = undefined
  private span: OpenSpan | undefined = undefined
  private language: Language = 'en'
  private hasEnded = false
  /** Undefined: it has no room. */
  private wait: CallerWait | undefined = undefined
  /** Counted with questions over HTTP, from its message on: until then it waits for its caller. */
  private isReading = false
  private hasSentMetadata = false
  private readonly answered: () => void

  constructor(context: Context, path: string, base: Base) {
    this.context = context
    this.base = base
    this.scope = context.scopes.get(path)
    this.path = this.scope === undefined ? unmatched : path
    dropOverflownDeadline(base)
    this.answered = context.inflateInTurn(base)
    context.running.add(this)
    // The library also ends calls itself (deadline, size). It bypasses every interceptor, but not this method.
    const send = base.sendStatus.bind(base)
    base.sendStatus = (status) => {
      this.end(status.code ?? codes.UNKNOWN)
      send(this.inLanguage(this.withRequestId(status)))
    }
    if (!context.mayBegin(base)) this.end(codes.RESOURCE_EXHAUSTED)
  }

  start(listener: Listener): void {
    this.listener = listener
    this.base.start(this)
  }

  onReceiveMetadata(metadata: Metadata): void {
    this.requestId = requestIdOf(onlyText(metadata, requestIdKey) ?? null)
    this.language = languageOfCall(metadata)
    if (metadataBytes(metadata) > metadataBytesMax) {
      this.refuse(codes.RESOURCE_EXHAUSTED, `The metadata is over ${metadataBytesMax} bytes.`)
      return
    }
    setText(metadata, requestIdKey, this.requestId)
    this.metadata = metadata
    if (isTracing()) this.openSpan(onlyText(metadata, 'traceparent'))
    if (this.scope === undefined) {
      this.refuse(codes.UNIMPLEMENTED, 'There is no such method.')
      return
    }
    if (this.scope === 'public') {
      this.listener?.onReceiveMetadata(metadata)
      return
    }
    this.identify((principal) => this.limit(principal))
  }

  onReceiveMessage(message: unknown): void {
    if (this.hasEnded || !this.begins()) return
    if (!this.isStream) {
      this.pass(message)
      return
    }
    this.wait?.asked()
    // A stream may last longer than its key, or than what the key may do.
    this.identify((principal) => {
      if (!this.hasEnded && this.mayCall(principal)) this.pass(message)
    })
  }

  private pass(message: unknown): void {
    if (this.span === undefined) this.listener?.onReceiveMessage(message)
    else this.span.within(() => this.listener?.onReceiveMessage(message))
  }

  private get isStream(): boolean {
    return this.context.streams.has(this.path)
  }

  /** The message of a call that does not stream is where its work begins. */
  private begins(): boolean {
    const { rooms } = this.context
    if (this.wait === undefined || this.isReading || this.isStream) return true
    this.isReading = this.mayGoOn(() => rooms?.begin('reading'))
    return this.isReading
  }

  onReceiveHalfClose(): void {
    if (this.hasEnded) return
    if (!this.isStream) this.wait?.asked()
    if (this.span === undefined) this.listener?.onReceiveHalfClose()
    else this.span.within(() => this.listener?.onReceiveHalfClose())
  }

  /** The library also calls this after every status; by then the call has ended already. */
  onCancel(): void {
    if (!this.hasEnded) this.end(isLate(this.base) ? codes.DEADLINE_EXCEEDED : codes.CANCELLED)
    this.listener?.onCancel()
  }

  sendMetadata(metadata: Metadata): void {
    this.hasSentMetadata = true
    setText(metadata, requestIdKey, this.requestId)
    this.base.sendMetadata(metadata)
  }

  sendMessage(message: unknown, callback: () => void): void {
    if (!this.hasSentMetadata) this.sendMetadata(new MetadataClass())
    this.answered()
    this.base.sendMessage(message, this.wait?.answered(callback) ?? callback)
  }

  sendStatus(status: PartialStatus): void {
    this.base.sendStatus(status)
  }

  startRead(): void {
    this.base.startRead()
  }

  getPeer(): string {
    return this.base.getPeer()
  }

  getDeadline(): ReturnType<Base['getDeadline']> {
    return this.base.getDeadline()
  }

  getHost(): string {
    return this.base.getHost()
  }

  getAuthContext(): ReturnType<Base['getAuthContext']> {
    return this.base.getAuthContext()
  }

  getConnectionInfo(): ReturnType<Base['getConnectionInfo']> {
    return this.base.getConnectionInfo()
  }

  getMetricsRecorder(): ReturnType<Base['getMetricsRecorder']> {
    return this.base.getMetricsRecorder()
  }

  refuse(code: number, details: string): void {
    this.base.sendStatus({ code, details })
  }

  /** Calls back with the holder of the key; refuses the call if the key cannot be looked up. */
  private identify(found: (principal: Principal | undefined) => void): void {
    const { authenticator, logger } = this.context
    const holder = authenticator.verify(onlyText(this.metadata, 'authorization'))
    if (!(holder instanceof Promise)) {
      found(holder)
      return
    }
    holder.then(found, (err: unknown) => {
      logger.error({ request_id: this.requestId, err }, 'a key cannot be verified')
      this.refuse(codes.UNAVAILABLE, 'The API key cannot be verified now.')
    })
  }

  /** As over HTTP, a call counts even if the key has no right to it. */
  private limit(principal: Principal | undefined): void {
    if (principal !== undefined) this.context.know(this.base.getPeer())
    const taken = principal && this.context.rates?.take(principal)
    if (taken === undefined) {
      this.admit(principal)
      return
    }
    const pass = ({ name, perSecond, waitMs }: Allowance): void => {
      if (waitMs === undefined) this.admit(principal)
      else {
        const whose = name === 'key' ? 'key' : 'key’s account'
        const details = `The API ${whose} may make ${perSecond} requests a second.`
        this.refuse(codes.RESOURCE_EXHAUSTED, details)
      }
    }
    if (taken instanceof Promise) void taken.then(pass)
    else pass(taken)
  }

  private admit(principal: Principal | undefined): void {
    this.keyId = principal?.keyId
    if (this.mayCall(principal)) this.enter()
  }

  /** False: the call is refused. */
  private mayCall(principal: Principal | undefined): boolean {
    const { scope, requestId, path, metadata, context } = this
    if (scope === undefined || scope === 'public') return true
    const address = () => addressOf(this.base.getPeer(), metadata, context.trustedProxies)
    const refusal = refusalOf(principal, scope, address)
    if (refusal === undefined) return true
    const { code, details, outcome } = refusal
    if (principal !== undefined && outcome !== undefined) {
      const { keyId } = principal
      context.acts.refused({ requestId, keyId, object: path, outcome })
    }
    this.refuse(code, details)
    return false
  }

  /** We refuse a call without room before we read a byte of it; `grpc-retry-pushback-ms` says when to come again. */
  private enter(): void {
    // Gone while its key was looked up.
    if (this.hasEnded) return
    const { rooms } = this.context
    if (!this.mayGoOn(() => rooms?.enter())) return
    const giveUp = (reason: GiveUpReason): void => this.giveUp(reason)
    if (rooms !== undefined) this.wait = new CallerWait(rooms.callers, !this.isStream, giveUp)
    this.listener?.onReceiveMetadata(this.metadata)
  }

  /** False where there is too much to do: the call is refused then. */
  private mayGoOn(ask: () => void): boolean {
    try {
      ask()
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.shed(error.message)
      return false
    }
  }

  private shed(details: string): void {
    const trailers = new MetadataClass()
    setText(trailers, 'grpc-retry-pushback-ms', String(retryAfterMs))
    this.base.sendStatus({ code: codes.UNAVAILABLE, details, metadata: trailers })
  }

  private giveUp(reason: GiveUpReason): void {
    if (reason === 'needed') {
      this.shed('The call waited for its caller, and another needed its room.')
      return
    }
    const details = `The caller took over ${callerMsMax / 1_000} s for its message, or to take the answer.`
    this.refuse(codes.DEADLINE_EXCEEDED, details)
  }

  private openSpan(parent: string | undefined): void {
    const [, service = '', method = '_OTHER'] = this.path.split('/')
    const attributes = { 'rpc.system.name': 'grpc', 'rpc.service': service, 'rpc.method': method }
    this.span = openSpan(methodName(this.path), { kind: 'server', parent, attributes })
    this.traceId = this.span.within(currentTraceId)
  }

  private end(code: number): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.context.running.delete(this)
    if (this.wait !== undefined) {
      this.wait.end()
      this.context.rooms?.leave(this.isReading ? 'reading' : undefined)
    }
    this.context.observe(this, code)
    this.span?.end(code === codes.OK ? undefined : { code: codes[code] })
  }

  /** Translates the details, whoever ends the call: this gateway or its library. */
  private inLanguage(status: PartialStatus): PartialStatus {
    if (this.language === 'en' || status.details === undefined) return status
    return { ...status, details: portugueseOf(status.details) ?? status.details }
  }

  /** A successful call has sent the id in its headers already. */
  private withRequestId(status: PartialStatus): PartialStatus {
    if (status.code === codes.OK || this.requestId === '') return status
    const metadata = status.metadata ?? new MetadataClass()
    setText(metadata, requestIdKey, this.requestId)
    return { ...status, metadata }
  }
}
