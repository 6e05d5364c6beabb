import { type Target, TargetError } from './target.ts'

/** Why a request got no answer: `target_…` where the guard refused it, `timeout`, or `connection`. */
export const failureClassOf = (error: unknown): string => {
  if (error instanceof TargetError) return `target_${error.reason}`
  const name = error instanceof Error ? error.name : ''
  return name === 'TimeoutError' || name === 'AbortError' ? 'timeout' : 'connection'
}

/**
 * Makes the request to the target's addresses, one after the other, as long as none can be connected to. The answer is
 * not decompressed: a few bytes may stand for gigabytes, which the runtime would hold at once.
 *
 * @param own - authorities in PEM that take the place of the system's, and the certificate to show
 */
export const firstAnswer = async (
  target: Target,
  request: RequestInit,
  own: { readonly ca?: readonly string[]; readonly cert?: string; readonly key?: string } = {},
): Promise<Response> => {
  const { serverName } = target
  const tls = {
    ...(serverName === undefined ? {} : { serverName }),
    ...(own.cert === undefined ? {} : { cert: own.cert }),
    ...(own.key === undefined ? {} : { key: own.key }),
    ...(own.ca === undefined ? {} : { ca: [...own.ca] }),
  }
  let failure: unknown
  for (const url of target.urls) {
    const isTls = url.startsWith('https:')
    try {
      // A pooled TLS connection would keep the name that it was opened for.
      return await fetch(url, {
        ...request,
        decompress: false,
        keepalive: !isTls,
        ...(isTls ? { tls } : {}),
      })
    } catch (error) {
      if (failureClassOf(error) !== 'connection') throw error
      failure = error
    }
  }
  throw failure
}
