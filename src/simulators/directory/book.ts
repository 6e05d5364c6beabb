/** The entries, and the rules by which they are made, changed and taken out. */
import { createHmac } from 'node:crypto'
import { pixKeyKind } from '#codecs/brcode'
import {
  cidOf,
  type DirectoryEntry,
  type EntryRequest,
  type KeptEntry,
  type KeyType,
} from '#codecs/dict'
import { putBounded } from '../bounded.ts'
import { type CidSet, createCidSets } from './cid-sets.ts'
import { entriesMax } from './options.ts'
import { Refusal } from './refusal.ts'

export type Kept = { readonly entry: KeptEntry; readonly requestId: string; readonly cid: string }

/** Requests that we remember, including those of entries that are gone. */
const requestsMax = entriesMax
/** The most keys of an account. */
const naturalKeysMax = 5
const legalKeysMax = 20
export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const createReasons = ['USER_REQUESTED', 'RECONCILIATION']
const updateReasons = ['USER_REQUESTED', 'BRANCH_TRANSFER', 'RECONCILIATION', 'RFB_VALIDATION']
const deleteReasons = [
  'USER_REQUESTED',
  'ACCOUNT_CLOSURE',
  'RECONCILIATION',
  'FRAUD',
  'RFB_VALIDATION',
]

const hmac = (key: Uint8Array, message: Uint8Array): Uint8Array =>
  createHmac('sha256', key).update(message).digest()

const cidFor = (entry: DirectoryEntry, requestId: string): string =>
  cidOf(entry, Uint8Array.fromHex(requestId.replaceAll('-', '')), hmac)

type Origin = readonly [requestId: string, createdAt: string, ownedSince: string]

/** Accounts are the same if these parts are. */
const accountOf = ({ account }: Pick<DirectoryEntry, 'account'>): string =>
  [account.participant, account.branch ?? '', account.accountNumber, account.accountType].join(' ')

/** The entries, by all that they are asked for by. */
const createShelf = (now: () => number) => {
  const entries = new Map<string, Kept>()
  const byCid = new Map<string, Kept>()
  const perAccount = new Map<string, number>()
  const sets = createCidSets(now)

  const count = ({ entry }: Kept, by: number): void => {
    const account = accountOf(entry)
    const keys = (perAccount.get(account) ?? 0) + by
    if (keys === 0) perAccount.delete(account)
    else perAccount.set(account, keys)
  }

  return {
    entries,
    byCid,
    setOf: sets.find,
    keysOf: (entry: DirectoryEntry): number => perAccount.get(accountOf(entry)) ?? 0,
    put: (kept: Kept): void => {
      entries.set(kept.entry.key, kept)
      byCid.set(kept.cid, kept)
      count(kept, 1)
      sets.open(kept.entry.account.participant, kept.entry.keyType).add(kept.cid)
    },
    take: (kept: Kept): void => {
      entries.delete(kept.entry.key)
      byCid.delete(kept.cid)
      count(kept, -1)
      sets.open(kept.entry.account.participant, kept.entry.keyType).remove(kept.cid)
    },
  }
}

type Shelf = ReturnType<typeof createShelf>

/** @throws Refusal if the key is somebody's, or the account has as many as it may */
const refuseTaken = (shelf: Shelf, request: DirectoryEntry): void => {
  const there = shelf.entries.get(request.key)?.entry
  const isOwn = there?.owner.taxIdNumber === request.owner.taxIdNumber
  if (there !== undefined) {
    if (!isOwn) throw new Refusal('EntryKeyOwnedByDifferentPerson')
    const isHere = there.account.participant === request.account.participant
    throw new Refusal(isHere ? 'EntryAlreadyExists' : 'EntryKeyInCustodyOfDifferentParticipant')
  }
  const max = request.owner.taxIdNumber.length === 11 ? naturalKeysMax : legalKeysMax
  if (shelf.keysOf(request) >= max || shelf.entries.size >= entriesMax) {
    throw new Refusal('EntryLimitExceeded')
  }
}

/** The entry of a key that this participant keeps. @throws Refusal */
const ownEntry = (shelf: Shelf, key: string, participant: string): Kept => {
  const kept = shelf.entries.get(key)
  if (kept === undefined) throw new Refusal('NotFound')
  if (kept.entry.account.participant !== participant) throw new Refusal('Forbidden')
  return kept
}

/** @param made the key of an EVP. @throws Refusal */
const keyOf = ({ keyType, key: asked, owner }: EntryRequest, made: string): string => {
  const isEvp = keyType === 'EVP'
  if (isEvp && asked !== undefined) throw new Refusal('EntryInvalid', 'An EVP is made here')
  const key = isEvp ? made : (asked ?? '')
  if (pixKeyKind(key)?.toUpperCase() !== keyType) {
    throw new Refusal('EntryInvalid', 'Entry has invalid fields')
  }
  if ((keyType === 'CPF' || keyType === 'CNPJ') && key !== owner.taxIdNumber) {
    throw new Refusal('EntryTaxIdNumberByDifferentOwner')
  }
  return key
}

