/** Makes one side of a difference like the other. The directory's side is changed by a wish, as any entry is. */
import { randomUUID } from 'node:crypto'
import type { KeyType } from '#codecs/dict'
import type { Queryable } from '#src/platform/database/index.ts'
import { ApiError, refusedValue } from '#src/platform/http/index.ts'
import type { EntryByCid } from '../client.ts'
import {
  cidFor,
  type EntryContent,
  type Mends,
  newEntry,
  type OwnEntry,
  registered,
} from '../entries/domain.ts'
import { addEntry, changeEntry, findEntry } from '../entries/store.ts'
import { dictErrors } from '../errors.ts'
import { orUnavailable, refusedBy } from '../refusals.ts'
import { isForLater } from '../wire.ts'
import type { Difference, Side, Theirs } from './domain.ts'
import { hasOther, markKept } from './store.ts'

export type MendBy = {
  readonly comparisonId: string
  readonly keyType: KeyType
  readonly ispb: string
  /** Public id of the API key. */
  readonly keyId: string
  readonly now: () => Date
  readonly asked: Asked
}

/** What the directory says of a difference just before we mend it. */
type Asked = {
  /** The directory has changed since the comparison: the difference is gone or another. */
  readonly isOver: boolean
  /** The version of our entry when we asked; undefined: we have none. */
  readonly version: number | undefined
}

/** Asks whether both sides still differ so. @throws ApiError if the directory does not answer */
export const askAgain = async (
  sql: Queryable,
  { key, entryId, theirs, kept }: Difference,
  keyType: KeyType,
  entryOf: EntryByCid,
): Promise<Asked> => {
  if (kept !== null) return { isOver: true, version: undefined }
  const has = async (cid: string): Promise<boolean> => {
    const answer = await orUnavailable(entryOf(cid))
    if (answer.kind === 'entry') return true
    if (answer.code !== 'NotFound' || isForLater(answer)) throw refusedBy(answer)
    return false
  }
  const ours = entryId === null ? undefined : await findEntry(sql, entryId)
  const oursCid = ours?.cid ?? null
  const theirsCid = theirs && cidFor({ id: theirs.requestId, keyType }, key, theirs.entry)
  const isOver =
    (theirsCid !== null && !(await has(theirsCid))) || (oursCid !== null && (await has(oursCid)))
  return { isOver, version: ours?.version }
}

const over = (): ApiError =>
  new ApiError(dictErrors.dict_difference_mended, 'What differs has changed since it was compared.')

/**
 * @returns the entry to tell the directory of; undefined: none
 * @throws ApiError if our entry has changed meanwhile
 */
export const keepSide = async (
  tx: Queryable,
  difference: Difference,
  keep: Side,
  by: MendBy,
): Promise<string | undefined> => {
  const { entryId, theirs } = difference
  const ours = entryId === null ? undefined : await findEntry(tx, entryId)
  if (ours !== undefined && ours.status !== 'registered') throw changedMeanwhile(ours)
  if (by.asked.isOver || ours?.version !== by.asked.version) throw over()
  if (await hasOther(tx, difference)) throw over()
  // A key has one entry, so ours must go before theirs comes.
  if (ours !== undefined && ours.id !== theirs?.requestId) {
    await change(tx, ours, { status: 'removed', cid: null, wanted: null })
  }
  const adopted = theirs === null ? undefined : await adopt(tx, theirs, by)
  if (keep === 'theirs') return undefined
  const mends = { comparisonId: by.comparisonId, entryId: ours?.id ?? null }
  if (adopted === undefined) return ours && register(tx, ours, mends, by)
  const to: Partial<OwnEntry> =
    ours === undefined
      ? { status: 'removing', wanted: { removal: 'RECONCILIATION', mends } }
      : { status: 'changing', wanted: { content: ours.content, reason: 'RECONCILIATION', mends } }
  return (await change(tx, adopted, to)).id
}

const changedMeanwhile = ({ status }: Pick<OwnEntry, 'status'>): ApiError =>
  new ApiError(dictErrors.dict_entry_not_registered, `The entry is ${status}.`, {
    details: { entry_status: status },
  })

/** @throws ApiError if another has changed it */
const change = async (
  tx: Queryable,
  before: OwnEntry,
  to: Partial<OwnEntry>,
): Promise<OwnEntry> => {
  const after = await changeEntry(tx, before, { ...before, ...to })
  if (after === undefined) throw changedMeanwhile(before)
  return after
}

/** Takes their entry into our book, under the RequestId that made it. */
const adopt = async (
  tx: Queryable,
  { entry, requestId: id }: Theirs,
  by: MendBy,
): Promise<OwnEntry> => {
  const content: EntryContent = {
    owner: entry.owner,
    account: { ...entry.account, participant: by.ispb },
    openedAt: entry.openedAt,
  }
  const { key, ownedSince } = entry
  const { keyType, keyId, now } = by
  const made = newEntry({ id, keyType, key, content }, keyId, now())
  const before = await findEntry(tx, id)
  if (before === undefined && !(await addEntry(tx, made))) throw changedMeanwhile(made)
  return change(tx, before ?? made, registered(before ?? made, key, content, ownedSince))
}

/**
 * A new entry with the same content, because the directory no longer knows the RequestId of this one.
 *
 * @throws ApiError for a random key: the directory would make another
 */
const register = async (
  tx: Queryable,
  ours: OwnEntry,
  mends: Mends,
  by: MendBy,
): Promise<string> => {
  if (by.keyType === 'EVP') {
    const message = 'must be theirs of a random key, which the directory alone makes'
    throw refusedValue([{ pointer: '/keep', rule: 'const', message }])
  }
  const entry = { id: randomUUID(), keyType: by.keyType, key: ours.key, content: ours.content }
  const made = newEntry(entry, by.keyId, by.now())
  if (!(await addEntry(tx, made))) throw changedMeanwhile(ours)
  return (await change(tx, made, { wanted: { registration: 'RECONCILIATION', mends } })).id
}

/**
 * Undoes a mend that the directory refuses: our book is as before, and neither side counts as kept.
 *
 * @param before the entry that the directory was told of
 * @param refusal the directory's name for why
 * @returns undefined: another has changed the entry
 */
export const putBack = async (
  tx: Queryable,
  before: OwnEntry,
  { comparisonId, entryId }: Mends,
  refusal: string,
): Promise<OwnEntry | undefined> => {
  const { key, wanted } = before
  if (key === null) throw new Error('a difference is of a key')
  const isOurs = before.id === entryId
  const content = isOurs && wanted !== null && 'content' in wanted ? wanted.content : before.content
  const to: Partial<OwnEntry> = isOurs
    ? { status: 'registered', content, cid: cidFor(before, key, content) }
    : { status: 'refused', cid: null }
  const after = await changeEntry(tx, before, { ...before, ...to, wanted: null, refusal })
  if (after === undefined) return undefined
  const ours = isOurs || entryId === null ? undefined : await findEntry(tx, entryId)
  if (ours !== undefined) {
    await change(tx, ours, { status: 'registered', cid: cidFor(ours, key, ours.content) })
  }
  await markKept(tx, comparisonId, key, null)
  return after
}
