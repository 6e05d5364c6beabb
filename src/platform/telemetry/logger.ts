import pino from 'pino'
import { scrub } from './scrub.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
export const logFormats = ['json', 'text'] as const
export type LogFormat = (typeof logFormats)[number]

/** What features see: a line is an object of fields and a short fixed message. */
export type Logger = {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  child(fields: LogFields): Logger
  isLevelEnabled(level: LogLevel): boolean
  /** May be set at run time. */
  level: string
}

export type LogFields = Readonly<Record<string, unknown>>

export type LineSink = { write(line: string): void }

/**
 * JSON lines `{"level","ts","msg",…}` (or `ts LEVEL msg {fields}` as text), each scrubbed.
 * Errors under the key `err` are written with type, message and stack.
 */
export const createLogger = (options: {
  readonly level: LogLevel
  readonly format?: LogFormat
  readonly sink: LineSink
}): Logger => {
  const { sink } = options
  const asText = options.format === 'text'
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err },
    },
    { write: (line: string) => sink.write(scrub(asText ? textLine(line) : line)) },
  ) as unknown as Logger
}

const textLine = (line: string): string => {
  const { ts, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`
  return `${String(ts)} ${String(level).toUpperCase()} ${String(msg ?? '')}${rest}\n`
}
