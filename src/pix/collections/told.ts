import type { Emit } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import { movedTo } from '../recurrences/domain.ts'
import { findRecurrences } from '../recurrences/store.ts'
import { cancellationEnding, type MandateFact } from '../requests/hearing.ts'
import {
  type Attempt,
  type Collection,
  fatalReasons,
  openAttempts,
  openStatuses,
  rejectionOf,
} from './domain.ts'
import { cancelledCollection } from './ending.ts'
import { collectionEvents } from './events.ts'
import { payingAttempts } from './paying.ts'
import { changeCollection, lockCollectionsOf } from './store.ts'

type Context = { readonly emit: Emit; readonly at: Date }

/** What payers' institutions say of attempts that are ours. */
export const hearOfCharges = async (
  tx: Queryable,
  facts: readonly MandateFact[],
  { emit, at }: Context,
): Promise<void> => {
  const locked = await lockCollectionsOf(
    tx,
    facts.map(({ key }) => key),
  )
  const ids = [...new Set(locked.map(({ recurrenceId }) => recurrenceId))]
  const payers = new Map((await findRecurrences(tx, ids)).map(({ id, payer }) => [id, payer?.ispb]))
  // An attempt that is being paid is refused, cancelled or failed by nobody: what becomes of the payment ends it.
  const paying = await payingAttempts(tx, facts.some(isEnding) ? locked : [])
  const isOvertaken = (fact: MandateFact) => isEnding(fact) && paying.has(fact.key)
  const changed = locked.flatMap((before) => {
    const payer = payers.get(before.recurrenceId)
    const said = facts.filter((fact) => maySay(fact, before, payer) && !isOvertaken(fact))
    const after = said.reduce((one, fact) => hearOfCharge(one, fact, at), before)
    return after === before ? [] : [after]
  })
  for (const one of changed) await changeCollection(tx, one)
  await emit(tx, await collectionEvents(tx, changed))
}

const isEnding = ({ event }: MandateFact): boolean => event === 'refused' || event === 'cancelled'

/** Whether it is of the institution that the charge is to be paid at, as far as the message tells. */
const maySay = (
  { reconciliationId, speaker }: MandateFact,
  { txid }: Collection,
  payer: string | undefined,
): boolean =>
  (reconciliationId === null || reconciliationId === txid) &&
  (speaker === undefined || speaker === payer)

/** Where a fact leads; the same charge if it changes nothing. */
const hearOfCharge = (before: Collection, fact: MandateFact, at: Date): Collection => {
  const attempt = before.attempts.find(({ endToEndId }) => endToEndId === fact.key)
  if (attempt === undefined || !openAttempts.has(attempt.status)) return before
  switch (fact.event) {
    case 'scheduled':
      return attempt.status === 'AGENDADA' ? before : scheduled(before, attempt, at)
    case 'refused':
      return refused(before, attempt, fact.reason, at)
    case 'cancelled':
      if (!openStatuses.has(before.status)) return before
      return fact.reason === settlementFailed
        ? { ...withAttempt(before, movedTo(attempt, 'EXPIRADA', at)), nextAt: at }
        : cancelled(before, fact, at)
    default:
      return before
  }
}

const withAttempt = (before: Collection, after: Attempt): Collection => ({
  ...before,
  attempts: before.attempts.map((one) => (one.endToEndId === after.endToEndId ? after : one)),
})

const scheduled = (before: Collection, attempt: Attempt, at: Date): Collection => {
  const after = withAttempt(before, movedTo(attempt, 'AGENDADA', at))
  return after.status === 'CRIADA' ? movedTo(after, 'ATIVA', at) : after
}

const refused = (
  before: Collection,
  attempt: Attempt,
  reason: string | null,
  at: Date,
): Collection => {
  const after = withAttempt(before, { ...movedTo(attempt, 'REJEITADA', at), reason })
  const isFinal = reason !== null && fatalReasons.has(reason) && openStatuses.has(before.status)
  // At once we look what else may be done, and until when.
  if (!isFinal) return { ...after, nextAt: at }
  const ending = { rejeicao: rejectionOf(reason) }
  return { ...movedTo(after, 'REJEITADA', at), ...{ ending, nextAt: null } }
}

/** A camt.055 with this reason says that the attempt was not paid, and that the charge stands. */
const settlementFailed = 'FAIL'

/** The payer has cancelled it. */
const cancelled = (before: Collection, { reason }: MandateFact, at: Date): Collection => {
  const code = reason ?? 'OTHR'
  const requester = code === 'SLBD' ? 'USUARIO_PAGADOR' : 'PSP_PAGADOR'
  const ending = cancellationEnding(code, 'Cancelamento informado pelo PSP Pagador', requester)
  return cancelledCollection(before, ending, at)
}
