import {
  type AttributeValue,
  activeSpan,
  formatTraceparent,
  parseTraceparent,
  randomHex,
  type Span,
  type TraceContext,
} from './span.ts'

export type SpanAttributes = Readonly<Record<string, AttributeValue | undefined>>

/** W3C Trace Context of another process: `00-<trace id>-<span id>-<flags>`. */
export type Traceparent = string

export type SpanOptions = {
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  /** Named by the semantic conventions; never personal or card data. */
  readonly attributes?: SpanAttributes
  /** The parent; by default the active span. Null: the span has no parent, whatever is active. */
  readonly parent?: Traceparent | null | undefined
  /** Further causes. */
  readonly links?: readonly (Traceparent | undefined)[]
}

/** A running span, or nothing when no collector is configured: every member may be called in either case. */
export type ActiveSpan = {
  rename(name: string): void
  set(attributes: SpanAttributes): void
  /** Marks it as failed; `reason` is a code or the name of an error, never its text. */
  fail(reason: string): void
}

/** A span that is ended by hand, for work that neither returns nor is a promise of ours. */
export type OpenSpan = ActiveSpan & {
  end(error?: unknown): void
  /** Runs `work` with this span as the active one. */
  within<T>(work: () => T): T
}

/** Takes the spans that have ended. */
export type SpanSink = {
  readonly add: (span: Span) => void
  /** The share that we keep of the traces that begin here. */
  readonly samplingRatio: number
}

/** The numbers that OTLP gives them. */
const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const
const traceIdBytes = 16
const spanIdBytes = 8
const noLinks: readonly TraceContext[] = []
const { timeOrigin } = performance

const none: OpenSpan = {
  rename: () => {},
  set: () => {},
  fail: () => {},
  end: () => {},
  within: (work) => work(),
}

let sink: SpanSink | undefined

/** Set once at start by `startTracing`; undefined makes everything here free. */
export const useSink = (chosen: SpanSink | undefined): void => {
  sink = chosen
}

export const isTracing = (): boolean => sink !== undefined

/**
 * Runs `work` within a span of its own, which ends when `work` returns or its promise settles. A failure marks the
 * span and is passed on.
 */
export const inSpan = <T>(name: string, options: SpanOptions, work: (span: ActiveSpan) => T): T => {
  if (sink === undefined) return work(none)
  const span = new RunningSpan(sink, name, options)
  return activeSpan.run(span, run, span, work) as T
}

/** One object both records and holds the data, because there is one for every request and statement. */
class RunningSpan implements Span, OpenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly isSampled: boolean
  name: string
  readonly kind: number
  readonly startedMs: number
  endedMs = 0
  readonly attributes: (string | AttributeValue)[] = []
  readonly links: readonly TraceContext[]
  isFailed = false

  constructor({ samplingRatio }: SpanSink, name: string, options: SpanOptions) {
    const parent = parentOf(options.parent)
    this.traceId = parent?.traceId ?? randomHex(traceIdBytes)
    this.spanId = randomHex(spanIdBytes)
    this.parentSpanId = parent?.spanId ?? ''
    this.isSampled = parent?.isSampled ?? Math.random() < samplingRatio
    this.name = name
    this.kind = kinds[options.kind ?? 'internal']
    this.startedMs = timeOrigin + performance.now()
    this.links = options.links === undefined ? noLinks : linksOf(options.links)
    if (options.attributes !== undefined) this.set(options.attributes)
  }

  rename(name: string): void {
    this.name = name
  }

  set(attributes: SpanAttributes): void {
    for (const name in attributes) {
      const value = attributes[name]
      if (value !== undefined) this.attributes.push(name, value)
    }
  }

  fail(reason: string): void {
    this.isFailed = true
    this.attributes.push('error.type', reason)
  }

  /** An error marks the span by its kind alone: its text may hold data. */
  end(error?: unknown): void {
    if (error !== undefined) this.fail(reasonOf(error))
    this.endedMs = timeOrigin + performance.now()
    if (this.isSampled) sink?.add(this)
  }

  within<T>(work: () => T): T {
    return activeSpan.run(this, work)
  }
}

const parentOf = (given: SpanOptions['parent']): TraceContext | undefined => {
  if (given === undefined) return activeSpan.getStore()
  return given === null ? undefined : parseTraceparent(given)
}

const reasonOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | undefined)?.code
  if (typeof code === 'string') return code
  return error instanceof Error ? error.name : typeof error
}

const linksOf = (parents: readonly (Traceparent | undefined)[]): readonly TraceContext[] =>
  parents.flatMap((parent) => {
    const context = parent === undefined ? undefined : parseTraceparent(parent)
    return context === undefined ? [] : [context]
  })

const run = (span: RunningSpan, work: (span: ActiveSpan) => unknown): unknown => {
  let result: unknown
  try {
    result = work(span)
  } catch (error) {
    span.end(error ?? 'undefined')
    throw error
  }
  if (!(result instanceof Promise)) {
    span.end()
    return result
  }
  return result.then(
    (value: unknown) => {
      span.end()
      return value
    },
    (error: unknown) => {
      span.end(error ?? 'undefined')
      throw error
    },
  )
}

export const openSpan = (name: string, options: SpanOptions): OpenSpan =>
  sink === undefined ? none : new RunningSpan(sink, name, options)

/** The active span's, to travel with a message; undefined when there is none. */
export const currentTraceparent = (): Traceparent | undefined => {
  const span = sink === undefined ? undefined : activeSpan.getStore()
  return span === undefined ? undefined : formatTraceparent(span)
}

/**
 * Returns a function that runs work within the span that is active now, however late, and for any caller: shared work
 * belongs to the trace of its first caller. Undefined when nothing is traced.
 */
export const activeContext = (): (<T>(work: () => T) => T) | undefined => {
  if (sink === undefined) return undefined
  const span = activeSpan.getStore()
  return (work) => (span === undefined ? activeSpan.exit(work) : activeSpan.run(span, work))
}

/** 32 hexadecimal digits, for log lines; undefined when there is no active span. */
export const currentTraceId = (): string | undefined =>
  sink === undefined ? undefined : activeSpan.getStore()?.traceId
