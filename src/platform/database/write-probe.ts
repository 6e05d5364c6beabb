import { inTimeOr } from '#src/platform/runtime/index.ts'
import { createOutageLog, type Logger } from '../observe/index.ts'
import type { Client } from './database.ts'

export type WriteProbe = {
  readonly start: () => void
  readonly stop: () => void
  /** Why the database takes no writes, as far as we know; undefined when it does. */
  readonly refusal: () => Promise<string | undefined>
}

const everyMsDefault = 2_000
/** A write that takes longer is stuck: the disk of the log is full, or a synchronous standby is away. */
const lateMs = 5_000
const stuck = 'a write does not end'
/**
 * Takes space for a row and takes the row back, in one statement, hence one transaction, which commits. The filler is
 * more than a page has room for, and not to be compressed: each row needs new space on the disk.
 */
const writeAndTakeBack = `
  do $probe$
  begin
    insert into write_probes (filler)
      select string_agg(uuid_send(gen_random_uuid()), null) from generate_series(1, 375);
    raise exception using errcode = 'TRWPR', message = 'written';
  exception when sqlstate 'TRWPR' then null;
  end
  $probe$`

const refusals: Readonly<Record<string, string>> = {
  '25006': 'read-only',
  '53100': 'no space left',
  '42501': 'no right to write',
}

/**
 * Writes at intervals, as payments do: a transaction that takes space for a row, takes the row back, and commits. A
 * server that answers queries may take no writes: it is a standby, its disk is full, its commits wait for another that
 * is away. A row that is rolled back leaves nothing that vacuum could not clear at once, even if something holds it up.
 */
export const createWriteProbe = (options: {
  readonly name: string
  readonly sql: Client
  readonly logger: Logger
  readonly everyMs?: number
}): WriteProbe => {
  const { sql, everyMs = everyMsDefault } = options
  const outage = createOutageLog(options.logger, {
    level: 'error',
    away: 'the database takes no writes: not ready',
    back: 'the database takes writes again',
    about: { database: options.name },
  })
  let timer: ReturnType<typeof setInterval> | undefined
  let running: { readonly sinceMs: number; readonly ended: Promise<void> } | undefined
  let known: string | undefined
  let isKnown = false

  const refused = (error: unknown, reason: string): void => {
    known = reason
    isKnown = true
    outage.failed(error, { reason })
  }
  const look = async (): Promise<void> => {
    const sinceMs = performance.now()
    try {
      await writeOnce(sql)
      known = undefined
      outage.worked()
    } catch (error) {
      const isLate = performance.now() - sinceMs > lateMs
      const reason = refusalOf(error) ?? (isLate ? stuck : undefined)
      // If there is no answer, the ping tells so; and a refusal stands until a write succeeds.
      if (reason !== undefined) refused(error, reason)
    }
    isKnown = true
  }
  const begin = (): Promise<void> => {
    running ??= {
      sinceMs: performance.now(),
      ended: look().finally(() => {
        running = undefined
      }),
    }
    return running.ended
  }
  const beginOrTell = (): void => {
    if (running === undefined) void begin()
    else if (performance.now() - running.sinceMs > lateMs) refused(new Error(stuck), stuck)
  }
  return {
    start: () => {
      timer ??= setInterval(beginOrTell, everyMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
    refusal: async () =>
      isKnown
        ? known
        : inTimeOr(
            begin().then(() => known),
            lateMs,
            stuck,
          ),
  }
}

/** Writes as a payment does, and takes it back. */
export const writeOnce = async (sql: Client): Promise<void> => {
  await sql.unsafe(writeAndTakeBack)
}

/** Undefined if it is no answer of the server. */
const refusalOf = (error: unknown): string | undefined => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!/^[0-9A-Z]{5}$/.test(code) || code.startsWith('08') || code.startsWith('57'))
    return undefined
  return refusals[code] ?? `SQLSTATE ${code}`
}
