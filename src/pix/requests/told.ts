import { codeLists } from '#codecs/iso20022'
import type { Emit } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import { findCharge } from '../charges/store.ts'
import { endCollections } from '../collections/ending.ts'
import { wakeCollections } from '../collections/store.ts'
import { hearOfCharges } from '../collections/told.ts'
import { endedStatuses, type Recurrence } from '../recurrences/domain.ts'
import { recurrenceEvent } from '../recurrences/events.ts'
import type { Draft } from '../recurrences/mandate.ts'
import { lockRecurrences, reviseRecurrence } from '../recurrences/store.ts'
import { type Agreement, hear, type MandateFact } from './hearing.ts'
import { changeRequest, requestsOf } from './store.ts'

/** What the worker of instant payments tells, in the transaction that stores the messages. */
export type Recurrences = {
  /** @returns what is to be answered */
  readonly told: (
    tx: Queryable,
    facts: readonly MandateFact[],
    at: Date,
  ) => Promise<readonly Draft[]>
}

/** What payers' institutions say of recurrences and charges that are ours; those of everybody else are not ours to judge. */
export const createRecurrences = (emit: Emit, ispb: string): Recurrences => ({
  told: async (tx, facts, at) => {
    const ofMandates = facts.filter(({ kind }) => kind === 'mandate')
    const ofCharges = facts.filter(({ kind }) => kind === 'charge')
    const drafts =
      ofMandates.length === 0 ? [] : await hearOfMandates(tx, ofMandates, { emit, ispb, at })
    if (ofCharges.length > 0) await hearOfCharges(tx, ofCharges, { emit, at })
    return drafts
  },
})

/** The same where something of ours is refused, which nobody answers, so that it needs no ISPB: a command uses it, too. */
export const tellRefusals = (emit: Emit): Recurrences => createRecurrences(emit, '')

type Context = { readonly emit: Emit; readonly ispb: string; readonly at: Date }

const hearOfMandates = async (
  tx: Queryable,
  facts: readonly MandateFact[],
  { emit, ispb, at }: Context,
): Promise<readonly Draft[]> => {
  const before = await agreementsOf(tx, [...new Set(facts.map(({ key }) => key))])
  if (before.size === 0) return []
  const after = new Map(before)
  const drafts: Draft[] = []
  for (const fact of facts) {
    const agreement = after.get(fact.key)
    if (agreement === undefined) continue
    const isBegun = await isPaid(tx, agreement.recurrence)
    const heard = hear(agreement, fact, { ispb, at, meaningOf, isBegun })
    after.set(fact.key, heard)
    drafts.push(...heard.drafts)
  }
  const changed = [...after].flatMap(([id, now]) => {
    const was = before.get(id)
    return was === undefined ? [] : [[was, now] as const]
  })
  for (const [was, now] of changed) await write(tx, was, now)
  const moved = changed.flatMap(([was, { recurrence }]) =>
    was.recurrence.status === recurrence.status ? [] : [recurrence],
  )
  await endCollections(
    tx,
    moved.filter(({ status }) => endedStatuses.has(status)),
    { emit, at },
  )
  const approved = moved.filter(({ status }) => status === 'APROVADA')
  if (approved.length > 0) {
    await wakeCollections(
      tx,
      approved.map(({ id }) => id),
      at,
    )
  }
  await emit(tx, moved.map(recurrenceEvent))
  return drafts
}

const agreementsOf = async (
  tx: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Agreement>> => {
  const recurrences = await lockRecurrences(tx, ids)
  if (recurrences.length === 0) return new Map()
  const requests = await requestsOf(
    tx,
    recurrences.map(({ id }) => id),
  )
  return new Map(
    recurrences.map((recurrence) => {
      const request = requests.findLast(({ recurrenceId }) => recurrenceId === recurrence.id)
      return [recurrence.id, { recurrence, request }]
    }),
  )
}

/** Whether the charge that a recurrence begins with is paid. */
const isPaid = async (tx: Queryable, { account, terms }: Recurrence): Promise<boolean> => {
  if (terms.firstTxid === undefined) return false
  return (await findCharge(tx, account, terms.firstTxid))?.status === 'CONCLUIDA'
}

const write = async (tx: Queryable, was: Agreement, now: Agreement): Promise<void> => {
  if (was.recurrence !== now.recurrence) await reviseRecurrence(tx, now.recurrence)
  if (now.request !== undefined && was.request !== now.request) {
    await changeRequest(tx, now.request)
  }
}

/** In Portuguese, as the standard is. */
const meaningOf = (code: string): string =>
  (codeLists.mandate_refusal.get(code) ?? codeLists.mandate_cancellation_reason.get(code))?.meaning
    ?.pt ?? code
