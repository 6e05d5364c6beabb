import postgres from 'postgres'
import { inTime } from '#src/platform/runtime/index.ts'
import type { Logger } from '../observe/index.ts'
import type { NamedConnection } from './session-name.ts'

const everyMs = 1_000
/** More than the limit of statements: what a server that is there needs to end one, and its answer to arrive. */
const graceMs = 5_000
/** A server that is there answers a new connection in this time. */
const askTimeoutMs = 5_000

/** What the patched driver tells of a connection, and does with it. */
type Connection = {
  /** A statement waits for its answer. */
  readonly waiting: boolean
  /** Another number whenever something arrives, or a statement begins to wait. */
  readonly heard: number
  /** The server's number for it. */
  readonly pid: number | null
  /** Closes it without a word; its statements fail with `CONNECTION_CLOSED`. */
  readonly cut: () => void
}

type State = { heard: number; silentRounds: number }

/** For the driver, which tells of connections as they open and close. */
type Watch = {
  readonly add: (connection: Connection) => void
  readonly delete: (connection: Connection) => void
}

type SilenceOptions = NamedConnection & {
  /** 0: a statement may take any time, so that nothing is given up. */
  readonly statementTimeoutMs: number
  readonly logger: Logger
}

/**
 * Gives up connections to a server that has become silent: one that lost its power or its network closes nothing, and the
 * system would wait for it for a quarter of an hour, or for ever. A statement that got no byte for longer than the server
 * lets statements last will get none, unless the server itself says that it is busy with it: no limit ends a commit that
 * waits for a standby, and a session whose client goes keeps its place there. What is silent is given up with whatever
 * connection has heard nothing since, idle ones and the listening one too: they are opened anew, where the server is then.
 * Silence is counted in rounds, so that a process that was stopped itself takes nothing for silence that it had no time to
 * hear.
 */
export const watchSilence = (options: SilenceOptions): { readonly watch?: Watch } => {
  const { statementTimeoutMs } = options
  if (statementTimeoutMs === 0) return {}
  const silentRoundsMax = Math.ceil((statementTimeoutMs + graceMs) / everyMs)
  const open = new Map<Connection, State>()
  let timer: ReturnType<typeof setInterval> | undefined
  let isAsking = false
  const isLate = (connection: Connection): boolean =>
    connection.waiting && (open.get(connection)?.silentRounds ?? 0) > silentRoundsMax
  const look = async (): Promise<void> => {
    for (const [connection, state] of open) {
      const isSilent = connection.heard === state.heard
      state.heard = connection.heard
      state.silentRounds = isSilent ? state.silentRounds + 1 : 0
    }
    const late = [...open.keys()].filter(isLate)
    if (late.length === 0 || isAsking) return
    isAsking = true
    const isBusy = await busyServer(options)
    isAsking = false
    // Some may have heard something meanwhile.
    judge(open, late.filter(isLate), isBusy, options.logger)
  }
  return {
    watch: {
      add: (connection) => {
        open.set(connection, { heard: connection.heard, silentRounds: 0 })
        timer ??= setInterval(look, everyMs).unref()
      },
      delete: (connection) => {
        open.delete(connection)
        if (open.size > 0) return
        clearInterval(timer)
        timer = undefined
      },
    },
  }
}

/** Those that the server is busy with are counted anew, the others given up, and with them what is silent as long. */
const judge = (
  open: ReadonlyMap<Connection, State>,
  late: readonly Connection[],
  isBusy: (pid: number | null) => boolean,
  logger: Logger,
): void => {
  let given = Number.POSITIVE_INFINITY
  let busy = 0
  for (const connection of late) {
    const state = open.get(connection)
    if (state === undefined) continue
    if (isBusy(connection.pid)) {
      state.silentRounds = 0
      busy++
    } else given = Math.min(given, state.silentRounds)
  }
  if (busy > 0) {
    logger.warn({ connections: busy }, 'the database is there and does not end statements')
  }
  const silent = [...open].filter(([, state]) => state.silentRounds >= given)
  if (silent.length === 0) return
  logger.warn(
    { connections: silent.length, silent_ms: given * everyMs },
    'the database has become silent: its connections are given up',
  )
  for (const [connection] of silent) connection.cut()
}

/**
 * Asks where new connections lead now, on one of its own. A session that waits for its client is not busy: what we sent it,
 * or it sent us, was lost. A server that has no room for the question is there, and would have none for new connections.
 */
const busyServer = async (options: NamedConnection): Promise<(pid: number | null) => boolean> => {
  const sql = postgres(options.dsn, {
    ...options.hosts,
    max: 1,
    connect_timeout: askTimeoutMs / 1_000,
    fetch_types: false,
    prepare: false,
    connection: { application_name: options.name },
    onnotice: () => {},
  })
  try {
    const sessions = sql<{ pid: number }[]>`
      select pid from pg_stat_activity
      where application_name = ${options.name} and state = 'active'
        and wait_event_type is distinct from 'Client'`
    const pids = new Set<number | null>(
      (await inTime(sessions, askTimeoutMs)).map((row) => row.pid),
    )
    return (pid) => pids.has(pid)
  } catch (error) {
    const isFull = error instanceof postgres.PostgresError && error.code === '53300'
    return () => isFull
  } finally {
    void sql.end({ timeout: 0 })
  }
}

/** A statement that has no limit of time: that it is silent says nothing. */
export const patient = <T extends object>(query: T): T => Object.assign(query, { patient: true })
