import { hashMatches, type KeyEnvironment, parseKey } from './api-key.ts'
import { expandGrants, type Scope } from './scopes.ts'

/** A key as it is stored. */
export type KeyRecord = {
  readonly id: string
  readonly name: string
  readonly account: string
  /** SHA-256 of the secret, in hex. */
  readonly hash: string
  readonly grants: readonly string[]
  /** Undefined for keys that were stored before it was: then it is what the key's text says. */
  readonly environment: KeyEnvironment | undefined
  readonly expiresAt: Date | undefined
  readonly revokedAt: Date | undefined
}

/** Where keys are kept: a file or the database. */
export type KeySource = {
  find(id: string): Promise<KeyRecord | undefined>
  /** Called when a key has been verified again: at most once per cache period and key. */
  used?(id: string, at: Date): void
}

/** Who calls. */
export type Principal = {
  /** The account owns what the caller makes, not the key, which may be rotated. */
  readonly owner: string
  readonly keyId: string
  readonly name: string
  /** Test keys move nothing of value, live keys move nothing else. */
  readonly environment: KeyEnvironment
  readonly scopes: ReadonlySet<Scope>
}

export type Authenticator = {
  /**
   * Reads an `Authorization` header. Answers at once for a key verified in the last seconds;
   * undefined means missing, malformed, unknown, expired or revoked.
   */
  verify(header: string | null | undefined): Principal | undefined | Promise<Principal | undefined>
}

type Cached = { readonly principal: Principal; readonly untilMs: number }

const cacheMsDefault = 5_000
const cachedKeysMax = 4_096
/** How long a refused key costs no look-up; short, as it may have been made just now. */
const refusedMs = 1_000

export const createAuthenticator = (options: {
  readonly sources: readonly KeySource[]
  /** Keys that do not count here: test keys in production. */
  readonly refused?: KeyEnvironment | undefined
  readonly now?: () => number
  readonly cacheMs?: number
}): Authenticator => {
  const { sources, now = Date.now, cacheMs = cacheMsDefault } = options
  const verified = new Map<string, Cached>()
  /** Apart from the others, so that a flood of unknown keys does not push good ones out. */
  const refusedUntilMs = new Map<string, number>()
  const underWay = new Map<string, Promise<Principal | undefined>>()

  const find = async (text: string): Promise<Principal | undefined> => {
    const parsed = parseKey(text)
    if (parsed === undefined || parsed.environment === options.refused) return undefined
    const { environment } = parsed
    for (const source of sources) {
      const record = await source.find(parsed.id)
      if (record === undefined) continue
      const nowMs = now()
      if (!hashMatches(parsed.hash, record.hash) || !isAlive(record, nowMs)) return undefined
      // The text's environment is no secret: whoever holds a test key could write a live one from it.
      if ((record.environment ?? environment) !== environment) return undefined
      const principal: Principal = {
        owner: record.account,
        keyId: record.id,
        name: record.name,
        environment,
        scopes: expandGrants(record.grants),
      }
      if (verified.size >= cachedKeysMax) verified.clear()
      const expiresMs = record.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
      verified.set(text, { principal, untilMs: Math.min(nowMs + cacheMs, expiresMs) })
      source.used?.(record.id, new Date(nowMs))
      return principal
    }
    return undefined
  }

  /** Requests that come with one key at one time share a look-up. */
  const lookUp = (text: string): Promise<Principal | undefined> => {
    const begun = underWay.get(text)
    if (begun !== undefined) return begun
    const found = find(text)
      .then((principal) => {
        if (principal !== undefined) return principal
        if (refusedUntilMs.size >= cachedKeysMax) refusedUntilMs.clear()
        refusedUntilMs.set(text, now() + refusedMs)
        return undefined
      })
      .finally(() => underWay.delete(text))
    underWay.set(text, found)
    return found
  }

  return {
    verify: (header) => {
      const text = bearerToken(header)
      if (text === undefined) return undefined
      const cached = verified.get(text)
      if (cached !== undefined) {
        if (cached.untilMs > now()) return cached.principal
        verified.delete(text)
      }
      const untilMs = refusedUntilMs.get(text)
      if (untilMs !== undefined) {
        if (untilMs > now()) return undefined
        refusedUntilMs.delete(text)
      }
      return lookUp(text)
    },
  }
}

const isAlive = (record: KeyRecord, nowMs: number): boolean =>
  record.revokedAt === undefined &&
  (record.expiresAt === undefined || record.expiresAt.getTime() > nowMs)

/** The scheme is case-insensitive (RFC 9110 section 11.1). */
const bearerToken = (header: string | null | undefined): string | undefined => {
  if (header === null || header === undefined || header.length > 512) return undefined
  if (header.startsWith('Bearer ')) return header.slice(7)
  return /^bearer +(\S+)$/i.exec(header)?.[1]
}
