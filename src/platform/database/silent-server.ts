import type { Logger } from '../observe/index.ts'

const everyMs = 1_000
/** More than the limit of statements: what a server that is there needs to end one, and its answer to arrive. */
const graceMs = 5_000

/** What the patched driver tells of a connection, and does with it. */
type Connection = {
  /** A statement waits for its answer. */
  readonly waiting: boolean
  /** Another number whenever something arrives, or a statement begins to wait. */
  readonly heard: number
  /** Closes it without a word; its statements fail with `CONNECTION_CLOSED`. */
  readonly cut: () => void
}

/** For the driver, which tells of connections as they open and close. */
type Watch = {
  readonly add: (connection: Connection) => void
  readonly delete: (connection: Connection) => void
}

/**
 * Gives up connections to a server that has become silent: one that lost its power or its network closes nothing, and the
 * system would wait for it for a quarter of an hour, or for ever. A statement that got no byte for longer than the server
 * lets statements last will get none, and so will whatever connection has heard nothing since, idle ones and the listening
 * one too: they are opened anew, where the server is then. Silence is counted in rounds, so that a process that was stopped
 * itself takes nothing for silence that it had no time to hear.
 *
 * @param statementTimeoutMs 0: a statement may take any time, so that nothing is given up
 */
export const watchSilence = (
  statementTimeoutMs: number,
  logger: Logger,
): { readonly watch?: Watch } => {
  if (statementTimeoutMs === 0) return {}
  const silentRoundsMax = Math.ceil((statementTimeoutMs + graceMs) / everyMs)
  const open = new Map<Connection, { heard: number; silentRounds: number }>()
  let timer: ReturnType<typeof setInterval> | undefined
  const look = (): void => {
    let given: number | undefined
    for (const [connection, state] of open) {
      const isSilent = connection.heard === state.heard
      state.heard = connection.heard
      state.silentRounds = isSilent ? state.silentRounds + 1 : 0
      if (!connection.waiting || state.silentRounds <= silentRoundsMax) continue
      given = Math.min(given ?? state.silentRounds, state.silentRounds)
    }
    if (given === undefined) return
    const silent = [...open].filter(([, state]) => state.silentRounds >= given)
    logger.warn(
      { connections: silent.length, silent_ms: given * everyMs },
      'the database has become silent: its connections are given up',
    )
    for (const [connection] of silent) connection.cut()
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

/** A statement that has no limit of time: that it is silent says nothing. */
export const patient = <T extends object>(query: T): T => Object.assign(query, { patient: true })
