import pino from 'pino'
import { scrubFields, scrubLine } from '../security/sensitive/index.ts'
import { isToldAlready } from './outage.ts'
import { printableLines } from './printable.ts'
import { currentTraceId } from './tracing/tracing.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
export const logFormats = ['json', 'text'] as const
export type LogFormat = (typeof logFormats)[number]

/** The logger that features get: a line is an object of fields and a short fixed message. */
export type Logger = {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  child(fields: LogFields): Logger
  /** The line of one handled request, at level info. */
  request(fields: RequestFields): void
  isLevelEnabled(level: LogLevel): boolean
  /** May be set at run time. */
  level: string
}

export type LogFields = Readonly<Record<string, unknown>>

export type LineSink = { write(line: string): void }

/**
 * JSON lines `{"level","ts","msg",…}` (or `ts LEVEL msg {fields}` as text), each scrubbed field by field; none steers
 * the terminal that shows it.
 * Errors under the key `err` are written with type, message and stack; {@link isToldAlready} errors get no line.
 * A line of a traced request or message has its `trace_id`.
 */
export const createLogger = (options: {
  readonly level: LogLevel
  readonly format?: LogFormat
  readonly sink: LineSink
}): Logger => {
  const { sink } = options
  const asText = options.format === 'text'
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err },
      mixin: traceFields,
      hooks: {
        logMethod(line, write) {
          const [fields] = line as unknown as [LogFields]
          if (!isToldAlready(fields['err'])) write.apply(this, line)
        },
      },
    },
    {
      write: (line: string) => {
        const shown = printableLines(scrubLine(line))
        sink.write(asText ? textLine(shown) : shown)
      },
    },
  )
  const request = (fields: RequestFields): void => {
    if (!logger.isLevelEnabled('info')) return
    const line = requestLine(fields)
    sink.write(asText ? textLine(line) : line)
  }
  return Object.assign(logger, { request }) as unknown as Logger
}

/** Makes a new object for each line, because the logger writes to it. */
const traceFields = (): { trace_id?: string } => {
  const traceId = currentTraceId()
  return traceId === undefined ? {} : { trace_id: traceId }
}

const textLine = (line: string): string => {
  const { ts, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`
  return printableLines(
    `${String(ts)} ${String(level).toUpperCase()} ${String(msg ?? '')}${rest}\n`,
  )
}

/** One handled request, for its log line. */
type RequestFields = {
  /** The form that `requestIdOf` gives: nothing in it must be escaped or hidden. */
  readonly requestId: string
  readonly method: string
  /** The route's pattern. */
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly keyId: string | undefined
  /** The id of the active trace. */
  readonly traceId?: string | undefined
  /** Ids the handler adds; never personal data, scrubbed all the same. */
  readonly more: Readonly<Record<string, string | number | boolean>> | undefined
}

const plainWord = /^[A-Z]{1,16}$/
const usual: ReadonlySet<string> = new Set(['GET', 'POST'])

const shownMethod = (method: string): string =>
  usual.has(method) || plainWord.test(method) ? method : 'OTHER'

/**
 * The same JSON that the logger would write. We build it by hand because we write this line for every request,
 * and the general serializer and scrubber would cost more than the rest of the HTTP chain. We escape and
 * scrub here what a caller controls (method, added fields).
 */
const requestLine = (fields: RequestFields): string => {
  const method = shownMethod(fields.method)
  const key = fields.keyId === undefined ? '' : `","key_id":"${fields.keyId}`
  const trace = fields.traceId === undefined ? '' : `"trace_id":"${fields.traceId}",`
  const more =
    fields.more === undefined
      ? ''
      : `,${printableLines(JSON.stringify(scrubFields(fields.more))).slice(1, -1)}`
  const duration = Math.round(fields.durationMs * 1000) / 1000
  return `{"level":"info","ts":"${timestamp()}",${trace}"request_id":"${fields.requestId}","method":"${method}","path":"${fields.path}${key}","status":${fields.status},"duration_ms":${duration}${more},"msg":"request"}\n`
}

let stampMs = 0
let stamp = ''

/** The time in ISO 8601, UTC, to the millisecond; formatted once per millisecond. */
export const timestamp = (): string => {
  const nowMs = Date.now()
  if (nowMs !== stampMs) {
    stampMs = nowMs
    stamp = new Date(nowMs).toISOString()
  }
  return stamp
}
