import { BlockList, isIP } from 'node:net'

/** Addresses and networks in CIDR notation, looked up by address. */
export type Networks = {
  readonly isEmpty: boolean
  /** False for what is no address. */
  readonly has: (address: string) => boolean
}

/** The bits before the IPv4 address of `::ffff:0:0/96`, and what such an address is in the form that URLs have. */
const mappedBits = 96
const mapped = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/

/** An IPv4 address as a socket of both families gives it, in whatever form, is that IPv4 address. */
export const plainAddress = (address: string): string => {
  if (!/:ffff:/i.test(address)) return address
  const groups = mapped.exec(URL.parse(`http://[${address}]`)?.hostname ?? '')?.slice(1)
  if (groups === undefined) return address
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}

/** True for `10.1.2.3`, `10.0.0.0/8`, `2001:db8::/32`. */
export const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0 || address.includes('%')) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsOf(family))
}

/** Why a text is not a network that one may name now; undefined: it is. */
export const networkFault = (text: string): string | undefined => {
  if (!isNetwork(text)) return 'no address and no network in CIDR notation'
  const [address = '', bits = mappedBits] = text.split('/')
  return plainAddress(address) === address || Number(bits) >= mappedBits
    ? undefined
    : `${text} has fewer than ${mappedBits} bits: name the network of IPv4`
}

/**
 * Keys were stored with `::ffff:10.0.0.0/8` for 10.0.0.0/8, and mean that still.
 *
 * @param entries each satisfies {@link isNetwork}
 */
export const networksOf = (entries: readonly string[]): Networks => {
  // One list per family: a list with both takes every IPv4 address for `::ffff:0:0/96`.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  const add = (address: string, bits: number): void => {
    const name = nameOf(isIP(address))
    lists[name].addSubnet(address, bits, name)
  }
  for (const entry of entries) {
    const [given = '', length] = entry.split('/')
    const bits = Number(length ?? bitsOf(isIP(given)))
    const address = plainAddress(given)
    const isShort = bits <= bitsOf(4)
    if (address === given || (bits < mappedBits && !isShort)) add(given, bits)
    else add(address, isShort ? bits : bits - mappedBits)
  }
  return {
    isEmpty: entries.length === 0,
    has: (given) => {
      const address = plainAddress(given)
      const family = isIP(address)
      return family !== 0 && lists[nameOf(family)].check(address, nameOf(family))
    },
  }
}

const bitsOf = (family: number): number => (family === 4 ? 32 : 128)

const nameOf = (family: number): 'ipv4' | 'ipv6' => (family === 6 ? 'ipv6' : 'ipv4')
