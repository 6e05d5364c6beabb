import { accountShown, newIdempotencyKey, refusalOf, send } from './api.ts'

/**
 * Requests with an unknown outcome stay in the browser's storage, which all tabs and reloaded pages share. Each is an
 * item of its own, since two tabs may write at once. Its name is a digest of account and request, as a request may hold
 * a secret; its text is the time of the first try and the Idempotency-Key.
 */
const prefix = 'trilho-open-act '
const openMax = 100
/** How long the API remembers a key by default. */
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

/** Statuses of the API for an act that is done already and ignores the key; the API Pix uses the first. */
const doneAlready = [400, 404, 409]

/** A browser has digests wherever it keeps our session: over HTTPS and on loopback. */
const itemOf = async (asked: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(asked))
  return `${prefix}${new Uint8Array(digest)}`
}

/**
 * Has an act done once: after a lost answer the same request takes the same Idempotency-Key, even if the user left the
 * question or the page and asks again, here or in another tab.
 *
 * @param onReplay called if the act was done before and nothing was done now
 * @throws Refusal `isSecond`: the act may have been done before and be refused for that reason
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
