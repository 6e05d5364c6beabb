import { randomUUID } from 'node:crypto'
import { createVsync, type KeptEntry, type KeyType } from '#codecs/dict'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import {
  type Actor,
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  refusedValue,
  writeAudit,
} from '#src/platform/http/index.ts'
import { eachAlone, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { DirectoryClient } from '../client.ts'
import { putBack } from '../comparisons/mend.ts'
import { dictErrors } from '../errors.ts'
import { DirectoryAwayError, orAway } from '../exchange.ts'
import { answerOf, askOnce, unlessRefused } from '../once.ts'
import { orUnavailable, refused, refusedBy } from '../refusals.ts'
import { askedLater, isForLater, type Refused } from '../wire.ts'
import {
  type ChangeReason,
  changeReasonsOf,
  cidFor,
  type EntryContent,
  newEntry,
  type OwnEntry,
  openStatuses,
  type RemovalReason,
  registered,
  type Wanted,
} from './domain.ts'
import {
  addEntry,
  changeEntry,
  cidsOf,
  type EntryFilter,
  findEntry,
  listEntries,
  lockEntry,
  openEntries,
  touchEntry,
} from './store.ts'
import { entryView } from './view.ts'

export type EntryServiceDeps = {
  readonly sql: Client
  readonly client: DirectoryClient
  readonly logger: Logger
  readonly now: () => Date
}

type NewEntry = {
  readonly keyType: KeyType
  /** Undefined of an EVP, which the directory makes. */
  readonly key: string | undefined
  readonly content: EntryContent
}

/** What became of it; one that is not `isDone` is asked for until the directory answers. */
export type Entered = { readonly entry: OwnEntry; readonly isDone: boolean }

/**
 * The entries that this institution keeps in the directory. Each wish is stored before the directory is told; one that
 * nobody answered is told again, under the same RequestId, until somebody does.
 */
export const createEntryService = (deps: EntryServiceDeps) => {
  const { sql, client, now } = deps
  const advance = createAdvance(deps)
  return {
    /** @throws ApiError if the key is one of ours, or the directory refuses */
    register: (wanted: NewEntry, caller: Caller): Promise<Answered> => {
      const write = async (tx: Queryable): Promise<string> => {
        const { keyType, key = null, content } = wanted
        const made = newEntry({ id: randomUUID(), keyType, key, content }, caller.keyId, now())
        if (!(await addEntry(tx, made))) throw taken()
        const act = { action: 'dict.register', object: made.id, outcome: 'asked' } as const
        await writeAudit(tx, { actor: actorOf(caller), ...act })
        return made.id
      }
      return askOnce(sql, caller.idempotencyKey, write, async (id) => {
        const { entry, isDone } = await advance(id)
        return answerOf(entryView(entry), isDone, 201)
      })
    },
    /** @throws ApiError if it is not registered, or the directory refuses */
    change: async (id: string, wish: Wished, actor: Actor): Promise<Entered> => {
      const wanted = await sql.begin(async (tx) => {
        const before = await lockEntry(tx, id)
        if (before === undefined) throw noEntry()
        const wanted = wantedOf(before, wish)
        const status = 'removal' in wanted ? 'removing' : 'changing'
        const isGone = status === 'removing' && before.status === 'removed'
        // The same wish again is one.
        if (isGone || JSON.stringify(wanted) === JSON.stringify(before.wanted)) return wanted
        if (before.status !== 'registered') throw notRegistered(before)
        await changeEntry(tx, before, { ...before, status, wanted, refusal: null })
        await writeAudit(tx, { actor, action: 'dict.change', object: id, outcome: status })
        return wanted
      })
      const told = await advance(id)
      if (told.isDone) demandDone(told.entry, wanted)
      return told
    },
    find: async (id: string): Promise<OwnEntry> => {
      const found = await findEntry(sql, id)
      if (found === undefined) throw noEntry()
      return found
    },
    list: (filter: EntryFilter) => listEntries(sql, filter),
    /** Tells the directory what it has not answered. @throws ApiError if it refuses */
    advance,
    /** As `advance`; a refusal stands in the entry alone. */
    retry: (id: string) => unlessRefused(advance(id)),
    /** Whether all our entries of a type are the directory's, by their check (VSync). */
    verify: async (type: KeyType) => {
      const check = createVsync()
      let entries = 0
      for await (const page of cidsOf(sql, type)) {
        for (const { cid } of page) check.toggle(cid)
        entries += page.length
      }
      const answer = await orUnavailable(client.verify(type, check.hex()))
      if (answer.kind === 'refused') throw refusedBy(answer)
      return { entries, isSame: answer.isSame }
    },
  }
}

export type EntryService = ReturnType<typeof createEntryService>

const retriedMax = 100

/**
 * Tells the directory again what it has not answered.
 *
 * @param quietMs entries that were tried so recently are left to whoever tells the directory now
 */
export const retryEntries = async (
  { sql, logger }: Pick<EntryServiceDeps, 'sql' | 'logger'>,
  retry: EntryService['retry'],
  quietMs: number,
  round?: Round,
): Promise<void> =>
  eachAlone(await openEntries(sql, quietMs, retriedMax), ({ id }) => retry(id), {
    round,
    logger,
    idsOf: ({ id }) => ({ entry: id }),
    setAside: ({ id }) => touchEntry(sql, id),
  })

/** What of owner and account is to be another; the tax id stays. */
type Wished =
  | { readonly removal: RemovalReason }
  | {
      readonly reason?: ChangeReason
      readonly owner?: Omit<EntryContent['owner'], 'taxIdNumber'> | undefined
      readonly account?: Pick<EntryContent, 'account' | 'openedAt'> | undefined
    }

/** @throws ApiError if an entry of that type is not changed for that reason */
const wantedOf = ({ keyType, content }: OwnEntry, wish: Wished): Wanted => {
  if ('removal' in wish) return wish
  const { reason = 'USER_REQUESTED', account, owner } = wish
  const reasons = changeReasonsOf(keyType)
  if (!reasons.includes(reason)) {
    const message = `must be one of ${reasons.join(', ')}`
    throw refusedValue([{ pointer: '/reason', rule: 'enum', message }])
  }
  const { taxIdNumber } = content.owner
  return {
    content: { ...content, ...account, owner: { taxIdNumber, ...(owner ?? content.owner) } },
    ...(reason === 'USER_REQUESTED' ? {} : { reason }),
  }
}

const taken = (): ApiError =>
  new ApiError(dictErrors.dict_entry_exists, 'The key is registered, or being registered.')

const noEntry = (): ApiError => new ApiError(httpErrors.not_found, 'No such entry.')

const notRegistered = ({ status }: OwnEntry): ApiError =>
  new ApiError(dictErrors.dict_entry_not_registered, `The entry is ${status}.`, {
    details: { entry_status: status },
  })

/** Another process may have told the directory, and been refused. @throws ApiError: it is not done */
const demandDone = (entry: OwnEntry, wanted: Wanted): void => {
  const { status, content, refusal } = entry
  const isDone =
    'content' in wanted
      ? JSON.stringify(content) === JSON.stringify(wanted.content)
      : status === 'removed'
  if (!isDone && refusal !== null) throw refused(refusal)
  if (!isDone && status === 'removed') throw notRegistered(entry)
}

/** @throws ApiError if its registration was refused */
const standing = (entry: OwnEntry): Entered => {
  if (entry.status === 'refused') throw refused(entry.refusal ?? '')
  return { entry, isDone: !openStatuses.has(entry.status) }
}

/** Tells the directory what is wanted of an entry, and writes what it answers. */
const createAdvance =
  ({ sql, client, logger }: EntryServiceDeps) =>
  async (id: string): Promise<Entered> => {
    const before = await findEntry(sql, id)
    if (before === undefined) throw noEntry()
    if (!openStatuses.has(before.status)) return standing(before)
    const answer = await orAway(tell(client, before))
    if (answer instanceof DirectoryAwayError || (answer.refusal && isForLater(answer.refusal))) {
      logger.info({ entry: id, status: before.status }, 'the directory is asked again later')
      await touchEntry(sql, id)
      return { entry: before, isDone: false }
    }
    const { refusal } = answer
    const mends = refusal && before.wanted?.mends
    const after = mends
      ? await sql.begin((tx) => putBack(tx, before, mends, refusal.code))
      : await changeEntry(sql, before, answer.after)
    if (after === undefined) {
      // Another process has told it, too: the directory did it once. Since then more may be wanted.
      return standing((await findEntry(sql, id)) ?? answer.after)
    }
    if (refusal !== undefined) throw refused(refusal.code, refusal.status)
    return { entry: after, isDone: true }
  }

type Told = { readonly after: OwnEntry; readonly refusal?: Refused }

/** @throws DirectoryAwayError: nothing is known */
const tell = async (client: DirectoryClient, before: OwnEntry): Promise<Told> => {
  const { key, wanted, content, id, keyType } = before
  const isNew = before.status === 'registering' || key === null || wanted === null
  if (isNew || 'registration' in wanted) {
    const asked = { ...content, keyType, key: key ?? undefined }
    const reason = wanted !== null && 'registration' in wanted ? 'RECONCILIATION' : 'USER_REQUESTED'
    const answer = await client.create(asked, id, reason)
    if (answer.kind === 'refused') return refusedTo(before, 'refused', answer)
    return { after: registered(before, answer.entry.key, content, answer.entry.ownedSince) }
  }
  if ('removal' in wanted) {
    const answer = await client.remove(key, wanted.removal)
    // It may have gone by a request whose answer was lost, and the key be another's by now.
    const isGone =
      answer.kind === 'removed' ||
      answer.code === 'NotFound' ||
      (saysNotOurs(answer) && (await seen(client, answer, before.cid)) === 'gone')
    if (!isGone) return refusedTo(before, 'registered', answer)
    return { after: { ...before, ...removed } }
  }
  const { content: next, reason = 'USER_REQUESTED' } = wanted
  const answer = await client.update(key, next, reason)
  if (answer.kind === 'kept') {
    return { after: registered(before, key, next, answer.entry.ownedSince) }
  }
  const told = refusedTo(before, 'registered', answer)
  if ((await seen(client, answer, before.cid)) !== 'gone') return told
  const changed = await seen(client, answer, cidFor(before, key, next))
  if (typeof changed === 'object') {
    return { after: registered(before, key, next, changed.ownedSince) }
  }
  const isGone = changed === 'gone' && saysNotOurs(answer)
  return isGone ? { ...told, after: { ...told.after, ...removed } } : told
}

/** After any other refusal the key may be ours under another identifier, as one changed at the directory itself is. */
const saysNotOurs = ({ code }: Refused): boolean => code === 'NotFound' || code === 'Forbidden'

const removed = { status: 'removed', wanted: null, cid: null } as const

/**
 * What the directory has, after a refusal, under an identifier of ours. Where it does not say, the refusal stands.
 *
 * @throws DirectoryAwayError: nothing is known
 */
const seen = async (
  { entryOf }: DirectoryClient,
  refusal: Refused,
  cid: string | null,
): Promise<KeptEntry | 'gone' | 'unsaid'> => {
  if (isForLater(refusal) || cid === null) return 'unsaid'
  const found = await entryOf(cid)
  if (found.kind === 'entry') return found.entry
  if (isForLater(found)) throw askedLater(found)
  return found.code === 'NotFound' ? 'gone' : 'unsaid'
}

/** @param status where the refusal leads back to */
const refusedTo = (before: OwnEntry, status: OwnEntry['status'], refusal: Refused): Told => ({
  after: { ...before, status, wanted: null, refusal: refusal.code },
  refusal,
})
