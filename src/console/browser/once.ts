import { accountShown, newIdempotencyKey, refusalOf, send } from './api.ts'

/**
 * Requests whose outcome nobody knows, in what the browser keeps for all its tabs: another one, or a page that is loaded
 * anew, has the same acts open. Each is an item of its own, since two tabs write at once: its name is the digest of who
 * asks for what, which may hold a secret; its text, since when it is open, and its Idempotency-Key.
 */
const prefix = 'trilho-open-act '
const openMax = 100
/** As long as the API remembers a key, unless it is set otherwise. */
const openMs = 72 * 3_600_000

/** The oldest first. */
const openActs = (): readonly { readonly item: string; readonly atMs: number }[] =>
  Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? '')
    .filter((item) => item.startsWith(prefix))
    .map((item) => ({ item, atMs: Number(localStorage.getItem(item)?.split(' ')[0]) }))
    .toSorted((a, b) => a.atMs - b.atMs)

const forget = (acts: ReturnType<typeof openActs>): void => {
  for (const { item } of acts) localStorage.removeItem(item)
}

/** @returns its Idempotency-Key, and whether it was open before */
const openAct = (item: string): { readonly key: string; readonly isSecond: boolean } => {
  forget(openActs().filter(({ atMs }) => Date.now() - atMs >= openMs))
  const former = localStorage.getItem(item)?.split(' ')[1]
  if (former !== undefined) return { key: former, isSecond: true }
  forget(openActs().slice(0, -openMax + 1))
  const key = newIdempotencyKey()
  localStorage.setItem(item, `${Date.now()} ${key}`)
  return { key, isSecond: false }
}

/** The statuses of the API for an act without a key that is done already; the API Pix uses the first. */
const doneAlready = [400, 404, 409]

/** A browser has digests where it keeps our session: over HTTPS and on loopback. */
const itemOf = async (asked: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(asked))
  return `${prefix}${new Uint8Array(digest)}`
}

/**
 * Has something done once: after an answer that was lost, the same takes the same Idempotency-Key, also when somebody
 * has left the question meanwhile, or the page, and asks again, here or in another tab.
 *
 * @param onReplay called where it had been done before, and nothing was done now
 * @throws Refusal `isSecond`: it may have been done before, and be refused for that
 */
export const sendOnce = async <T>(
  method: Parameters<typeof send>[0],
  path: string,
  body?: unknown,
  onReplay: () => void = () => {},
): Promise<T> => {
  const item = await itemOf(JSON.stringify([accountShown(), method, path, body]))
  const { key, isSecond } = openAct(item)
  const end = () => localStorage.removeItem(item)
  try {
    const answer = await send<T>(method, path, body, { key, onReplay })
    end()
    return answer
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal.isCertain) {
      end()
      refusal.isSecond = isSecond && !refusal.isReplay && doneAlready.includes(refusal.status)
    }
    throw refusal
  }
}
