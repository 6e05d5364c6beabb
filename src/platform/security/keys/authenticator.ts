import { defaultAccount, hashMatches, type KeyEnvironment, parseKey } from './api-key.ts'
import { type Restrictions, restrictionsOf } from './restrictions.ts'
import { expandGrants, type Scope } from './scopes.ts'

type FormerSecret = {
  readonly hash: string
  readonly until: Date
  /** The same as it is stored, if that is by another clock than this process's. */
  readonly storedUntil?: Date | undefined
}

/** A key as it is stored. */
export type KeyRecord = {
  readonly id: string
  readonly name: string
  readonly account: string
  /** SHA-256 of the secret, in hex. */
  readonly hash: string
  /** The secret before the last rotation, and until when it counts. */
  readonly previous?: FormerSecret | undefined
  readonly grants: readonly string[]
  /** Undefined for keys that were stored before environments were: then their text tells it. */
  readonly environment: KeyEnvironment | undefined
  /** The restrictions as stored; undefined: none. */
  readonly restrictions?: unknown
  readonly expiresAt: Date | undefined
  /** The expiry as it is stored, if that is by another clock than this process's. */
  readonly storedExpiresAt?: Date | undefined
  readonly revokedAt: Date | undefined
}

/** A file or a database that holds keys. */
export type KeySource = {
  find(id: string): Promise<KeyRecord | undefined>
  /** Called when a key has been verified again: at most once per cache period and key. */
  used?(id: string, at: Date): void
}

/** The grant of a short-lived token: a key, and the scopes of it that the token has. */
export type TokenGrant = {
  readonly keyId: string
  /** The hash of the secret that it was issued for, in hex; undefined for tokens of earlier versions. */
  readonly secretHash: string | undefined
  readonly scopes: readonly Scope[]
  readonly expiresAt: Date
  /** SHA-256 of the certificate that it is bound to (RFC 8705 section 3), in base64url; undefined: to none. */
  readonly certificate: string | undefined
}

/** Knows the tokens that were issued for keys. */
export type TokenSource = {
  readonly isToken: (text: string) => boolean
  readonly find: (text: string) => Promise<TokenGrant | undefined>
}

/** An authenticated caller. */
export type Principal = {
  /** The account owns what the caller makes, not the key, which may be rotated. */
  readonly owner: string
  /** Whether that account speaks for the institution itself. */
  readonly isInstitution: boolean
  readonly keyId: string
  readonly name: string
  /** Test keys move nothing of value; live keys move only real value. */
  readonly environment: KeyEnvironment
  readonly scopes: ReadonlySet<Scope>
  readonly restrictions: Restrictions
  /** When the key ends, or the former secret that was shown, as it is stored beside other keys; undefined: never. */
  readonly expiresAt?: Date | undefined
  /** The certificate that the caller must show, as {@link TokenGrant} names it. */
  readonly certificate?: string | undefined
}

export type Authenticator = {
  /**
   * Reads an `Authorization` header. Answers at once for a key verified in the last seconds;
   * undefined means missing, malformed, unknown, expired or revoked.
   */
  verify(header: string | null | undefined): Principal | undefined | Promise<Principal | undefined>
}

type Cached = {
  readonly principal: Principal
  /** By the monotonic clock: if a clock is set back, a revoked key must not be accepted for longer. */
  readonly keptUntilMs: number
  readonly expiresMs: number
}

const cacheMsDefault = 5_000
const cachedKeysMax = 4_096
/** How long a refused key costs no look-up; short, as it may have been made just now. */
const refusedMs = 1_000

/** A caller that names no account is the institution itself. */
export const institutionDefault: readonly string[] = [defaultAccount]

type KeysOptions = {
  readonly sources: readonly KeySource[]
  /** Keys that do not count here: test keys in production, live keys elsewhere. */
  readonly refused?: KeyEnvironment | undefined
  /** Accounts whose keys speak for the institution itself. */
  readonly institution?: readonly string[]
}

type AuthenticatorOptions = KeysOptions & {
  readonly tokens?: readonly TokenSource[]
  /** Milliseconds since 1970, for expiries; tests set it. */
  readonly now?: () => number
  /** The monotonic clock, for how long an answer is kept; tests set it. */
  readonly tickMs?: () => number
  readonly cacheMs?: number
}

