/** A name that no other host can set: browsers take `__Host-` only from this very host, over HTTPS. */
const secureName = '__Host-trilho-console'
/** Not every browser keeps a secure cookie of plain loopback. */
const loopbackName = 'trilho-console'

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

const isPlainLoopback = (url: URL): boolean =>
  url.protocol === 'http:' && loopback.has(url.hostname)

/** The value of our cookie; undefined: none, or two of them. */
export const readCookie = (request: Request): string | undefined => {
  const name = isPlainLoopback(new URL(request.url)) ? loopbackName : secureName
  const values = (request.headers.get('cookie') ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))
  return values.length === 1 ? values[0] : undefined
}

/** A `Set-Cookie` header. @param maxAgeSeconds 0 takes the cookie away */
export const writeCookie = (request: Request, value: string, maxAgeSeconds: number): string => {
  const common = `HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAgeSeconds}`
  return isPlainLoopback(new URL(request.url))
    ? `${loopbackName}=${value}; ${common}`
    : `${secureName}=${value}; Secure; ${common}`
}
