import { isIP } from 'node:net'
import { networkFault, networksOf } from '../security/keys/networks.ts'
import { addressOf } from './reach.ts'

/**
 * True if calls to the address go through a proxy: then a connection of our own tells nothing. Calls over HTTP alone do,
 * by the variables that the runtime follows, each in either case of letters: `http_proxy` or `https_proxy`, else
 * `all_proxy`, and `no_proxy` for those that do not.
 */
export const isProxied = (url: string): boolean => {
  const proxy = variable(`${new URL(url).protocol.slice(0, -1)}_proxy`) || variable('all_proxy')
  if (proxy === '') return false
  const { host, port } = addressOf(url)
  const name = host.replace(/\.$/, '')
  return !variable('no_proxy')
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => isMeant(entry, name, port))
}

const variable = (name: string): string =>
  process.env[name] || process.env[name.toUpperCase()] || ''

/** An entry is `*`, a host or the end of its name, an address or a network; all but the first may have a port. */
const isMeant = (entry: string, host: string, port: number): boolean => {
  if (entry === '*') return true
  const [start = ''] = entry.split('/')
  const parted = isIP(start) === 6 ? null : /^([^:]*|\[.*):(\d+)$/.exec(entry)
  if (parted !== null && Number(parted[2]) !== port) return false
  const name = (parted?.[1] ?? entry)
    .replace(/^\*?\./, '')
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]/, '$1')
  if (isIP(host) > 0) return networkFault(name) === undefined && networksOf([name]).has(host)
  return name !== '' && (host === name || host.endsWith(`.${name}`))
}