export const createAuthenticator = (options: AuthenticatorOptions): Authenticator => {
  const { sources, tokens = [], now = Date.now, cacheMs = cacheMsDefault } = options
  const { tickMs = () => performance.now() } = options
  const { refused, institution = institutionDefault } = options
  const verified = new Map<string, Cached>()
  /** Apart from the others, so that a flood of unknown keys does not push good ones out. */
  const refusedUntilMs = new Map<string, number>()
  const underWay = new Map<string, Promise<Principal | undefined>>()

  const keep = (text: string, principal: Principal, expiresMs: number): Principal => {
    if (verified.size >= cachedKeysMax) verified.clear()
    verified.set(text, { principal, keptUntilMs: tickMs() + cacheMs, expiresMs })
    return principal
  }

  const find = async (text: string): Promise<Principal | undefined> => {
    const source = tokens.find(({ isToken }) => isToken(text))
    if (source !== undefined) {
      const grant = await source.find(text)
      const found = grant && (await holderOf(grant, { sources, refused, institution }, now()))
      return found && keep(text, found.principal, found.untilMs)
    }
    const parsed = parseKey(text)
    if (parsed === undefined || parsed.environment === refused) return undefined
    const { environment } = parsed
    for (const source of sources) {
      const record = await source.find(parsed.id)
      if (record === undefined) continue
      const nowMs = now()
      const untilMs = secretUntilMs(parsed.hash, record)
      if (untilMs <= nowMs || !isAlive(record, nowMs)) return undefined
      // The environment in the text is no secret: the holder of a test key could write a live one from it.
      if ((record.environment ?? environment) !== environment) return undefined
      const principal = principalOf(record, environment, institution)
      if (principal === undefined) return undefined
      const expiresMs = record.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
      source.used?.(record.id, new Date(nowMs))
      const { expiresAt } = principal
      const held = { ...principal, expiresAt: earlier(expiresAt, storedUntilOf(untilMs, record)) }
      return keep(text, held, Math.min(expiresMs, untilMs))
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
        refusedUntilMs.set(text, tickMs() + refusedMs)
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
        if (cached.keptUntilMs > tickMs() && cached.expiresMs > now()) return cached.principal
        verified.delete(text)
      }
      const untilMs = refusedUntilMs.get(text)
      if (untilMs !== undefined) {
        if (untilMs > tickMs()) return undefined
        refusedUntilMs.delete(text)
      }
      return lookUp(text)
    },
  }
}

/**
 * Returns the holder of a token. A token counts as long as its key and the secret that it was issued for, with the
 * rights that the key has now.
 */
const holderOf = async (
  { keyId, secretHash, certificate, scopes, expiresAt }: TokenGrant,
  { sources, refused, institution }: KeysOptions & { readonly institution: readonly string[] },
  nowMs: number,
): Promise<{ readonly principal: Principal; readonly untilMs: number } | undefined> => {
  for (const source of sources) {
    const record = await source.find(keyId)
    if (record === undefined) continue
    const secretMs =
      secretHash === undefined
        ? Number.POSITIVE_INFINITY
        : secretUntilMs(Buffer.from(secretHash, 'hex'), record)
    const expiresMs = Math.min(expiresAt.getTime(), secretMs)
    if (expiresMs <= nowMs) return undefined
    const environment = record.environment ?? 'test'
    const key = isAlive(record, nowMs) ? principalOf(record, environment, institution) : undefined
    if (key === undefined || environment === refused) return undefined
    source.used?.(keyId, new Date(nowMs))
    const held = new Set(scopes.filter((scope) => key.scopes.has(scope)))
    const untilMs = Math.min(expiresMs, record.expiresAt?.getTime() ?? expiresMs)
    return { principal: { ...key, scopes: held, certificate }, untilMs }
  }
  return undefined
}

/** Undefined for a key with restrictions that this version does not know. */
const principalOf = (
  record: KeyRecord,
  environment: KeyEnvironment,
  institution: readonly string[],
): Principal | undefined => {
  const restrictions = restrictionsOf(record.restrictions)
  if (restrictions === undefined) return undefined
  const { id: keyId, name, account: owner, grants } = record
  const isInstitution = institution.includes(owner)
  const scopes = expandGrants(grants)
  const expiresAt = record.storedExpiresAt ?? record.expiresAt
  return { owner, isInstitution, keyId, name, environment, scopes, restrictions, expiresAt }
}

/** Until when the secret counts; 0 if it is not the key's. Always compares with both secrets of the key. */
const secretUntilMs = (hash: Buffer, { hash: present, previous }: KeyRecord): number => {
  const isPresent = hashMatches(hash, present)
  const isPrevious = previous !== undefined && hashMatches(hash, previous.hash)
  if (isPresent) return Number.POSITIVE_INFINITY
  return isPrevious ? previous.until.getTime() : 0
}

/** Until when a former secret counts, as it is stored; undefined for the present one. */
const storedUntilOf = (untilMs: number, { previous }: KeyRecord): Date | undefined =>
  untilMs === Number.POSITIVE_INFINITY ? undefined : (previous?.storedUntil ?? previous?.until)

const earlier = (a: Date | undefined, b: Date | undefined): Date | undefined =>
  a === undefined || (b !== undefined && b < a) ? b : a

const isAlive = (record: KeyRecord, nowMs: number): boolean =>
  record.revokedAt === undefined &&
  (record.expiresAt === undefined || record.expiresAt.getTime() > nowMs)

/** The scheme is case-insensitive, and one space or more follows it (RFC 9110 sections 11.1 and 11.4). */
const bearerToken = (header: string | null | undefined): string | undefined => {
  if (header === null || header === undefined || header.length > 512) return undefined
  if (header.startsWith('Bearer ') && header[7] !== ' ') return header.slice(7)
  return /^bearer +(\S+)$/i.exec(header)?.[1]
}
