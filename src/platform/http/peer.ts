import { createHash } from 'node:crypto'
import { type Networks, plainAddress } from '../security/keys/networks.ts'

/** The part of Bun's server that knows the other ends of its connections. */
export type Peers = {
  readonly requestIP: (request: Request) => { readonly address: string } | null
}

/**
 * Where a request comes from: the other end of the connection or, if that is a trusted proxy, the last address of
 * X-Forwarded-For that is not one. Anybody may have written the addresses further left.
 *
 * @param peer the other end; undefined where it is not known
 */
export const forwardedFor = (
  peer: string | undefined,
  forwarded: string,
  trusted: Networks | undefined,
): string | undefined => {
  let address = peer
  const hops = forwarded.split(',')
  while (address !== undefined && trusted?.has(address) === true) {
    const hop = hops.pop()?.trim()
    if (hop === undefined || hop === '') break
    address = withoutPort(hop)
  }
  return address === undefined ? undefined : plainAddress(address)
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop

/**
 * SHA-256 of the client's certificate (RFC 8705 section 3.1), in base64url, where a trusted proxy has asked for one and
 * tells of it in `Client-Cert` (RFC 9440 section 2.2). From anybody else the header says nothing.
 *
 * @param peer the other end of the connection
 */
export const shownCertificate = (
  peer: string | undefined,
  header: string | null,
  trusted: Networks | undefined,
): string | undefined => {
  if (header === null || peer === undefined || trusted?.has(peer) !== true) return undefined
  const encoded = /^\s*:([A-Za-z0-9+/]+={0,2}):\s*$/.exec(header)?.[1]
  if (encoded === undefined) return undefined
  return createHash('sha256').update(Buffer.from(encoded, 'base64')).digest('base64url')
}
