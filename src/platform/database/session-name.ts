import { randomBytes } from 'node:crypto'
import { parseDatabaseUrl } from '../config/index.ts'
import { type HostOptions, hostOptions } from './primary.ts'

/** The same for all connections of this process, so that the server can tell them from those of other processes. */
const processId = randomBytes(4).toString('hex')
const baseDefault = 'trilho'
/** The server cuts names at 63. */
const baseCharactersMax = 40
const parameter = 'application_name'

export type NamedConnection = {
  /** Without a name, which the driver would prefer, and with only the first of several hosts. */
  readonly dsn: string
  /** Begins with the name that the connection string asks for. */
  readonly name: string
  /** Lets the driver find the right one of several hosts. */
  readonly hosts: HostOptions
}

const baseOf = (url: URL | null): string =>
  url?.searchParams.get(parameter)?.slice(0, baseCharactersMax) || baseDefault

/** The beginning that the names of all processes with this connection string share. */
export const sessionBase = (given: string): string =>
  baseOf(URL.parse(parseDatabaseUrl(given).servers[0]))

/** The names of this process's connections on the server, by purpose. */
export const namedConnection = (given: string, purpose?: 'broker'): NamedConnection => {
  const [dsn] = parseDatabaseUrl(given).servers
  const hosts = hostOptions(given)
  const url = URL.parse(dsn)
  const base = baseOf(url)
  const name = [base, processId, ...(purpose === undefined ? [] : [purpose])].join('-')
  if (url === null || !url.searchParams.has(parameter)) return { dsn, name, hosts }
  url.searchParams.delete(parameter)
  return { dsn: url.href, name, hosts }
}
