import { type CreditTransfer, salvageMessage } from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import type { AppEvent, Emit } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import { firstCharacters } from '#src/platform/runtime/index.ts'
import { amountCentsMax, settledStatuses } from '../../messages/domain.ts'
import { idCharsMax, type MessageView } from '../../messages/view.ts'
import { cashPartsOf } from '../../payments/cash.ts'
import type { Fact } from '../../recurring/domain.ts'
import type { RecurringDraft } from '../../recurring/outgoing.ts'

/** A payment to this institution, for whoever knows what its receivers are owed. */
export type ReceivedPayment = {
  readonly endToEndId: string
  readonly txid: string | null
  readonly amountCents: bigint
  /** MANU, DICT, QRDN … */
  readonly localInstrument: string
  /** CPF or CNPJ. */
  readonly creditorDocument: string
  readonly creditorKey: string | null
  readonly debtorDocument: string
  readonly text: string | null
  /** The cash of a Pix Saque or Pix Troco. */
  readonly withdrawal: ReceivedWithdrawal | null
}

/** Cash that the receiver hands out to the payer. */
type ReceivedWithdrawal = {
  readonly kind: 'saque' | 'troco'
  readonly cashCents: bigint
  readonly purchaseCents: bigint
  /** AGTEC, AGTOT or AGFSS. */
  readonly agent: string
  /** ISPB. */
  readonly facilitator: string
}

/** What the SPI says of a payment, or of the return of one. */
export type ReceivedEnd = {
  readonly endToEndId: string
  /** RtrId; null: of the payment itself. */
  readonly returnId: string | null
  readonly isSettled: boolean
  readonly reason: string | null
  /** Set when a person may have told otherwise before. */
  readonly isCorrection?: boolean | undefined
}

/** Behind a payment that was begun at a moment: many may be begun at the same. */
export type BegunPlace = { readonly at: Date; readonly id: string }

/** Whoever knows what receivers are owed. Learns of payments in the transaction that stores the messages. */
export type Receivables = {
  /** @returns of payments that are owed, why they are refused; undefined: they may be accepted, as all others */
  readonly receive: (
    tx: Queryable,
    payments: readonly ReceivedPayment[],
    at: Date,
  ) => Promise<ReadonlyMap<string, string | undefined>>
  /** @returns EndToEndIds of payments that were received in this time and have no end yet */
  readonly pending: (sql: Queryable, from: Date, to: Date) => Promise<readonly string[]>
  /**
   * @returns EndToEndIds of payments that have no end yet, or returns without one, begun behind a place and before a moment,
   * the oldest first; and where to go on: undefined if these are all
   */
  readonly open: (
    sql: Queryable,
    from: BegunPlace,
    to: Date,
    limit: number,
  ) => Promise<{ readonly ids: readonly string[]; readonly next: BegunPlace | undefined }>
  /** Locks payments until the transaction ends, so that nobody makes a return of them. */
  readonly lock: (tx: Queryable, endToEndIds: readonly string[]) => Promise<void>
  readonly end: (tx: Queryable, ends: readonly ReceivedEnd[], at: Date) => Promise<void>
}

/** Whoever knows the recurrences of receivers. Called in the transaction that stores the messages. */
export type Recurrences = {
  /**
   * @param facts what messages say of mandates and charges, whoever's they are
   * @returns what is to be answered
   */
  readonly told: (
    tx: Queryable,
    facts: readonly Fact[],
    at: Date,
  ) => Promise<readonly RecurringDraft[]>
}

/** The payments of a pacs.008; none of another message, nor those that cannot be read or stored. */
export const paymentsIn = (
  document: XmlDocument,
  { type, version }: { readonly type: string; readonly version: string },
): readonly ReceivedPayment[] => {
  if (type !== 'pacs.008') return []
  const reading = salvageMessage(document, { type, version })
  if (!reading.ok) return []
  const found = reading.message.transactions.map((one) => ({
    endToEndId: one.endToEndId,
    // An id that is too long is malformed, and stays as it is.
    txid: bounded(one.transactionId, idCharsMax),
    amountCents: BigInt(one.amount.cents),
    localInstrument: one.localInstrument,
    creditorDocument: one.creditor.document,
    creditorKey: one.creditorAccount.proxyId,
    debtorDocument: one.debtor.document,
    text: bounded(one.remittance?.unstructured, textCharsMax),
    withdrawal: withdrawalIn(one),
  }))
  return found.filter(
    (one) =>
      [one.endToEndId, one.creditorDocument, one.debtorDocument].every(isId) &&
      one.amountCents <= amountCentsMax,
  )
}

const bounded = (text: string | null | undefined, charactersMax: number): string | null =>
  typeof text === 'string' ? firstCharacters(text, charactersMax) : null

const kinds: Readonly<Record<string, ReceivedWithdrawal['kind']>> = { OTHR: 'saque', GSCB: 'troco' }

const withdrawalIn = (transfer: CreditTransfer): ReceivedWithdrawal | null => {
  const kind = kinds[transfer.purpose]
  const structured = transfer.remittance?.structured
  const parts = cashPartsOf(transfer)
  if (kind === undefined || !structured || parts === undefined) return null
  const { documentType, issuerIspb } = structured
  const bounded = (text: string): string => firstCharacters(text, idCharsMax)
  return { kind, ...parts, agent: bounded(documentType), facilitator: bounded(issuerIspb) }
}

/** A longer id fits no index. */
const isId = (id: string): boolean => id !== '' && id.length <= idCharsMax
const textCharsMax = 140

/** The ends that a pacs.002 tells of. */
export const endsIn = ({ identity, transactions }: MessageView): readonly ReceivedEnd[] => {
  if (identity.type !== 'pacs.002') return []
  return transactions.flatMap(({ endToEndId, instructionId, status = '', reason = null }) => {
    const isSettled = settledStatuses.includes(status)
    if (endToEndId === undefined || (!isSettled && status !== 'RJCT')) return []
    const isReturn = instructionId?.startsWith('D') === true
    return [{ endToEndId, returnId: isReturn ? instructionId : null, isSettled, reason }]
  })
}

/**
 * Emits, and ends the returns that the events tell to be refused: a message that is refused as a whole has no
 * report of its transactions, and its sender may learn of the refusal where it records the sending.
 */
export const endingReturns =
  (emit: Emit, receivables: Pick<Receivables, 'end'> | undefined): Emit =>
  async (tx, events) => {
    await emit(tx, events)
    const ends = refusedReturns(events)
    if (ends.length > 0) await receivables?.end(tx, ends, new Date())
  }

/**
 * The returns that events tell to be refused.
 *
 * @param corrected messages whose end a person had told
 */
export const refusedReturns = (
  events: readonly AppEvent[],
  corrected: ReadonlySet<string> = new Set(),
): readonly ReceivedEnd[] =>
  events.flatMap((event) => {
    if (event.type !== 'pix.refund.rejected') return []
    const { end_to_end_id: endToEndId, refund_id: returnId, message_id: id, refusal } = event.data
    if (endToEndId === null || returnId === null) return []
    const reason = refusal?.code ?? null
    return [{ endToEndId, returnId, isSettled: false, reason, isCorrection: corrected.has(id) }]
  })
