import { readFileSync } from 'node:fs'
import { connect, Socket } from 'node:net'
import postgres from 'postgres'
import { type DatabaseUrl, parseDatabaseUrl, type TlsFiles } from '../config/index.ts'

const portDefault = 5432
const askTimeoutSeconds = 2
/** This holds for the connection and what is asked on it together. */
const askTimeoutMs = 2 * askTimeoutSeconds * 1_000
/** Connections of a pool are opened together, and ask once. */
const freshMs = 1_000

/** Further options of the driver: none, or its way to a socket and the files of its TLS. */
export type HostOptions = {
  readonly socket?: () => Promise<Socket>
  readonly ssl?: Partial<Record<keyof TlsFiles, Buffer>>
}

/**
 * A connection string may have several hosts: every new connection goes to the one that takes writes now. A host that
 * took them before disconnects its clients when it restarts as a standby, and they come back here. While there is none,
 * connections fail: one to a standby would stay there, whichever host is promoted. We do not use the driver's own
 * search: it takes a standby for a host that is `read-write`, and while there is no such host it asks all of them again
 * and again without a pause.
 */
export const hostOptions = (dsn: string): HostOptions => {
  const options = known.get(dsn) ?? optionsOf(parseDatabaseUrl(dsn))
  known.set(dsn, options)
  return options
}

/** The pool, the consumers and the migrations of one database ask together, and read the files of its TLS once. */
const known = new Map<string, HostOptions>()

const optionsOf = (url: DatabaseUrl): HostOptions => {
  const tls = tlsOf(url)
  return { ...tls, ...(url.servers.length > 1 && { socket: socketOf(createFinder(url, tls)) }) }
}

const tlsOf = ({ tlsFiles }: DatabaseUrl): Pick<HostOptions, 'ssl'> => {
  if (tlsFiles === undefined) return {}
  const files = Object.entries(tlsFiles).map(([option, path]) => [option, readFileSync(path)])
  return { ssl: Object.fromEntries(files) }
}

/** The hosts answer, and none takes writes now. */
class ReadOnlyError extends Error {
  override readonly name = 'ReadOnlyError'
  /** The code that a standby answers with. */
  readonly code = '25006'
  constructor() {
    super('none of the hosts takes writes')
  }
}

type Finder = () => Promise<string>

const createFinder = ({ servers, isPrimary }: DatabaseUrl, tls: HostOptions): Finder => {
  let asked: { readonly atMs: number; readonly found: Promise<string> } | undefined
  let turn = 0
  // If no host will do, says that none takes writes, or else reports the hosts' errors in turn.
  const find = (): Promise<string> =>
    Promise.any(servers.map((server) => demand(server, isPrimary, tls))).catch(
      ({ errors }: AggregateError) => {
        throw (
          errors.find((error) => error instanceof ReadOnlyError) ?? errors[turn++ % errors.length]
        )
      },
    )
  return () => {
    const nowMs = performance.now()
    if (asked === undefined || nowMs - asked.atMs > freshMs) asked = { atMs: nowMs, found: find() }
    return asked.found
  }
}

/** Resolves to the server if it answers, and takes writes where that is needed. */
const demand = async (server: string, isPrimary: boolean, tls: HostOptions): Promise<string> => {
  const sql = postgres(server, {
    ...tls,
    max: 1,
    connect_timeout: askTimeoutSeconds,
    onnotice: () => {},
  })
  const end = (): void => void sql.end({ timeout: 0 })
  const late = setTimeout(end, askTimeoutMs)
  try {
    const [row] = await sql<{ writes: boolean }[]>`
      select not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'off'
        as writes`
    if (isPrimary && row?.writes !== true) throw new ReadOnlyError()
    return server
  } finally {
    clearTimeout(late)
    end()
  }
}

const socketOf = (find: Finder) => async (): Promise<Socket> => {
  let server: string
  try {
    server = await find()
  } catch (error) {
    return failedSocket(error)
  }
  const { hostname, port } = new URL(server)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const socket = connect(Number(port || portDefault), host)
  // The driver verifies the server's certificate for this name.
  return Object.assign(socket, { host })
}

/** The driver takes errors only from sockets: an error on another way costs the pool a connection for ever. */
export const failedSocket = (reason: unknown): Socket => {
  const socket = new Socket()
  // The driver notes on an error which statement met it.
  const own = reason instanceof Error ? Object.assign(new Error(reason.message), reason) : reason
  setImmediate(() => socket.destroy(own as Error))
  return socket
}
