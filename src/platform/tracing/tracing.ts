import {
  type Attributes,
  type Context,
  context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api'

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** W3C Trace Context of another process: `00-<trace id>-<span id>-<flags>`. */
export type Traceparent = string

export type SpanOptions = {
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal'
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

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const

const none: ActiveSpan = { rename: () => {}, set: () => {}, fail: () => {} }

let tracer: Tracer | undefined

/** Set once at start by {@link startTracing}; undefined makes everything here free. */
export const useTracer = (chosen: Tracer | undefined): void => {
  tracer = chosen
}

export const isTracing = (): boolean => tracer !== undefined

/**
 * Runs `work` within a span of its own, which ends when it returns, or when its promise settles. A failure marks the
 * span and is passed on.
 */
export const inSpan = <T>(name: string, options: SpanOptions, work: (span: ActiveSpan) => T): T => {
  if (tracer === undefined) return work(none)
  const parent = options.parent === undefined ? context.active() : contextOf(options.parent)
  const span = startSpan(tracer, name, options, parent)
  return context.with(trace.setSpan(parent, span), () => run(span, work))
}

const startSpan = (by: Tracer, name: string, options: SpanOptions, parent: Context): Span => {
  const links: Link[] = []
  for (const link of options.links ?? []) {
    const found = link === undefined ? undefined : trace.getSpanContext(contextOf(link))
    if (found !== undefined) links.push({ context: found })
  }
  const { kind = 'internal', attributes = {} } = options
  return by.startSpan(
    name,
    { kind: kinds[kind], attributes: attributes as Attributes, links },
    parent,
  )
}

const run = <T>(span: Span, work: (span: ActiveSpan) => T): T => {
  let result: T
  try {
    result = work(handleOf(span))
  } catch (error) {
    fail(span, error)
    span.end()
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
      fail(span, error)
      span.end()
      throw error
    },
  ) as T
}

const handleOf = (span: Span): ActiveSpan => ({
  rename: (name) => {
    span.updateName(name)
  },
  set: (attributes) => {
    span.setAttributes(attributes as Attributes)
  },
  fail: (reason) => {
    span.setStatus({ code: SpanStatusCode.ERROR })
    span.setAttribute('error.type', reason)
  },
})

/** The kind of an error alone: its text may hold data. */
const fail = (span: Span, error: unknown): void => {
  const code = (error as { code?: unknown } | undefined)?.code
  const name = error instanceof Error ? error.name : typeof error
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute('error.type', typeof code === 'string' ? code : name)
}

/** A span that is ended by hand, for what neither returns nor is a promise of ours. */
export type OpenSpan = {
  end(error?: unknown): void
  /** Runs `work` with this span as the active one. */
  within<T>(work: () => T): T
}

const noSpan: OpenSpan = { end: () => {}, within: (work) => work() }

export const openSpan = (name: string, options: SpanOptions): OpenSpan => {
  if (tracer === undefined) return noSpan
  const parent = options.parent === undefined ? context.active() : contextOf(options.parent)
  const span = startSpan(tracer, name, options, parent)
  const active = trace.setSpan(parent, span)
  return {
    end: (error) => {
      if (error !== undefined) fail(span, error)
      span.end()
    },
    within: (work) => context.with(active, work),
  }
}

const getter: TextMapGetter<Traceparent> = {
  keys: () => ['traceparent'],
  get: (carrier, key) => (key === 'traceparent' ? carrier : undefined),
}

/** An unreadable one gives a context without a parent: a caller's header must not break a request. */
const contextOf = (parent: Traceparent): Context =>
  propagation.extract(ROOT_CONTEXT, parent, getter)

/** Of the active span, to travel with a message; undefined when there is none. */
export const currentTraceparent = (): Traceparent | undefined => {
  if (tracer === undefined) return undefined
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  return carrier['traceparent']
}

/** 32 hexadecimal digits, for log lines; undefined when there is no active span. */
export const currentTraceId = (): string | undefined =>
  tracer === undefined ? undefined : trace.getSpanContext(context.active())?.traceId
