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
  /** Names by the semantic conventions; never personal or card data. */
  readonly attributes?: SpanAttributes
  /** Whose child the span is; by default the span that is active. */
  readonly parent?: Traceparent | undefined
  /** What else caused it. */
  readonly links?: readonly (Traceparent | undefined)[]
}

/** A running span, or nothing when no collector is configured: every member may be called in either case. */
export type ActiveSpan = {
  rename(name: string): void
  set(attributes: SpanAttributes): void
  /** Marks it as failed; `reason` is a code or the name of an error, never its text. */
  fail(reason: string): void
}

/** Takes the spans that have ended. */
export type SpanSink = {
  readonly add: (span: Span) => void
  /** Of the traces that begin here, the share that is kept. */
  readonly samplingRatio: number
}

/** As OTLP numbers them. */
const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const
const traceIdBytes = 16
const spanIdBytes = 8

const none: ActiveSpan = { rename: () => {}, set: () => {}, fail: () => {} }

let sink: SpanSink | undefined

/** Set once at start by `startTracing`; undefined makes everything here free. */
export const useSink = (chosen: SpanSink | undefined): void => {
  sink = chosen
}

export const isTracing = (): boolean => sink !== undefined

/**
 * Runs `work` within a span of its own, which ends when it returns, or when its promise settles. A failure marks the
 * span and is passed on.
 */
export const inSpan = <T>(name: string, options: SpanOptions, work: (span: ActiveSpan) => T): T => {
  if (sink === undefined) return work(none)
  const span = startSpan(sink, name, options)
  return activeSpan.run(span, run, span, work) as T
}

const startSpan = ({ samplingRatio }: SpanSink, name: string, options: SpanOptions): Span => {
  const parent =
    options.parent === undefined ? activeSpan.getStore() : parseTraceparent(options.parent)
  const span: Span = {
    traceId: parent?.traceId ?? randomHex(traceIdBytes),
    spanId: randomHex(spanIdBytes),
    parentSpanId: parent?.spanId ?? '',
    isSampled: parent?.isSampled ?? Math.random() < samplingRatio,
    name,
    kind: kinds[options.kind ?? 'internal'],
    startedMs: performance.timeOrigin + performance.now(),
    endedMs: 0,
    attributes: [],
    links: options.links === undefined ? [] : linksOf(options.links),
    isFailed: false,
  }
  if (options.attributes !== undefined) setAttributes(span, options.attributes)
  return span
}

const linksOf = (parents: readonly (Traceparent | undefined)[]): readonly TraceContext[] =>
  parents.flatMap((parent) => {
    const context = parent === undefined ? undefined : parseTraceparent(parent)
    return context === undefined ? [] : [context]
  })

const setAttributes = (span: Span, attributes: SpanAttributes): void => {
  for (const name in attributes) {
    const value = attributes[name]
    if (value !== undefined) span.attributes.push(name, value)
  }
}

const endSpan = (span: Span): void => {
  span.endedMs = performance.timeOrigin + performance.now()
  if (span.isSampled) sink?.add(span)
}

const run = (span: Span, work: (span: ActiveSpan) => unknown): unknown => {
  let result: unknown
  try {
    result = work(handleOf(span))
  } catch (error) {
    failSpan(span, error)
    endSpan(span)
    throw error
  }
  if (!(result instanceof Promise)) {
    endSpan(span)
    return result
  }
  return result.then(
    (value: unknown) => {
      endSpan(span)
      return value
    },
    (error: unknown) => {
      failSpan(span, error)
      endSpan(span)
      throw error
    },
  )
}

const handleOf = (span: Span): ActiveSpan => ({
  rename: (name) => {
    span.name = name
  },
  set: (attributes) => setAttributes(span, attributes),
  fail: (reason) => markFailed(span, reason),
})

const markFailed = (span: Span, reason: string): void => {
  span.isFailed = true
  span.attributes.push('error.type', reason)
}

/** The kind of an error alone: its text may hold data. */
const failSpan = (span: Span, error: unknown): void => {
  const code = (error as { code?: unknown } | undefined)?.code
  const name = error instanceof Error ? error.name : typeof error
  markFailed(span, typeof code === 'string' ? code : name)
}

/** A span that is ended by hand, for what neither returns nor is a promise of ours. */
export type OpenSpan = {
  end(error?: unknown): void
  /** Runs `work` with this span as the active one. */
  within<T>(work: () => T): T
}

const noSpan: OpenSpan = { end: () => {}, within: (work) => work() }

export const openSpan = (name: string, options: SpanOptions): OpenSpan => {
  if (sink === undefined) return noSpan
  const span = startSpan(sink, name, options)
  return {
    end: (error) => {
      if (error !== undefined) failSpan(span, error)
      endSpan(span)
    },
    within: (work) => activeSpan.run(span, work),
  }
}

/** Of the active span, to travel with a message; undefined when there is none. */
export const currentTraceparent = (): Traceparent | undefined => {
  const span = sink === undefined ? undefined : activeSpan.getStore()
  return span === undefined ? undefined : formatTraceparent(span)
}

/** 32 hexadecimal digits, for log lines; undefined when there is no active span. */
export const currentTraceId = (): string | undefined =>
  sink === undefined ? undefined : activeSpan.getStore()?.traceId
