import type { RsaKey, RsaProvider } from './provider.ts'

/** One round asks each provider for this many signatures at once. */
const roundSignatures = 16
/** Enough rounds that each provider gets a quiet one: a wrong choice would halve the rate for good. */
const rounds = 8
/** The optional provider must be clearly cheaper: it may take at most this part of the other's time. */
const worthIt = 0.85

const probe = new TextEncoder().encode('which provider signs faster on this machine')

/**
 * Returns the cost of one round to this process in all its threads, in µs of CPU time. A clock would also count the
 * work of other processes on a busy machine.
 */
const roundUs = async (key: RsaKey): Promise<number> => {
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: roundSignatures }, () => key.sign(probe)))
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Takes the best of interleaved rounds, so that a busy moment of this process hits both. */
const bestUs = async (one: RsaKey, other: RsaKey): Promise<[number, number]> => {
  let [oneUs, otherUs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < rounds; round++) {
    oneUs = Math.min(oneUs, await roundUs(one))
    otherUs = Math.min(otherUs, await roundUs(other))
  }
  return [oneUs, otherUs]
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((octet, i) => octet === b[i])

/** @property provider - the one that signs */
export type ChosenKey = RsaKey & { readonly provider: RsaProvider['name'] }

/** Signs with `fast`; if that fails, signs with `safe`. */
const withFallback = (fast: RsaKey, safe: RsaKey): RsaKey => ({
  sign: (bytes) => fast.sign(bytes).catch(() => safe.sign(bytes)),
  close: () => {
    fast.close()
    safe.close()
  },
})

/**
 * Opens the key with both providers, measures them for a few milliseconds, and keeps the cheaper.
 * If the optional one cannot start, gives another signature, or is no cheaper, the safe one
 * signs and we say nothing about it.
 */
export const chooseRsaKey = async (
  pkcs8: Uint8Array,
  safe: RsaProvider,
  optional: RsaProvider | undefined,
): Promise<ChosenKey> => {
  const safeKey = await safe.open(pkcs8)
  const safeChoice: ChosenKey = { ...safeKey, provider: safe.name }
  if (optional === undefined) return safeChoice
  let fastKey: RsaKey | undefined
  try {
    fastKey = await optional.open(pkcs8)
    if (sameBytes(await fastKey.sign(probe), await safeKey.sign(probe))) {
      const [safeUs, fastUs] = await bestUs(safeKey, fastKey)
      if (fastUs < safeUs * worthIt) {
        return { ...withFallback(fastKey, safeKey), provider: optional.name }
      }
    }
  } catch {
    // The fast provider is not installed or not usable: the safe one does the same work.
  }
  fastKey?.close()
  return safeChoice
}
