import { accountShown, newIdempotencyKey, refusalOf, send } from './api.ts'

/** A request whose outcome nobody knows. */
type Open = {
  /** The digest of who asks for what: that may hold a secret. */
  readonly name: string
  /** Its Idempotency-Key. */
  readonly key: string
  readonly atMs: number
}

/** In what the browser keeps for the tab: a page that is loaded anew has the same acts open. */
const item = 'trilho-open-acts'
const openMax = 100
/** As long as the API remembers a key, unless it is set otherwise. */
const openMs = 72 * 3_600_000

const readOpen = (): readonly Open[] => {
  const kept = JSON.parse(sessionStorage.getItem(item) ?? '[]') as readonly Open[]
  return kept.filter(({ atMs }) => Date.now() - atMs < openMs)
}

const keepOpen = (acts: readonly Open[]): void =>
  sessionStorage.setItem(item, JSON.stringify(acts.slice(-openMax)))

/** So the API refuses what is done already and takes no key; the API Pix by the first. */
const doneAlready = [400, 404, 409]

/** A browser has digests where it keeps our session: over HTTPS and on loopback. */
const nameOf = async (asked: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(asked))).toString()

/**
 * Has something done once: after an answer that was lost, the same takes the same Idempotency-Key, also when somebody
 * has left the question meanwhile, or loaded the page anew, and asks again.
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
  const name = await nameOf(JSON.stringify([accountShown(), method, path, body]))
  const acts = readOpen()
  const former = acts.find((one) => one.name === name)
  const { key } = former ?? { key: newIdempotencyKey() }
  if (former === undefined) keepOpen([...acts, { name, key, atMs: Date.now() }])
  const end = () => keepOpen(readOpen().filter((one) => one.name !== name))
  try {
    const answer = await send<T>(method, path, body, { key, onReplay })
    end()
    return answer
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal.isCertain) {
      end()
      refusal.isSecond =
        former !== undefined && !refusal.isReplay && doneAlready.includes(refusal.status)
    }
    throw refusal
  }
}
