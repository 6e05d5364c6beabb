import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import {
  type Client,
  createGatherer,
  goAlone,
  isNotWhole,
  isRowFault,
  type Queryable,
  type Rider,
  wholeOf,
} from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  auditInsert,
  type Caller,
  claimRows,
  firstOfEachKey,
  httpErrors,
  type IdempotencyKey,
  refuseWhenBusy,
  repetitionOf,
} from '#src/platform/http/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import {
  canEnqueueAtOnce,
  enqueueAtOnce,
  enqueueMessages,
  SentAlreadyError,
} from '../../messages/index.ts'
import type { NoteReturn } from '../../payments/service.ts'
import { auditEntry, type Built, knownAlready, queuedAnswer } from './answers.ts'
import { isNoted, lockReturned } from './noting.ts'

type Acceptance = { readonly built: Built; readonly caller: Caller }

/** @throws ApiError if the key was used for another request, or too many wait */
export type Accept = (built: Built, caller: Caller) => Promise<Answered>

/** Requests of one transaction, and transactions at once: the next is filled while one commits. */
const rowsMax = 64
const writersMax = 2
const waitingMax = 5_000

/**
 * Stores and queues messages with the answers of their Idempotency-Keys and their audit entries. Requests that come
 * while a transaction runs share the next; one that cannot be stored fails alone.
 */
export const createAcceptor = (
  sql: Client,
  broker: TransactionalBroker,
  noteReturn: NoteReturn | undefined,
): Accept => {
  const store = createGatherer<Acceptance, boolean | ApiError>({
    rowsMax,
    writersMax,
    waitingMax,
    isRowFault,
    write: async (all) => {
      const { stored, refused } = await storeAll(sql, { broker, noteReturn }, all)
      return all.map(({ built: { message } }) => refused.get(message.id) ?? stored.has(message.id))
    },
  })
  return async (built, caller) => {
    const isNew = await store({ built, caller }).catch(refuse)
    if (isNew instanceof ApiError) throw isNew
    if (isNew) return { ...queuedAnswer(built), isReplay: false }
    // Without a key every message is new.
    return repetitionOf(sql, caller.idempotencyKey as IdempotencyKey)
  }
}

const refuse = refuseWhenBusy(httpErrors.unavailable, 'Too many messages wait to be stored.')

/**
 * Most requests are new and need one statement; telling them from known ones needs a transaction.
 *
 * @returns ids of the messages stored now, without those whose key is known, and of those that are refused with why
 */
const storeAll = async (
  sql: Client,
  deps: StoreDeps,
  all: readonly Acceptance[],
): Promise<Stored> => {
  const first = firstOfEachKey(all, ({ caller }) => caller.idempotencyKey)
  const messages = first.map(({ built }) => built.message)
  const built = first.map((one) => one.built)
  if (canEnqueueAtOnce(messages) && !isNoted(built, deps.noteReturn)) {
    try {
      const riders = [claiming(first), allFree(first)]
      return { stored: await enqueueAtOnce(sql, deps.broker, messages, riders), refused: new Map() }
    } catch (error) {
      if (!isNotWhole(error)) throw error
    }
  }
  try {
    return { stored: await sql.begin((tx) => storeFresh(tx, deps, first)), refused: new Map() }
  } catch (error) {
    if (!(error instanceof SentAlreadyError)) throw error
    const { refusals: refused } = error
    const left = first.filter(({ built }) => !refused.has(built.message.id))
    return { stored: await sql.begin((tx) => storeFresh(tx, deps, left)), refused }
  }
}

type StoreDeps = {
  readonly broker: TransactionalBroker
  readonly noteReturn: NoteReturn | undefined
}

type Stored = {
  readonly stored: ReadonlySet<string>
  readonly refused: ReadonlyMap<string, ApiError>
}

const allFree = ({ length }: readonly Acceptance[]): Rider => ({
  name: 'unclaimed',
  ctes: (sql) => sql`unclaimed as (select ${wholeOf(sql, 'free', length)} as told)`,
  done: () => {},
})

/** Claims first, and stores what is left. */
const storeFresh = async (
  tx: Queryable,
  { broker, noteReturn }: StoreDeps,
  all: readonly Acceptance[],
): Promise<ReadonlySet<string>> => {
  let fresh: ReadonlySet<string> = new Set()
  const claim = claiming(all, (free) => {
    fresh = new Set(free)
  })
  await goAlone(tx, claim)
  const built = all.map((one) => one.built).filter(({ message }) => fresh.has(message.id))
  const messages = built.map(({ message }) => message)
  const note = await lockReturned(tx, built, noteReturn)
  const queued = await enqueueMessages(tx, broker, messages)
  const known = messages.find(({ id }) => !queued.has(id))
  if (known !== undefined) throw knownAlready(known)
  await note()
  return queued
}

/**
 * Claims keys with their answers, writes the audit entries of those that were free, and tells their messages. Whoever
 * claims in a statement of its own does so first, too, or two processes with the same request wait for each other.
 */
const claiming = (all: readonly Acceptance[], done: Rider['done'] = () => {}): Rider => {
  const rows = all.map(({ built, caller }) => {
    const { actor, ...entry } = auditEntry(built, caller)
    const { idempotencyKey: key } = caller
    return {
      ...entry,
      actor: actor.id,
      requestId: actor.requestId,
      auditId: newUuid(),
      key: key?.key,
      fingerprint: key?.fingerprint,
      ...queuedAnswer(built),
    }
  })
  const ctes = (tx: Queryable) => tx`
    input as (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as i(
        actor text, action text, object text, outcome text, "requestId" text, "auditId" text,
        key text, fingerprint text, status int, body text)
    ), taken as (${claimRows(tx, tx`select key, fingerprint, status, body from input`)}),
    free as materialized (
      select i.* from input i left join taken on taken.key = i.key
      where i.key is null or taken.key is not null
    ), audited as (${auditInsert(
      tx,
      tx`select "auditId", actor, action, object, outcome, "requestId" from free`,
    )}), accepted as (select object as told from free)`
  return { name: 'accepted', ctes, done, isFirst: true }
}
