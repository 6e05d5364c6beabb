import { createHmac, randomBytes } from 'node:crypto'
import { pixKeyKind } from '#codecs/brcode'
import { cidOf, type KeptEntry } from '#codecs/dict'
import { createRandomText, newEndToEndId } from '#codecs/iso20022'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import {
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  refusedValue,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { EntryCache } from './cache.ts'
import type { DirectoryClient } from './client.ts'
import { hmac } from './entries/domain.ts'
import { dictErrors } from './errors.ts'
import { DirectoryAwayError } from './exchange.ts'
import type { Looker, LookupTokens } from './policies.ts'
import { refusedBy, unavailable } from './refusals.ts'
import { addLookup, findLookup, type Lookup, takeLookup } from './store.ts'
import { isForLater, type Refused, tooMany } from './wire.ts'

export type DictServiceDeps = {
  readonly sql: Client
  readonly ispb: string
  readonly client: DirectoryClient
  readonly tokens: LookupTokens
  readonly cache: EntryCache
  readonly logger: Logger
  readonly now: () => Date
}

/** Who is paid by a key, for the payment that has the EndToEndId. */
type Payee = {
  readonly endToEndId: string
  readonly entry: KeptEntry
  /** In the transaction that stores the payment. @throws ApiError if another one was made by the lookup */
  readonly take: (tx: Queryable) => Promise<void>
  /** Called after the commit. */
  readonly paid: () => void
}

type Asked = { readonly key: string; readonly payer: string }

/** Lookups that wait for the directory at once. */
export const waitingMax = 128
const saltBytes = 16
/** A payer confirms whom to pay within this time; then the key is looked up again. */
const lookupMs = 15 * 60_000
const random = createRandomText((bytes) => crypto.getRandomValues(bytes))

/** Shows whether a later answer tells of the same owner and account. */
const entryDigestOf = (entry: KeptEntry, salt: string): string =>
  cidOf(entry, Uint8Array.fromHex(salt), hmac)

/** Shows whether a payment is for the same key, by the same payer. */
const askedDigestOf = (key: string, payer: string, salt: string): string =>
  createHmac('sha256', Buffer.from(salt, 'hex')).update(`${key} ${payer}`).digest('hex')

type Resolved = { readonly entry: KeptEntry; readonly wasAsked: boolean }

export const createDictService = (deps: DictServiceDeps) => {
  const { sql, ispb, now } = deps
  const resolve = createResolve(deps)
  const newId = (): string => newEndToEndId({ ispb, created: now().toISOString(), random })

  return {
    /** Looks a key up for a payer who may then pay by it. @throws ApiError of {@link dictErrors} */
    show: async (asked: Asked, caller: Caller) => {
      const endToEndId = newId()
      const { entry, wasAsked } = await resolve({ ...asked, endToEndId }, caller)
      const salt = randomBytes(saltBytes).toString('hex')
      const createdAt = now()
      await addLookup(sql, {
        endToEndId,
        account: caller.owner,
        salt,
        wasAsked,
        createdAt,
        askedDigest: askedDigestOf(asked.key, asked.payer, salt),
        entryDigest: entryDigestOf(entry, salt),
      })
      return { entry, endToEndId, payableUntil: new Date(createdAt.getTime() + lookupMs) }
    },
    /**
     * Who is to be paid now.
     *
     * @param id EndToEndId of the lookup that the payer was shown: the entry must still be the same
     * @throws ApiError of {@link dictErrors}
     */
    payee: async (asked: Asked, id: string | undefined, caller: Caller): Promise<Payee> => {
      const lookup = id === undefined ? undefined : await demandLookup(deps, asked, id, caller)
      const endToEndId = lookup?.endToEndId ?? newId()
      const { entry, wasAsked } = await resolve({ ...asked, endToEndId }, caller)
      if (lookup !== undefined && entryDigestOf(entry, lookup.salt) !== lookup.entryDigest) {
        throw new ApiError(dictErrors.dict_entry_changed, 'The key is another’s now.')
      }
      const tokens = Number(wasAsked) + Number(lookup?.wasAsked ?? false)
      return {
        endToEndId,
        entry,
        take: async (tx) => {
          if (lookup === undefined || (await takeLookup(tx, endToEndId, caller.owner))) return
          throw noLookup()
        },
        paid: () => {
          // A payment gives back once, however often its key was looked up.
          if (tokens === 0) return
          deps.tokens.paid(lookerOf(asked)).catch((err: unknown) => {
            deps.logger.warn({ err }, 'a lookup that was paid is not given back')
          })
        },
      }
    },
  }
}

export type DictService = ReturnType<typeof createDictService>

const noLookup = (): ApiError =>
  new ApiError(dictErrors.dict_lookup_unknown, 'No open lookup has this end_to_end_id.')

/** @throws ApiError unless the lookup is the caller's, of this key and payer, and young */
const demandLookup = async (
  { sql, now }: DictServiceDeps,
  { key, payer }: Asked,
  id: string,
  caller: Caller,
): Promise<Lookup> => {
  const lookup = await findLookup(sql, id, caller.owner)
  if (
    lookup === undefined ||
    now().getTime() - lookup.createdAt.getTime() > lookupMs ||
    askedDigestOf(key, payer, lookup.salt) !== lookup.askedDigest
  ) {
    throw noLookup()
  }
  return lookup
}

const lookerOf = ({ key, payer }: Asked): Looker => {
  const kind = pixKeyKind(key)
  return { payer, isContact: kind === 'email' || kind === 'phone' }
}

/** Asks cache and directory, and records in the audit log who asked, under the EndToEndId: never the key. */
const createResolve = ({ sql, client, tokens, cache }: DictServiceDeps) => {
  let waiting = 0

  const ask = async (asked: Asked & { readonly endToEndId: string }): Promise<Resolved> => {
    const kept = cache.find(asked.key)
    if (kept !== undefined) return { entry: kept, wasAsked: false }
    const looker = lookerOf(asked)
    const waitMs = await tokens.take(looker)
    if (waitMs !== undefined) throw limited(waitMs)
    const looked = await client.lookUp(asked).catch(async (error: unknown) => {
      if (!(error instanceof DirectoryAwayError)) throw error
      // Nobody was asked, so nothing was used up.
      if (error.reason === 'circuit_open') await tokens.giveBack(looker)
      throw unavailable(error)
    })
    if (looked.kind === 'found') {
      cache.keep(looked.entry, looked.seconds)
      return { entry: looked.entry, wasAsked: true }
    }
    if (looked.code === 'NotFound') await tokens.missed(looker)
    if (looked.status === tooMany) {
      const restMs = looked.retryAfterMs ?? limitedMs
      await tokens.exhausted(looker, restMs)
      throw limited(restMs)
    }
    throw refusalOf(looked)
  }

  return async (
    asked: Asked & { readonly endToEndId: string },
    caller: Caller,
  ): Promise<Resolved> => {
    if (pixKeyKind(asked.key) === undefined) throw noKey()
    if (waiting >= waitingMax) {
      throw new ApiError(httpErrors.unavailable, 'Too many other keys are being looked up.')
    }
    waiting++
    const record = (outcome: string) =>
      writeAudit(sql, {
        actor: actorOf(caller),
        action: 'dict.lookup',
        object: asked.endToEndId,
        outcome,
      })
    try {
      const resolved = await ask(asked)
      await record(resolved.wasAsked ? 'found' : 'found_again')
      return resolved
    } catch (error) {
      if (error instanceof ApiError) await record(error.definition.code)
      throw error
    } finally {
      waiting--
    }
  }
}

const noKey = (): ApiError =>
  refusedValue([{ pointer: '/key', rule: 'pix_key', message: 'is no Pix key' }])

const limited = (waitMs: number): ApiError =>
  new ApiError(dictErrors.dict_limited, 'The lookups of now are used up.', {
    headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) },
  })

const limitedMs = 30_000

const refusalOf = (answer: Refused): ApiError => {
  const { code } = answer
  if (isForLater(answer)) return refusedBy(answer)
  if (code === 'NotFound') {
    return new ApiError(dictErrors.dict_key_not_found, 'The directory has no such key.')
  }
  if (code === 'EntryCannotBeQueriedForBookTransfer') {
    return new ApiError(dictErrors.dict_key_of_this_institution, 'The key is in own custody.')
  }
  return refusedBy(answer)
}
