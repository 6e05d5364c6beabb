import { newIdempotencyKey, refusalOf, send } from './api.ts'

/** The keys of requests whose outcome nobody knows, by the digest of what they ask for: that may hold a secret. */
const open = new Map<string, string>()

/** Over plain HTTP a browser has no digests. */
const nameOf = async (asked: string): Promise<string> =>
  'subtle' in crypto
    ? new Uint8Array(
        await crypto.subtle.digest('SHA-256', new TextEncoder().encode(asked)),
      ).toString()
    : asked

/**
 * Has something done once: after an answer that was lost, the same takes the same Idempotency-Key, also when somebody
 * has left the question meanwhile and asks anew.
 *
 * @param onReplay called where it had been done before, and nothing was done now
 */
export const sendOnce = async <T>(
  method: Parameters<typeof send>[0],
  path: string,
  body?: unknown,
  onReplay: () => void = () => {},
): Promise<T> => {
  const name = await nameOf(JSON.stringify([method, path, body]))
  const key = open.get(name) ?? newIdempotencyKey()
  open.set(name, key)
  try {
    const answer = await send<T>(method, path, body, { key, onReplay })
    open.delete(name)
    return answer
  } catch (error) {
    if (refusalOf(error).isCertain) open.delete(name)
    throw error
  }
}
