import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TlsOptions } from '../security/key-material.ts'
import { type Check, checkOf } from './feature.ts'

const timeoutMs = 3_000
const portDefaults: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 }

/**
 * Whether something listens at an address, and over TLS shows a good certificate. We ask no more, since most
 * counterparties act on every request.
 *
 * @param setting where the address comes from
 * @param tls the options of calls to it
 */
export const checkReach = async (
  name: string,
  url: string,
  setting: string,
  tls?: TlsOptions,
): Promise<Check> => {
  const { host, port } = addressOf(url)
  const at = `${host}, port ${port}`
  const failure = await whyAway(url, tls)
  const check = checkOf(name)
  return failure === undefined
    ? check.ok(`${at} can be reached`)
    : check.failed(
        `${at} cannot be reached: ${failure}`,
        `check ${setting}, what listens there, its certificate over TLS, and the network between`,
      )
}

/** Why nothing can be reached at the address; undefined if something can. */
export const whyAway = async (url: string, tls?: TlsOptions): Promise<string | undefined> => {
  const place = { ...addressOf(url), timeout: timeoutMs }
  const isSecure = new URL(url).protocol === 'https:'
  const ended = Promise.withResolvers<string | undefined>()
  const socket = isSecure
    ? connectTls({ ...place, ...tls, servername: isIP(place.host) === 0 ? place.host : '' })
    : connect(place)
  socket.once(isSecure ? 'secureConnect' : 'connect', () => ended.resolve(undefined))
  socket.once('timeout', () => ended.resolve(`no answer in ${timeoutMs / 1000} s`))
  socket.once('error', (error: NodeJS.ErrnoException) => ended.resolve(error.code ?? error.message))
  socket.once('close', () => ended.resolve('the connection was closed'))
  try {
    return await ended.promise
  } finally {
    socket.destroy()
  }
}

export const addressOf = (url: string): { readonly host: string; readonly port: number } => {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: Number(port || portDefaults[protocol]) }
}
