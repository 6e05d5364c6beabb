import { type Kind, secretUrlOf, show, urlParts } from './kinds.ts'

const schemes = ['postgres://', 'postgresql://']
const hostForm = /^(?:\[[0-9a-fA-F:.]+\]|[^[\]:,\s]*)(?::(\d{1,5}))?$/
const hostsMax = 16
const targetParameter = 'target_session_attrs'
/** What writes payments is no use on a standby, so the others that libpq knows are refused. */
const targets = ['any', 'read-write', 'primary'] as const

export type DatabaseUrl = {
  /** The same connection string for each host. */
  readonly servers: readonly [string, ...string[]]
  /** Only a server that takes writes will do, as `target_session_attrs` says; the default with several hosts. */
  readonly isPrimary: boolean
}

/**
 * A connection string as libpq knows it, with one host or several (`h1:5432,h2`).
 *
 * @throws Error with what is wrong
 */
export const parseDatabaseUrl = (value: string): DatabaseUrl => {
  const { scheme, user, hosts: authority, rest } = urlParts(value)
  if (!schemes.includes(scheme)) throw new Error('is not a URL of PostgreSQL')
  const hosts = authority.split(',')
  if (hosts.length > hostsMax) throw new Error(`names more than ${hostsMax} hosts`)
  for (const host of hosts) {
    const found = hostForm.exec(host)
    if (found === null || (host === '' && hosts.length > 1))
      throw new Error(`has a host that is none`)
    if (Number(found[1] ?? 1) < 1 || Number(found[1] ?? 1) > 65_535) {
      throw new Error('names a port outside 1 to 65535')
    }
  }
  const [path = '', query = ''] = rest.split(/\?(.*)/s)
  const parameters = query.split('&').filter((one) => one !== '')
  const others = parameters.filter((one) => !one.startsWith(`${targetParameter}=`))
  const [given] = parameters.filter((one) => !others.includes(one))
  const named = given?.slice(targetParameter.length + 1) ?? (hosts.length > 1 ? 'primary' : 'any')
  const target = targets.find((one) => one === named)
  if (target === undefined) {
    throw new Error(`has a ${targetParameter} that is none of ${targets.join(', ')}`)
  }
  const ending = `${path}${others.length === 0 ? '' : `?${others.join('&')}`}`
  const servers = hosts.map((host) => scheme + user + host + ending)
  if (servers.some((one) => URL.parse(one) === null)) throw new Error('is not a URL')
  return { servers: servers as [string, ...string[]], isPrimary: target !== 'any' }
}

/** A connection string of PostgreSQL, of one host or several. */
export const databaseUrl = (): Kind<string> => {
  const parse = (value: string): string => {
    parseDatabaseUrl(value)
    return value
  }
  const expected = 'URL with `postgres://`, of one host or several (`h1:5432,h2:5432`)'
  return secretUrlOf({ expected, parse }, show)
}
