import type { Logger } from '../observe/index.ts'

/** A URL has the last in brackets. */
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/

/** Whether nobody else sees requests to the host. */
export const isHere = (host: string): boolean => loopback.test(host)

/** Whether others can read and change requests to the address, and its answers, on the way. */
export const isReadableOnTheWay = (url: string): boolean => {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isHere(hostname)
}

/** Warns at the start of clear text, if the address of the setting is plain http to another machine. */
export const warnOfClearText = (
  logger: Logger,
  setting: string,
  url: string | undefined,
  what: string,
): void => {
  if (url === undefined || !isReadableOnTheWay(url)) return
  logger.warn({ setting }, `${setting} is plain http to another machine: ${what} pass in clear`)
}
