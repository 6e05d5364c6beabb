import { AsyncLocalStorage } from 'node:async_hooks'

export type AttributeValue = string | number | boolean

/** One span, from its start to its export. */
export type Span = {
  readonly traceId: string
  readonly spanId: string
  /** Empty for a root. */
  readonly parentSpanId: string
  /** False: we pass the trace on but do not export the span. */
  readonly isSampled: boolean
  name: string
  readonly kind: number
  readonly startedMs: number
  endedMs: number
  readonly attributes: (string | AttributeValue)[]
  readonly links: readonly TraceContext[]
  isFailed: boolean
}

/** The context that travels between processes. */
export type TraceContext = {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

export const activeSpan = new AsyncLocalStorage<Span>()

const poolBytes = 8_192
const pool = new Uint8Array(poolBytes)
let taken = poolBytes

/** Random bytes as lower-case hexadecimal digits. */
export const randomHex = (bytes: number): string => {
  if (taken + bytes > poolBytes) {
    crypto.getRandomValues(pool)
    taken = 0
  }
  const hex = pool.subarray(taken, taken + bytes).toHex()
  taken += bytes
  return hex
}

/** W3C Trace Context: version 00 and those to come, which begin the same way. */
const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/
const noTrace = '0'.repeat(32)
const noSpan = '0'.repeat(16)
const sampledFlag = 1

/** Undefined when we cannot read it: a caller's header must not break a request. */
export const parseTraceparent = (text: string): TraceContext | undefined => {
  const [, version, traceId = noTrace, spanId = noSpan, flags = '00'] = pattern.exec(text) ?? []
  if (version === undefined || version === 'ff' || traceId === noTrace || spanId === noSpan) {
    return undefined
  }
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) === 1 }
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
