import type { Client } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  refusedValue,
  restrictedBy,
  runOnce,
} from '#src/platform/http/index.ts'
import { keyStatements } from '../keys/key-statements.ts'
import type { ListedKey } from '../keys/key-store.ts'
import {
  type RestrictionName,
  restrictionNamesOf,
  type StoredRestrictions,
} from '../keys/restrictions.ts'
import { expandGrants } from '../keys/scopes.ts'
import { SealError, type Sealer } from '../sealing/sealer.ts'
import type { GivenRestrictions } from './documents.ts'

type NewKeyRequest = {
  readonly name: string
  readonly scopes: readonly string[]
  readonly restrictions?: GivenRestrictions | undefined
  readonly expires_at?: Date | undefined
}

type KeyChangeRequest = Pick<NewKeyRequest, 'restrictions' | 'expires_at'> & {
  /** The restrictions that the caller saw. */
  readonly replaces?: GivenRestrictions | undefined
}

/** The acts of callers on the keys of their account. Undefined: it has no such key. */
export type KeyService = {
  readonly page: (
    by: Caller,
    page: { readonly after: string | undefined; readonly limit: number },
  ) => Promise<readonly ListedKey[]>
  readonly find: (id: string, by: Caller) => Promise<ListedKey | undefined>
  readonly create: (request: NewKeyRequest, by: Caller) => Promise<Answered>
  readonly change: (
    id: string,
    change: KeyChangeRequest,
    by: Caller,
  ) => Promise<ListedKey | undefined>
  readonly rotate: (id: string, overlapSeconds: number, by: Caller) => Promise<Answered | undefined>
  readonly revoke: (id: string, by: Caller) => Promise<boolean>
}

type Statements = ReturnType<typeof keyStatements>

export const createKeyService = ({
  sql,
  sealer,
}: {
  readonly sql: Client
  readonly sealer: Sealer
}): KeyService => {
  /** For one transaction, after which nothing is held. */
  const within = <T>(by: Caller, work: (statements: Statements) => Promise<T>): Promise<T> =>
    sql.begin((tx) => work(keyStatements(tx, actorOf(by)))) as Promise<T>
  const find = (id: string, by: Caller) => within(by, (keys) => keys.find(by.owner, id))

  return {
    page: (by, page) => {
      requireWholeAccount(by)
      return keyStatements(sql, actorOf(by)).page({ account: by.owner, ...page })
    },
    find: (id, by) => {
      requireWholeAccount(by)
      return find(id, by)
    },
    create: async ({ name, scopes, restrictions, expires_at: expiresAt }, by) => {
      requireUnrestricted(by)
      requireHeld(scopes, expiresAt, by)
      const answered = await runOnce(sql, by.idempotencyKey, async (tx) => {
        requireFuture(expiresAt)
        const keys = keyStatements(tx, actorOf(by))
        const { id, key } = await keys.create({
          name,
          account: by.owner,
          environment: by.environment,
          grants: scopes,
          expiresAt,
          restrictions: storedOf(restrictions ?? {}),
        })
        const view = await keys.find(by.owner, id)
        return { status: 201, body: JSON.stringify({ ...view, sealed: sealed(sealer, id, key) }) }
      })
      return withKey(sealer, answered)
    },
    change: async (id, { restrictions, expires_at: expiresAt, replaces: seen }, by) => {
      requireUnrestricted(by)
      requireFuture(expiresAt)
      return within(by, async (keys) => {
        const found = await keys.find(by.owner, id)
        if (found === undefined) return undefined
        requireActive(found)
        requireHeld(found.scopes, expiresAt ?? expiryOf(found), by)
        const given = restrictions && storedOf(restrictions)
        const replaces = seen && storedOf(seen)
        if (!(await keys.change(id, { restrictions: given, expiresAt, replaces }))) throw changed()
        return keys.find(by.owner, id)
      })
    },
    rotate: async (id, overlapSeconds, by) => {
      requireUnrestricted(by)
      const present = await find(id, by)
      if (present === undefined) return undefined
      // Checked even before we answer a repetition: its answer shows the secret.
      requireHeld(present.scopes, expiryOf(present), by)
      const answered = await runOnce(sql, by.idempotencyKey, async (tx) => {
        const keys = keyStatements(tx, actorOf(by))
        const rotated = await keys.rotate(id, overlapSeconds, by.environment)
        if (rotated === undefined) throw revoked()
        const view = await keys.find(by.owner, id)
        const body = { ...view, sealed: sealed(sealer, id, rotated.key) }
        return { status: 200, body: JSON.stringify(body) }
      })
      return withKey(sealer, answered)
    },
    revoke: (id, by) => {
      requireUnrestricted(by)
      return within(by, async (keys) => {
        const found = await keys.find(by.owner, id)
        if (found !== undefined) await keys.revoke(id)
        return found !== undefined
      })
    },
  }
}

