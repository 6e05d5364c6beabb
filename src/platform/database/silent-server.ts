import postgres from 'postgres'
import { inTime } from '#src/platform/runtime/index.ts'
import type { Logger } from '../observe/index.ts'
import type { NamedConnection } from './session-name.ts'

const everyMs = 1_000
/** How much longer than their limit statements may take: the time to end one, and for the answer to arrive. */
const graceMs = 5_000
/** A server that is there answers a new connection in this time. */
const askTimeoutMs = 5_000

/** A connection, as the patched driver shows it. */
type Connection = {
  /** A statement waits for its answer. */
  readonly waiting: boolean
  /** Changes whenever something arrives, or a statement begins to wait. */
  readonly heard: number
  /** The server's number for it. */
  readonly pid: number | null
  /** Closes it without a word; its statements fail with `CONNECTION_CLOSED`. */
  readonly cut: () => void
}

type State = { heard: number; silentRounds: number }

/** The driver calls it as connections open and close. */
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
 * Gives up connections to a silent server: a server that lost its power or its network closes nothing, and the system
 * would wait for it for a quarter of an hour, or for ever. A statement that got no byte for longer than the server lets
 * statements last will get none, unless the server itself says that it is busy with it: no limit ends a commit that
 * waits for a standby, and a session whose client goes keeps its place there. With a silent connection we give up every
 * other that has heard nothing since, even idle ones and the listening one: they open anew, to where the server is
 * then. Silence is counted in rounds, so that a process that was stopped itself does not take for silence what it had
 * no time to hear.
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
    // Some connections may have heard something meanwhile.
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

/** Counts anew for connections that the server works for, and gives up the others and all that are silent as long. */
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
 * Asks where new connections lead now, on one of its own. A session that waits for its client is not busy: what we sent
 * it, or it sent us, was lost. A server without room for the question is there, and would have no room for new
 * connections.
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

/** Marks a statement without a time limit: its silence says nothing. */
export const patient = <T extends object>(query: T): T => Object.assign(query, { patient: true })