/** Keys that somebody claims: their entries stay until the claim says what becomes of them. */
const createClaimed = (shelf: Shelf, byRequest: Map<string, string>, now: () => number) => {
  const locked = new Set<string>()

  const keep = (request: EntryRequest & { readonly key: string }, ...of: Origin): Kept => {
    const [requestId, createdAt, ownedSince] = of
    const entry = { ...request, createdAt, ownedSince, claimedSince: undefined }
    const kept = { entry, requestId, cid: cidFor(request, requestId) }
    putBounded(byRequest, requestId, request.key, requestsMax)
    shelf.put(kept)
    return kept
  }

  /** Tells those who ask for a claimed key since when it is claimed; its content identifier does not cover this. */
  const tellClaim = (key: string, claimedSince: string | undefined): void => {
    const kept = shelf.entries.get(key)
    if (kept === undefined) return
    const told = { ...kept, entry: { ...kept.entry, claimedSince } }
    shelf.entries.set(key, told)
    shelf.byCid.set(kept.cid, told)
  }

  return {
    keep,
    /** @throws Refusal */
    refuseLocked: (key: string): void => {
      if (locked.has(key)) throw new Refusal('EntryLockedByClaim')
    },
    acts: {
      lock: (key: string, claimedSince: string): void => {
        locked.add(key)
        tellClaim(key, claimedSince)
      },
      unlock: (key: string): void => {
        locked.delete(key)
        tellClaim(key, undefined)
      },
      /** Takes the entry of a claimed key out. @throws Refusal */
      release: (key: string): Kept => {
        const kept = shelf.entries.get(key)
        if (kept === undefined) throw new Refusal('NotFound')
        shelf.take(kept)
        return kept
      },
      /** The entry that a claim ends with. @throws Refusal */
      putClaimed: (
        request: EntryRequest & { readonly key: string },
        requestId: string,
        ownedSince: string,
      ): Kept => {
        if (byRequest.has(requestId)) throw new Refusal('RequestIdAlreadyUsed')
        return keep(request, requestId, new Date(now()).toISOString(), ownedSince)
      },
    },
  }
}

export const createBook = (now: () => number) => {
  const shelf = createShelf(now)
  const byRequest = new Map<string, string>()
  const claimed = createClaimed(shelf, byRequest, now)
  const { keep, refuseLocked } = claimed

  return {
    find: (key: string): Kept | undefined => shelf.entries.get(key),
    findByCid: (cid: string): Kept | undefined => shelf.byCid.get(cid),
    size: (): number => shelf.entries.size,
    setOf: (participant: string, type: KeyType): CidSet => shelf.setOf(participant, type),

    /** @throws Refusal */
    create: (asked: EntryRequest, reason: string, requestId: string): Kept => {
      if (!createReasons.includes(reason)) throw new Refusal('InvalidReason')
      if (!uuidForm.test(requestId)) throw new Refusal('BadRequest', 'RequestId is no UUID')
      const key = keyOf(asked, byRequest.get(requestId) ?? crypto.randomUUID())
      const request = { ...asked, key }
      const cid = cidFor(request, requestId)
      const repeated = shelf.byCid.get(cid)
      if (repeated !== undefined) return repeated
      if (byRequest.has(requestId)) throw new Refusal('RequestIdAlreadyUsed')
      refuseTaken(shelf, request)
      refuseLocked(key)
      const at = new Date(now()).toISOString()
      return keep(request, requestId, at, at)
    },

    /** @throws Refusal */
    update: (
      key: string,
      change: Pick<EntryRequest, 'account' | 'openedAt' | 'owner'>,
      reason: string,
    ): Kept => {
      const kept = ownEntry(shelf, key, change.account.participant)
      const isEvp = kept.entry.keyType === 'EVP'
      if (!updateReasons.includes(reason) || (isEvp && reason === 'USER_REQUESTED')) {
        throw new Refusal('InvalidReason')
      }
      if (kept.entry.owner.taxIdNumber !== change.owner.taxIdNumber) {
        throw new Refusal('EntryTaxIdNumberByDifferentOwner')
      }
      const entry = { ...kept.entry, ...change }
      const next = { ...kept, entry, cid: cidFor(entry, kept.requestId) }
      shelf.take(kept)
      shelf.put(next)
      return next
    },

    /** @throws Refusal */
    remove: (key: string, participant: string, reason: string): void => {
      if (!deleteReasons.includes(reason)) throw new Refusal('InvalidReason')
      const kept = ownEntry(shelf, key, participant)
      refuseLocked(key)
      shelf.take(kept)
    },
    ...claimed.acts,
  }
}

export type DirectoryBook = ReturnType<typeof createBook>
