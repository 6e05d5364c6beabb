import type { Client } from './database.ts'
import { failedSocket, type HostOptions } from './primary.ts'

/** Nobody has reached the database yet, or its schema is not this program's: to its users, it is away. */
class DatabaseNotReadyError extends Error {
  override readonly name = 'DatabaseNotReadyError'
  readonly code = 'DATABASE_NOT_READY'
  /** The feature that closed the gate tells why. */
  readonly isToldAlready = true
  constructor() {
    super('the database cannot be used yet')
  }
}

/** Keeps everybody from a database until its schema is this program's. Open until somebody closes it. */
export type Gate = {
  /** Before the first connection is made. */
  readonly close: () => void
  readonly open: () => void
  /** @throws DatabaseNotReadyError while it is closed: for connections beside the pool */
  readonly demandOpen: () => void
}

/** While it is closed, connections of the pool and the listening one fail before they are made. */
export const createGate = (sql: Client, { socket }: HostOptions): Gate => {
  let isClosed = false
  const setSocket = (made: HostOptions['socket']): void => {
    // The listening connection has a client of its own, made of the options of this one.
    const { sql: listening } = sql.listen as { readonly sql?: Client }
    for (const client of [sql, listening]) {
      if (client !== undefined) Object.assign(client.options, { socket: made })
    }
  }
  return {
    close: () => {
      isClosed = true
      setSocket(async () => failedSocket(new DatabaseNotReadyError()))
    },
    open: () => {
      isClosed = false
      setSocket(socket)
    },
    demandOpen: () => {
      if (isClosed) throw new DatabaseNotReadyError()
    },
  }
}
