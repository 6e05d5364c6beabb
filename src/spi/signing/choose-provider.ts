import type { RsaKey, RsaProvider } from './rsa-provider.ts'

/** One round asks each provider for this many signatures at once. */
const ROUND_SIGNATURES = 16
/** As many as it takes that each provider has a quiet one: a wrong choice costs half of the rate for good. */
const ROUNDS = 8
/** The optional provider must be clearly faster: less than this part of the other's time. */
const WORTH_IT = 0.85

const PROBE = new TextEncoder().encode('which provider signs faster on this machine')

/** How long one round takes, in milliseconds. */
async function roundMs(key: RsaKey): Promise<number> {
  const startMs = performance.now()
  await Promise.all(Array.from({ length: ROUND_SIGNATURES }, () => key.sign(PROBE)))
  return performance.now() - startMs
}

/** The best of interleaved rounds, so that a busy moment hits both. */
async function bestMs(one: RsaKey, other: RsaKey): Promise<[number, number]> {
  let [oneMs, otherMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < ROUNDS; round++) {
    oneMs = Math.min(oneMs, await roundMs(one))
    otherMs = Math.min(otherMs, await roundMs(other))
  }
  return [oneMs, otherMs]
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((octet, i) => octet === b[i])
}

/** @property provider - the one that signs */
export type ChosenKey = RsaKey & { readonly provider: RsaProvider['name'] }

/** Signs with `fast`; a signature it fails to give is made by `safe`. */
function withFallback(fast: RsaKey, safe: RsaKey): RsaKey {
  return {
    sign: (bytes) => fast.sign(bytes).catch(() => safe.sign(bytes)),
    close: () => {
      fast.close()
      safe.close()
    },
  }
}

/**
 * Opens the key with both providers, measures them for a few milliseconds, and keeps the faster.
 * Where the optional one cannot start, gives another signature, or is no faster, the safe one
 * signs and nothing is said about it.
 */
export async function chooseRsaKey(
  pkcs8: Uint8Array,
  safe: RsaProvider,
  optional: RsaProvider | undefined,
): Promise<ChosenKey> {
  const safeKey = await safe.open(pkcs8)
  const safeChoice: ChosenKey = { ...safeKey, provider: safe.name }
  if (optional === undefined) return safeChoice
  let fastKey: RsaKey | undefined
  try {
    fastKey = await optional.open(pkcs8)
    if (sameBytes(await fastKey.sign(PROBE), await safeKey.sign(PROBE))) {
      const [safeMs, fastMs] = await bestMs(safeKey, fastKey)
      if (fastMs < safeMs * WORTH_IT) {
        return { ...withFallback(fastKey, safeKey), provider: optional.name }
      }
    }
  } catch {
    // Not here, or not usable: the safe provider does the same work.
  }
  fastKey?.close()
  return safeChoice
}
