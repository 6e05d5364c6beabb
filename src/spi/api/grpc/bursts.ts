import { constants, type Http2Session } from 'node:http2'
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js'

/** The library's own object, just before we intercept it. */
type OnConnection = { readonly stream: { readonly session: Http2Session | undefined } }

/**
 * Ends a connection that begins more than `callsMax` calls in one turn of the event loop: thousands fit into what the
 * system gives at once, and the whole process would stand still until the last is answered.
 *
 * @param onCut called once for each such connection
 * @returns to be called with each call as it begins; false where its connection ends
 */
export const createBursts = (
  callsMax: number,
  onCut: () => void,
): ((base: ServerInterceptingCallInterface) => boolean) => {
  const begun = new Map<Http2Session, number>()
  return (base) => {
    const { session } = (base as unknown as OnConnection).stream
    if (session === undefined || session.destroyed) return false
    if (begun.size === 0) setImmediate(() => begun.clear())
    const count = (begun.get(session) ?? 0) + 1
    begun.set(session, count)
    if (count <= callsMax) return true
    onCut()
    session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    return false
  }
}
