import type { AppEvent, Emit } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import { dayAt } from '#src/platform/runtime/index.ts'
import type { Charge } from '../charges/domain.ts'
import { findCharge } from '../charges/store.ts'
import { withdrawalComponents } from '../charges/withdrawal.ts'
import { type Collection, paidIds, refusalOfCollection } from '../collections/domain.ts'
import { collectionEvents } from '../collections/events.ts'
import { hearOfPayments } from '../collections/paid.ts'
import { lockCollectionsOf } from '../collections/store.ts'
import { duesOn, lastDayOf } from '../due/arithmetic.ts'
import type { Calendar } from '../due/calendar.ts'
import { componentsView } from '../due/view.ts'
import { type IncomingEnd, type IncomingPayment, refusalOf } from './domain.ts'
import { receivedEvent, returnedEvent } from './events.ts'
import { openWithin, pendingOf, pendingWithin } from './pending.ts'
import {
  addReceived,
  type EndedReturn,
  endReceived,
  endReturns,
  knownRefusals,
  lockNamed,
  lockReceived,
  type NewReceived,
  pixByIds,
  type ReceiverRow,
  receiversFor,
} from './store.ts'

/** What the worker of instant payments asks and tells, in the transaction that stores the messages. */
export type Receivables = {
  /** @returns of payments that are somebody's, why they are refused; undefined: they may be accepted */
  readonly receive: (
    tx: Queryable,
    payments: readonly IncomingPayment[],
    at: Date,
  ) => Promise<ReadonlyMap<string, string | undefined>>
  /** Payments that were received in this time and have no end yet. */
  readonly pending: (sql: Queryable, from: Date, to: Date) => Promise<readonly string[]>
  /** Payments without an end, and with returns without one, that were begun behind a place, the oldest first. */
  readonly open: typeof openWithin
  /** Locks payments until the transaction ends, so that nobody makes a return of them; what they may pay is locked first. */
  readonly lock: (tx: Queryable, endToEndIds: readonly string[]) => Promise<void>
  readonly end: (tx: Queryable, ends: readonly IncomingEnd[], at: Date) => Promise<void>
}

/**
 * Payments of charges, matched by tax id and txid, and of receivers whom we know, each once: what comes again gets the
 * answer that it got. A charge outlives the key that it was made for. All other payments are not ours to judge.
 */
export const createReceivables = (emit: Emit, calendar: Calendar): Receivables => ({
  receive: async (tx, payments, at) => {
    const receivers = await receiversFor(tx, payments)
    // A transaction that changes both locks the charges of recurrences first.
    const collections = await collectionsOf(tx, payments)
    const charges = await chargesOf(tx, payments)
    // Under their locks: another may have taken one of the payments meanwhile.
    const answered = await knownRefusals(
      tx,
      payments.map(({ endToEndId }) => endToEndId),
    )
    const fresh = payments.filter(({ endToEndId }) => !answered.has(endToEndId))
    const judged = judgeAll(fresh, {
      receivers,
      collections,
      charges,
      at,
      calendar,
      pending: await pendingIn(tx, charges),
    })
    const overtaken = judged.length === 0 ? [] : await addReceived(tx, judged, at)
    const known = [...answered, ...(await knownRefusals(tx, overtaken))]
    return new Map([
      ...judged.map(({ payment, refusal }) => [payment.endToEndId, refusal] as const),
      ...known.map(([id, code]) => [id, code ?? undefined] as const),
    ])
  },
  pending: pendingWithin,
  open: openWithin,
  lock: async (tx, endToEndIds) => {
    await lockCollectionsOf(tx, endToEndIds)
    await lockReceived(tx, endToEndIds)
  },
  end: endReceivables(emit),
})

/**
 * Needs nothing but where to tell of it: a command uses it, too. Locks are taken in one order: recurrences, what is charged
 * for them, payments, other charges, returns.
 */
export const endReceivables =
  (emit: Emit): Receivables['end'] =>
  async (tx, ends, at) => {
    const ofPayments = ends.filter(({ returnId }) => returnId === null)
    const ofReturns = ends.filter(({ returnId }) => returnId !== null)
    const collections = await lockCollectionsOf(
      tx,
      ends.map(({ endToEndId }) => endToEndId),
    )
    const paid = ofPayments.length === 0 ? [] : await endReceived(tx, ofPayments, at)
    const returned = ofReturns.length === 0 ? [] : await endReturns(tx, ofReturns, at)
    const settled = paid.flatMap(({ endToEndId, isSettled }) => (isSettled ? [endToEndId] : []))
    await hearOfPayments(tx, paid, collections, { emit, at })
    await emit(tx, await eventsOf(tx, settled, returned))
    // The webhook of a key tells nothing of a Pix without one: its charge does.
    const givenBack = new Set(returned.map(({ endToEndId }) => endToEndId))
    const changed = collections.filter((one) => paidIds(one).some((id) => givenBack.has(id)))
    await emit(tx, await collectionEvents(tx, changed))
  }

const eventsOf = async (
  tx: Queryable,
  settled: readonly string[],
  returned: readonly EndedReturn[],
): Promise<readonly AppEvent[]> => {
  const ids = new Set([...settled, ...returned.map(({ endToEndId }) => endToEndId)])
  const all = await pixByIds(tx, [...ids])
  const received = settled.flatMap((id) => {
    const pix = all.get(id)
    return pix === undefined ? [] : [receivedEvent(pix)]
  })
  const ended = returned.flatMap(({ endToEndId, id }) => {
    const pix = all.get(endToEndId)
    const one = pix?.returns.find((other) => other.id === id)
    return pix === undefined || one === undefined ? [] : [returnedEvent(pix, one)]
  })
  return [...received, ...ended]
}

