import { formatCents } from '#codecs/iso20022'
import { momentOf } from '../messages/index.ts'
import { differencesIn, type Figures, type Totals } from './figures.ts'
import type { DifferencePage } from './reconcile.ts'
import type { EntryRow, ReportRow } from './service.ts'

/** `refused`: the central bank has taken no such request. */
const stateOf = ({ answeredBy, messageStatus }: ReportRow): string => {
  if (answeredBy !== null) return 'answered'
  return messageStatus === 'REJECTED' || messageStatus === 'FAILED' ? 'refused' : 'requested'
}

export const reportView = (row: ReportRow) => ({
  id: row.id,
  report: row.report,
  state: stateOf(row),
  day: row.day,
  entry_id: row.entryId,
  request_id: row.requestId,
  declared_entries: row.declaredEntries === null ? null : Number(row.declaredEntries),
  file_hash: row.fileHash,
  balances: row.balances,
  answer_message_id: row.answeredBy,
  created_at: momentOf(row.id).toISOString(),
  answered_at: row.answeredBy === null ? null : momentOf(row.answeredBy).toISOString(),
})

const money = (cents: bigint | null): string | null => (cents === null ? null : formatCents(cents))

export const entryView = (row: EntryRow) => ({
  message_id: row.messageId,
  request_id: row.requestId,
  reference: row.reference,
  end_to_end_id: row.endToEndId,
  outcome: row.outcome,
  amount: money(row.amountCents),
  our_amount: money(row.ourCents),
  direction: row.direction,
  status: row.status,
  booked_on: row.bookedOn,
  reported_at: momentOf(row.messageId).toISOString(),
})

export const differenceView = (one: DifferencePage['differences'][number]) => ({
  outcome: one.outcome,
  reference: one.reference,
  direction: one.direction,
  amount: money(one.theirCents),
  our_amount: money(one.ourCents),
  our_status: one.ourStatus,
})

const totals = ({ credits, debits }: Totals) => ({
  credits: { count: credits.count, amount: formatCents(credits.cents) },
  debits: { count: debits.count, amount: formatCents(debits.cents) },
})

/** A day ends where the next begins; what lies between two balances, with the second. */
export const figuresView = (figures: Figures) => {
  const { after, until, balances, declaredEntries, counts } = figures
  const shiftMs = balances === null ? 1 : 0
  return {
    from: new Date(after.getTime() + shiftMs).toISOString(),
    until: new Date(until.getTime() + shiftMs).toISOString(),
    opening: money(balances?.opening ?? null),
    closing: money(balances?.closing ?? null),
    declared_entries: declaredEntries,
    ours: counts && totals(counts.ours),
    reported: counts && totals(counts.reported),
    others: counts && totals(counts.others),
    differences: differencesIn(figures).map((one) => ({
      outcome: one.outcome,
      direction: one.direction,
      count: one.count,
      our_count: one.ourCount,
      amount: money(one.cents),
      our_amount: money(one.ourCents),
    })),
  }
}
