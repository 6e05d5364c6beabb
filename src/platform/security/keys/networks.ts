import { BlockList, isIP } from 'node:net'

/** Addresses and networks in CIDR notation, looked up by address. */
export type Networks = {
  readonly isEmpty: boolean
  /** False for what is no address. */
  readonly has: (address: string) => boolean
}

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** An IPv4 address as a socket of both families gives it is that IPv4 address. */
export const plainAddress = (address: string): string => mapped.exec(address)?.[1] ?? address

/** True for `10.1.2.3`, `10.0.0.0/8`, `2001:db8::/32`. */
export const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0 || address.includes('%')) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsOf(family))
}

/** @param entries each satisfies {@link isNetwork} */
export const networksOf = (entries: readonly string[]): Networks => {
  // One list per family: a list with both takes every IPv4 address for `::ffff:0:0/96`.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const entry of entries) {
    const [given = '', bits] = entry.split('/')
    const address = plainAddress(given)
    const family = isIP(address)
    lists[nameOf(family)].addSubnet(address, Number(bits ?? bitsOf(family)), nameOf(family))
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