type Charges = ReadonlyMap<string, Charge>

/** By the EndToEndId that an attempt will be paid by. */
type Collections = ReadonlyMap<string, Collection>

const collectionsOf = async (
  tx: Queryable,
  payments: readonly IncomingPayment[],
): Promise<Collections> => {
  const automatic = payments.filter(({ localInstrument }) => localInstrument === 'AUTO')
  if (automatic.length === 0) return new Map()
  const ids = automatic.map(({ endToEndId }) => endToEndId)
  const all = await lockCollectionsOf(tx, ids)
  return new Map(
    all.flatMap((one) => one.attempts.map(({ endToEndId }) => [endToEndId, one] as const)),
  )
}

const nameOf = (taxId: string, txid: string | null): string => `${taxId} ${txid}`

const chargesOf = async (tx: Queryable, payments: readonly IncomingPayment[]): Promise<Charges> => {
  const named = await lockNamed(tx, payments)
  const found = new Map<string, Charge>()
  for (const { taxId, txid, account } of named) {
    const charge = await findCharge(tx, account, txid)
    if (charge !== undefined) found.set(nameOf(taxId, txid), charge)
  }
  return found
}

const pendingIn = async (tx: Queryable, charges: Charges): Promise<Set<string>> => {
  const ids = [...charges.values()].map(({ id }) => id)
  return ids.length === 0 ? new Set() : pendingOf(tx, ids)
}

type Surroundings = {
  readonly receivers: readonly ReceiverRow[]
  readonly collections: Collections
  readonly charges: Charges
  /** Charges that a payment is under way for; grows with those of the batch. */
  readonly pending: Set<string>
  readonly at: Date
  readonly calendar: Calendar
}

const judgeAll = (
  payments: readonly IncomingPayment[],
  { receivers, collections, charges, pending, at, calendar }: Surroundings,
): readonly NewReceived[] => {
  const seen = new Set<string>()
  return payments.flatMap((payment): readonly NewReceived[] => {
    if (seen.has(payment.endToEndId)) return []
    seen.add(payment.endToEndId)
    const collection = collections.get(payment.endToEndId)
    if (collection?.taxId === payment.creditorDocument) {
      const refusal = refusalOfCollection(collection, payment)
      const { account } = collection
      return [{ payment, refusal, account, key: null, chargeId: null, components: null }]
    }
    const charge = charges.get(nameOf(payment.creditorDocument, payment.txid))
    const receiver = receiverOf(payment, charge, receivers)
    if (receiver === undefined) return []
    const isPending = charge !== undefined && pending.has(charge.id)
    const due = charge && dueAt(charge, at, calendar)
    // An attempt is paid to the receiver of its charge, and to nobody else.
    const refusal =
      collection === undefined ? refusalOf(payment, charge, isPending, at, due) : 'UPAY'
    const components = due?.componentsOf(payment.amountCents) ?? cashOf(payment) ?? null
    if (charge !== undefined && refusal === undefined) pending.add(charge.id)
    return [{ payment, refusal, components, ...receiver, chargeId: charge?.id ?? null }]
  })
}

/** How long after midnight we accept what was owed before, for payments that were begun before it. */
const midnightMs = 5 * 60_000

/** What a charge with a due date takes at a moment, and what that is made of; undefined for other charges. */
const dueAt = ({ terms }: Charge, at: Date, calendar: Calendar) => {
  const { due, originalCents } = terms
  if (due === undefined) return undefined
  const last = lastDayOf(due, calendar)
  const days = new Set([dayAt(at), dayAt(new Date(at.getTime() - midnightMs))])
  const owed = [...days]
    .filter((day) => day <= last)
    .map((day) => duesOn(due, originalCents, day, calendar))
  return {
    isPast: owed.length === 0,
    amountsCents: owed.map(({ finalCents }) => finalCents),
    componentsOf: (cents: bigint): string | undefined => {
      const dues = owed.find(({ finalCents }) => finalCents === cents)
      return dues && JSON.stringify(componentsView(originalCents, dues))
    },
  }
}

/** componentesValor of a payment with cash. */
const cashOf = ({ withdrawal }: IncomingPayment): string | undefined =>
  withdrawal === null ? undefined : JSON.stringify(withdrawalComponents(withdrawal))

/** By the charge, by the key, or by the tax id if all its keys are of one account. */
const receiverOf = (
  { creditorKey, creditorDocument }: IncomingPayment,
  charge: Charge | undefined,
  receivers: readonly ReceiverRow[],
): Pick<NewReceived, 'account' | 'key'> | undefined => {
  if (charge !== undefined) return { account: charge.account, key: charge.terms.key }
  const own = receivers.filter(({ taxId }) => taxId === creditorDocument)
  const named = own.find(({ key }) => key === creditorKey)
  if (named !== undefined) return { account: named.account, key: named.key }
  const [first] = own
  const isSole = new Set(own.map(({ account }) => account)).size === 1
  return first !== undefined && isSole ? { account: first.account, key: null } : undefined
}
