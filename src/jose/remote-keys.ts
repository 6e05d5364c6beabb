import { OutsideError, type ReadOutside } from '#src/platform/http/index.ts'
import { keySetBytesMax, readKeySetText } from './key-set.ts'
import type { VerificationKey } from './names.ts'

/** We could not get the keys at an address; the message says why. */
export class KeysUnavailableError extends Error {
  override readonly name = 'KeysUnavailableError'
}

/**
 * The keys of the JWK set at an address.
 *
 * @param account - who asks
 * @param isFresh - the set must not be older than some seconds: a key that is looked for may be new
 * @throws KeysUnavailableError
 */
export type RemoteKeys = (
  url: string,
  account: string | undefined,
  isFresh?: boolean,
) => Promise<readonly VerificationKey[]>

const keptMs = 300_000
/** Tokens with unknown keys, or with an unreadable set, do not make us ask more often than this. */
const freshMs = 10_000
const setsMax = 64

type Kept = {
  readonly atMs: number
  readonly keys: Promise<readonly VerificationKey[]>
  isRead: boolean
  /** The set serves nobody, but its failure does, until it is time to ask again. */
  hasFailed: boolean
  /** The set that serves until this one is read, and again if it cannot be. */
  former: Kept | undefined
}

/** Reads key sets, and keeps each for some minutes. */
export const createRemoteKeys = (
  read: ReadOutside,
  nowMs: () => number = () => performance.now(),
): RemoteKeys => {
  const kept = new Map<string, Kept>()

  const readSet = async (
    url: string,
    account: string | undefined,
  ): Promise<readonly VerificationKey[]> => {
    const accept = 'application/jwk-set+json, application/json'
    const request = { accept, bytesMax: keySetBytesMax, account }
    const { status, body } = await read(url, request).catch((error: unknown) => {
      if (!(error instanceof OutsideError)) throw error
      throw new KeysUnavailableError(`the key set cannot be read: ${error.message}`)
    })
    if (status !== 200) throw new KeysUnavailableError(`the key set is answered with ${status}`)
    const keys = readKeySetText(body, 'jku')
    if (keys === undefined) throw new KeysUnavailableError('what is there is no JWK set')
    return keys
  }

  return (url, account, isFresh = false) => {
    const isYoung = ({ atMs }: Kept, maxMs = keptMs) => nowMs() - atMs < maxMs
    const known = kept.get(url)
    const former = known?.isRead === false ? known.former : known
    if (!isFresh && former !== undefined && isYoung(former)) return former.keys
    const maxMs = isFresh || known?.hasFailed === true ? freshMs : keptMs
    if (known !== undefined && isYoung(known, maxMs)) return known.keys
    const made: Kept = {
      atMs: nowMs(),
      keys: readSet(url, account),
      isRead: false,
      hasFailed: false,
      former,
    }
    kept.delete(url)
    kept.set(url, made)
    const [oldest] = kept.keys()
    if (kept.size > setsMax && oldest !== undefined) kept.delete(oldest)
    made.keys.then(
      () => {
        made.isRead = true
        made.former = undefined
      },
      (error: unknown) => {
        made.hasFailed = error instanceof KeysUnavailableError
        // A set that was not asked for at all may be asked for at once.
        if (made.hasFailed || kept.get(url) !== made) return
        if (former !== undefined && isYoung(former)) kept.set(url, former)
        else kept.delete(url)
      },
    )
    return made.keys
  }
}