/** Restrictions to a part of the account's belongings; its keys are more than that. */
const parts: readonly RestrictionName[] = ['merchant_ids', 'wallets', 'own_webhooks']
/** Restrictions that a new key would lack. All routes see to it that a read-only key only reads. */
const limits: readonly RestrictionName[] = [...parts, 'requests_per_second', 'addresses']

const requireNone = ({ restrictions }: Caller, names: readonly RestrictionName[]): void => {
  const found = restrictionNamesOf(restrictions).find((name) => names.includes(name))
  if (found !== undefined) throw restrictedBy(found, 'the management of API keys')
}
const requireWholeAccount = (by: Caller): void => requireNone(by, parts)
const requireUnrestricted = (by: Caller): void => requireNone(by, limits)

/**
 * Nobody may give rights that he lacks, to another or to himself.
 *
 * @param until when what is given ends; undefined: never
 */
const requireHeld = (
  grants: readonly string[],
  until: Date | undefined,
  { scopes, expiresAt }: Caller,
): void => {
  const lacking = [...expandGrants(grants)].find((scope) => !scopes.has(scope))
  if (lacking !== undefined) {
    throw new ApiError(httpErrors.forbidden, `The API key lacks the scope ${lacking}.`)
  }
  if (expiresAt === undefined || (until !== undefined && until <= expiresAt)) return
  const message = `The API key ends at ${expiresAt.toISOString()}, and gives nothing that ends later.`
  throw new ApiError(httpErrors.forbidden, message)
}

const expiryOf = ({ expires_at: at }: ListedKey): Date | undefined =>
  at === null ? undefined : new Date(at)

const requireFuture = (at: Date | undefined): void => {
  if (at === undefined || at.getTime() > Date.now()) return
  const message = 'must be in the future'
  throw refusedValue([{ pointer: '/expires_at', rule: 'future', message }])
}

const requireActive = ({ revoked_at: at }: ListedKey): void => {
  if (at !== null) throw revoked()
}

const changed = (): ApiError =>
  new ApiError(
    httpErrors.changed_meanwhile,
    'The API key has other restrictions than the request replaces.',
  )

const revoked = (): ApiError => new ApiError(httpErrors.conflict, 'The API key is revoked.')

const storedOf = ({ own_webhooks, read_only, ...rest }: GivenRestrictions): StoredRestrictions => ({
  ...rest,
  ...(own_webhooks === true ? { own_webhooks } : {}),
  ...(read_only === true ? { read_only } : {}),
})

const contextOf = (id: string): string => `api_keys/${id}`

/** The secret of an answer that is kept for its repetition. */
const sealed = (sealer: Sealer, id: string, key: string): string =>
  Buffer.from(sealer.seal(Buffer.from(key), contextOf(id))).toString('base64')

/** The answer with the key in clear. */
const withKey = (sealer: Sealer, answered: Answered): Answered => {
  const { sealed: kept, ...view } = JSON.parse(answered.body) as ListedKey & {
    readonly sealed: string
  }
  const key = opened(sealer, view.id, kept)
  return { ...answered, body: JSON.stringify({ ...view, key }) }
}

const opened = (sealer: Sealer, id: string, kept: string): string => {
  try {
    return Buffer.from(sealer.open(Buffer.from(kept, 'base64'), contextOf(id))).toString()
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    throw new ApiError(
      httpErrors.conflict,
      'The API key was made, and its secret cannot be shown again: rotate it.',
    )
  }
}
