import { connect } from 'node:net'
import { type Check, checkOf } from './feature.ts'

const timeoutMs = 3_000
const portDefaults: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 }

/**
 * Whether something listens at an address: no more is asked, since most counterparties do something for whoever sends
 * them a request.
 *
 * @param setting where the address comes from
 */
export const checkReach = async (name: string, url: string, setting: string): Promise<Check> => {
  const { host, port } = addressOf(url)
  const at = `${host}, port ${port}`
  const failure = await connected(host, port)
  const check = checkOf(name)
  return failure === undefined
    ? check.ok(`${at} can be reached`)
    : check.failed(
        `${at} cannot be reached: ${failure}`,
        `check ${setting}, what listens there, and the network between`,
      )
}

/** Why nothing can be reached at the address; undefined if something can. */
export const whyAway = (url: string): Promise<string | undefined> => {
  const { host, port } = addressOf(url)
  return connected(host, port)
}

export const addressOf = (url: string): { readonly host: string; readonly port: number } => {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: Number(port || portDefaults[protocol]) }
}

/** Undefined if it is; otherwise why not. */
const connected = async (host: string, port: number): Promise<string | undefined> => {
  const ended = Promise.withResolvers<string | undefined>()
  const socket = connect({ host, port, timeout: timeoutMs })
  socket.once('connect', () => ended.resolve(undefined))
  socket.once('timeout', () => ended.resolve(`no answer in ${timeoutMs / 1000} s`))
  socket.once('error', (error: NodeJS.ErrnoException) => ended.resolve(error.code ?? error.message))
  try {
    return await ended.promise
  } finally {
    socket.destroy()
  }
}
