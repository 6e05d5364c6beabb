import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { inTime } from '#src/platform/runtime/index.ts'
import {
  type Networks,
  networkFault,
  networksOf,
  plainAddress,
} from '#src/platform/security/keys/networks.ts'

/**
 * Addresses by which a private network, a metadata service or this machine could be reached: the special-purpose
 * registries of IANA (RFC 6890), and 168.63.129.16, by which Azure serves its machines.
 */
const deniedV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['192.88.99.0/24', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3', '168.63.129.16/32'],
]
/** All but the global unicast of 2000::/3, and within it what is not of the public Internet. */
const deniedV6 = [
  ...['::/3', '4000::/2', '8000::/1'],
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
]

const httpsPort = 443

/** Targets that the operator allows although they are private, not HTTPS, or on another port. */
export type AllowList = {
  readonly hosts: ReadonlySet<string>
  readonly networks: Networks
}

export type Refusal = 'url' | 'scheme' | 'port' | 'address' | 'dns'

export class TargetError extends Error {
  override readonly name = 'TargetError'
  readonly reason: Refusal

  constructor(reason: Refusal, message: string) {
    super(message)
    this.reason = reason
  }
}

const denied = networksOf([...deniedV4, ...deniedV6])

/** No IPv4 address in the form of IPv6 counts as public, whatever it holds: nobody needs that form. */
const isDenied = (address: string): boolean =>
  plainAddress(address) !== address || denied.has(address)

const isHostName = (entry: string): boolean =>
  isIP(entry) === 0 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(entry)

/** True for a host name, an address, or a network in CIDR notation. */
export const isAllowEntry = (entry: string): boolean =>
  isHostName(entry) || networkFault(entry) === undefined

/** Entries must satisfy {@link isAllowEntry}. */
export const allowListOf = (entries: readonly string[]): AllowList => ({
  hosts: new Set(entries.filter(isHostName)),
  networks: networksOf(entries.filter((entry) => !isHostName(entry))),
})

/**
 * Checks a URL as far as possible before its name is resolved.
 *
 * @throws TargetError
 */
export const checkUrl = (text: string, allowed: AllowList): URL => {
  if (!URL.canParse(text)) throw new TargetError('url', 'is not a URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TargetError('scheme', 'must be an https URL')
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetError('url', 'must hold no user name or password')
  }
  if (url.hash !== '') throw new TargetError('url', 'must hold no fragment')
  const host = hostOf(url)
  const address = isLoopbackName(host) ? '127.0.0.1' : host
  if (isIP(address) !== 0) checkAddress(url, address, allowed)
  else if (!mayBePrivate(host, allowed)) checkPublic(url)
  return url
}

/** The host without brackets, and without the trailing point, which does not change the host. */
const hostOf = (url: URL): string =>
  url.hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()

/** RFC 6761 section 6.3: such a name is this machine, whatever a name server says. */
const isLoopbackName = (host: string): boolean => /^(?:.+\.)?localhost$/.test(host)

/** A name may resolve to an allowed network: only the attempt can tell. */
const mayBePrivate = (host: string, allowed: AllowList): boolean =>
  allowed.hosts.has(host) || !allowed.networks.isEmpty

const checkPublic = (url: URL): void => {
  if (url.protocol !== 'https:') throw new TargetError('scheme', 'must be an https URL')
  if (url.port !== '' && Number(url.port) !== httpsPort) {
    throw new TargetError('port', `must use port ${httpsPort}`)
  }
}

const checkAddress = (url: URL, address: string, allowed: AllowList): void => {
  if (allowed.hosts.has(hostOf(url)) || allowed.networks.has(address)) return
  if (isDenied(address)) {
    throw new TargetError('address', 'leads to an address that is not public')
  }
  checkPublic(url)
}

export type Target = {
  /** The URL with each address in place of the name, in the order of the name server. */
  readonly urls: readonly string[]
  /** For the Host header. */
  readonly host: string
  /** The name that TLS asks for and verifies; undefined if the URL holds an address. */
  readonly serverName: string | undefined
}

/** How many addresses of one name are tried: more would only make an attempt longer. */
const addressesMax = 4
const lookUpMs = 5_000

/** Asks the system, which may ask name servers for longer than an attempt has. */
const systemLookUp = (host: string) => lookup(host, { all: true, verbatim: true })

/**
 * Resolves the name once and checks every address it has. We connect to the address that we checked,
 * so that a second answer of the name server changes nothing. Called at every attempt.
 *
 * @param lookUp injected by tests
 * @throws TargetError `dns` when the name does not resolve in time; the others when an address is not allowed
 */
export const resolveTarget = async (
  text: string,
  allowed: AllowList,
  lookUp: LookUp = systemLookUp,
  timeoutMs = lookUpMs,
): Promise<Target> => {
  const url = checkUrl(text, allowed)
  const host = hostOf(url)
  const isAddress = isIP(host) !== 0
  const addresses = isAddress ? [host] : await addressesOf(host, lookUp, timeoutMs)
  for (const address of addresses) checkAddress(url, address, allowed)
  const port = url.port === '' ? '' : `:${url.port}`
  const urlOf = (address: string): string => {
    const authority = isIP(address) === 6 ? `[${address}]` : address
    return `${url.protocol}//${authority}${port}${url.pathname}${url.search}`
  }
  return {
    urls: addresses.slice(0, addressesMax).map(urlOf),
    host: url.host,
    serverName: isAddress ? undefined : host,
  }
}

export type LookUp = (host: string) => Promise<readonly { readonly address: string }[]>

const addressesOf = async (
  host: string,
  lookUp: LookUp,
  timeoutMs: number,
): Promise<readonly string[]> => {
  try {
    const found = await inTime(lookUp(host), timeoutMs)
    if (found.length > 0) return found.map(({ address }) => address)
  } catch {
    // We throw below: a name that does not resolve in time never counts as checked.
  }
  throw new TargetError('dns', 'the host name does not resolve')
}
