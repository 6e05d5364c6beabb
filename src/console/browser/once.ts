import { newIdempotencyKey, refusalOf, send } from './api.ts'

/** The keys of requests whose outcome nobody knows, by what they ask for. */
const open = new Map<string, string>()

/**
 * Has something done once: after an answer that was lost, the same takes the same Idempotency-Key, also when somebody
 * has left the question meanwhile and asks anew.
 */
export const sendOnce = async <T>(
  method: Parameters<typeof send>[0],
  path: string,
  body?: unknown,
): Promise<T> => {
  const name = JSON.stringify([method, path, body])
  const key = open.get(name) ?? newIdempotencyKey()
  open.set(name, key)
  try {
    const answer = await send<T>(method, path, body, key)
    open.delete(name)
    return answer
  } catch (error) {
    if (refusalOf(error).isCertain) open.delete(name)
    throw error
  }
}
