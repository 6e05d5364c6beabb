/** What becomes of a charge of a recurrence as days go by, and what is sent about it. */

import { createRandomText, newEndToEndId } from '#codecs/iso20022'
import { addDays, type Day, dayAt, startOfDay } from '#src/platform/runtime/index.ts'
import { debtorTaxIdOf } from '../charges/domain.ts'
import type { Calendar } from '../due/calendar.ts'
import { freshDatedId, movedTo, type Recurrence } from '../recurrences/domain.ts'
import type { Draft } from '../recurrences/mandate.ts'
import {
  type Attempt,
  type AttemptKind,
  accountTypes,
  type Collection,
  failureReason,
  lastRetryDay,
  lastScheduleDay,
  openAttempts,
  openStatuses,
  resendAfterMs,
  resendsMax,
  scheduleDay,
  settlementDay,
} from './domain.ts'

export type Advanced = { readonly collection: Collection; readonly drafts: readonly Draft[] }

type Circumstances = {
  readonly recurrence: Recurrence
  /** Ours. */
  readonly ispb: string
  readonly at: Date
  readonly calendar: Calendar
}

const random = createRandomText((bytes) => crypto.getRandomValues(bytes))

/** The payer's institution tries until midnight, and may tell us somewhat later. */
const graceMs = 3_600_000

/** When an attempt that nobody has ended is over. */
const endOf = (day: Day): Date => new Date(startOfDay(addDays(day, 1)).getTime() + graceMs)

/** Does what is due, and says when something is due next. */
export const advance = (before: Collection, circumstances: Circumstances): Advanced => {
  const { recurrence, at, calendar } = circumstances
  if (!openStatuses.has(before.status)) return still({ ...before, nextAt: null })
  const collection = withoutOverdue(before, at)
  const open = collection.attempts.find(({ status }) => openAttempts.has(status))
  if (open !== undefined) return still({ ...collection, nextAt: endOf(open.settlesOn) })
  const resend = resendOf(collection, recurrence, at)
  if (resend !== undefined) {
    return at < resend.from
      ? still({ ...collection, nextAt: resend.from })
      : attempted(collection, 'RIFL', resend.settlesOn, circumstances)
  }
  const day = settlementDay(collection.dueOn, collection.content.adjusts, calendar)
  if (collection.attempts.length > 0 || dayAt(at) > day) {
    const isRetried = recurrence.terms.retries !== 'NAO_PERMITE' && collection.attempts.length > 0
    const lastDay = isRetried ? lastRetryDay(collection, recurrence.terms) : day
    const nextAt = endOf(lastDay)
    if (at < nextAt) return still({ ...collection, nextAt })
    return still({ ...movedTo(collection, 'EXPIRADA', at), nextAt: null })
  }
  const isTooLate = dayAt(at) > lastScheduleDay(day)
  if (isTooLate || recurrence.status !== 'APROVADA') {
    return still({ ...collection, nextAt: endOf(day) })
  }
  const from = startOfDay(scheduleDay(day))
  if (at < from) return still({ ...collection, nextAt: from })
  return attempted(collection, 'AGND', day, circumstances)
}

/** When what failed at the payer's institution is sent again, until the day on which it was to be settled is over. */
const resendOf = (
  { attempts }: Collection,
  { status }: Recurrence,
  at: Date,
): { readonly from: Date; readonly settlesOn: Day } | undefined => {
  const last = attempts.at(-1)
  const failedAt = last?.history.at(-1)?.data
  const sentAgain = attempts.filter(({ kind }) => kind === 'RIFL').length
  if (last === undefined || failedAt === undefined || status !== 'APROVADA') return undefined
  if (last.status !== 'REJEITADA' || last.reason !== failureReason) return undefined
  const from = new Date(Date.parse(failedAt) + resendAfterMs)
  const isOver =
    sentAgain >= resendsMax || dayAt(from) > last.settlesOn || dayAt(at) > last.settlesOn
  return isOver ? undefined : { from, settlesOn: last.settlesOn }
}

const still = (collection: Collection): Advanced => ({ collection, drafts: [] })

const withoutOverdue = (collection: Collection, at: Date): Collection => ({
  ...collection,
  attempts: collection.attempts.map((attempt) =>
    openAttempts.has(attempt.status) && at >= endOf(attempt.settlesOn)
      ? movedTo(attempt, 'EXPIRADA', at)
      : attempt,
  ),
})

/** Asks the payer's institution for a payment on a day. */
export const attempted = (
  collection: Collection,
  kind: AttemptKind,
  settlesOn: Day,
  circumstances: Circumstances,
): Advanced => {
  const { ispb, at } = circumstances
  const data = at.toISOString()
  const attempt: Attempt = {
    endToEndId: newEndToEndId({ ispb, created: data, random }),
    kind,
    settlesOn,
    status: 'SOLICITADA',
    reason: null,
    history: [{ status: 'SOLICITADA', data }],
  }
  const asked = {
    ...collection,
    attempts: [...collection.attempts, attempt],
    nextAt: endOf(settlesOn),
  }
  return { collection: asked, drafts: [scheduleDraft(asked, attempt, circumstances)] }
}

/** pain.013. */
const scheduleDraft = (
  { txid, taxId, amountCents, dueOn, content }: Collection,
  { endToEndId, kind, settlesOn }: Attempt,
  { recurrence, ispb }: Circumstances,
): Draft => {
  const { payer, terms, id } = recurrence
  const { conta, agencia, tipoConta } = content.credited
  const owes = debtorTaxIdOf(terms.debtor)
  const charge = {
    reconciliation_id: txid,
    end_to_end_id: endToEndId,
    mandate_id: id,
    purpose: kind,
    ...(kind === 'AGND'
      ? { execution_date_time: startOfDay(settlesOn).toISOString(), due_date: dueOn }
      : { due_date: settlesOn }),
    amount: Number(amountCents),
    remittance_information: content.info,
    debtor: { ispb: payer?.ispb, document: payer?.taxId },
    ...(owes === undefined || owes === payer?.taxId
      ? {}
      : { ultimate_debtor: { name: terms.debtor.nome, document: owes } }),
    creditor: {
      ispb,
      document: taxId,
      account_num: conta,
      branch: agencia,
      account_type: accountTypes[tipoConta],
    },
  }
  return { type: 'PAIN013', params: { charges: [charge] } }
}

/** camt.055: the receiver takes back what is scheduled. */
export const cancellationsOf = (
  { txid, taxId, attempts }: Collection,
  { recurrence, ispb, at }: Circumstances,
): readonly Draft[] =>
  attempts
    .filter(({ status }) => openAttempts.has(status))
    .map(({ endToEndId }) => ({
      type: 'CAMT055',
      params: {
        cancellation_id: freshDatedId('CA', ispb, at),
        reconciliation_id: txid,
        original_end_to_end_id: endToEndId,
        counterparty_ispb: recurrence.payer?.ispb,
        requester_document: taxId,
        reason: 'SLCR',
        processing_type: 'DHSR',
      },
    }))
