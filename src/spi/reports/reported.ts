import { formatCents, salvageMessage, type TypedMessages } from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import { amountCentsMax } from '../messages/domain.ts'
import { idCharsMax } from '../messages/view.ts'

/** One entry of a camt.054, or that there is none. */
export type ReportedEntry = {
  readonly kind: 'entry'
  readonly requestId: string
  readonly reference: string
  readonly endToEndId: string
  readonly amountCents: bigint
  readonly direction: string
  readonly status: string
  readonly bookedOn: string | null
  readonly valuedAt: string | null
  /** The entry that was asked for does not exist, or cannot be told. */
  readonly isRefused: boolean
}

/** A camt.052 or camt.053. */
export type ReportedAccount = {
  readonly kind: 'account'
  readonly requestId: string
  readonly declaredEntries: string | null
  readonly fileHash: string | null
  readonly balances: readonly Balance[] | null
}

export type Balance = { readonly type: string; readonly amount: string; readonly at: string }

export type Reported = ReportedEntry | ReportedAccount

const readers = {
  'camt.052': ({ reports }: TypedMessages['camt.052']): readonly Reported[] =>
    reports.map(({ id, numberOfEntries, hash }) => ({
      kind: 'account',
      requestId: id,
      balances: null,
      declaredEntries: numberOfEntries,
      fileHash: hash,
    })),
  'camt.053': ({ statements }: TypedMessages['camt.053']): readonly Reported[] =>
    statements.map(({ id, balances }) => ({
      kind: 'account',
      requestId: id,
      declaredEntries: null,
      fileHash: null,
      balances: balances.map(({ type, amount, dateTime }) => ({
        type,
        amount: formatCents(amount.cents),
        at: dateTime,
      })),
    })),
  'camt.054': ({ notifications }: TypedMessages['camt.054']): readonly Reported[] =>
    notifications.map(({ id, entry, errorDescription }) => {
      const { instructionId, endToEndId } = entry.transaction
      return {
        kind: 'entry',
        requestId: id,
        endToEndId,
        direction: entry.creditDebit,
        reference: instructionId?.startsWith('D') === true ? instructionId : endToEndId,
        amountCents: entry.amount.cents,
        status: entry.status,
        bookedOn: entry.bookingDate,
        valuedAt: entry.valueDateTime,
        isRefused: entry.errorCode !== null || errorDescription !== null,
      }
    }),
} as const

type ReportType = keyof typeof readers

const isReport = (type: string): type is ReportType => Object.hasOwn(readers, type)

/** Whether an index holds what it is looked for by, and a column what it is worth. */
const isStorable = (one: Reported): boolean =>
  one.requestId.length <= idCharsMax &&
  (one.kind === 'account' ||
    (one.reference.length <= idCharsMax &&
      (one.bookedOn ?? '').length <= idCharsMax &&
      one.amountCents <= amountCentsMax))

/** What a message reports of our account; nothing if it is of another type, nor of what in it cannot be read. */
export const reportedBy = (
  document: XmlDocument,
  { type, version }: { readonly type: string; readonly version: string },
): readonly Reported[] => {
  if (!isReport(type)) return []
  const reading = salvageMessage(document, { type, version })
  if (!reading.ok) return []
  // The reader of a type takes what its message is read into.
  const read = readers[type] as (message: TypedMessages[ReportType]) => readonly Reported[]
  return read(reading.message).filter(isStorable)
}
