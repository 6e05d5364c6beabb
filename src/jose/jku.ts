/** Longest address of a key set in a token. */
const jkuCharsMax = 2048

const urlOf = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

/** An entry of the allow-list: an address, or with `/` at its end everything below it. @throws Error */
export const checkJkuEntry = (text: string): string => {
  const url = urlOf(text)
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error('is no https URL')
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new Error('holds a query, a fragment or a password')
  }
  return url.href
}

/**
 * The address in a token as it may be read; undefined if no entry allows it. Compared as URLs, so that neither
 * `host.evil` nor `..` nor another spelling gets past.
 */
export const allowedJku = (jku: unknown, entries: readonly string[]): string | undefined => {
  if (typeof jku !== 'string' || jku.length > jkuCharsMax) return undefined
  const url = urlOf(jku)
  if (url === undefined || url.hash !== '' || url.username !== '' || url.password !== '') {
    return undefined
  }
  // A server may take an escaped separator for one, and leave the folder that the entry names.
  if (/%2f|%5c/i.test(url.pathname)) return undefined
  const isAllowed = entries.some((entry) =>
    entry.endsWith('/')
      ? `${url.origin}${url.pathname}`.startsWith(entry)
      : `${url.origin}${url.pathname}` === entry && url.search === '',
  )
  return isAllowed ? url.href : undefined
}
