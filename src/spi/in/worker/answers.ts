import { definitionOf, isMessageType, type MessageType } from '#codecs/iso20022'
import { type MessageOutcome, type Outcome, outcomeOfAll } from '../../messages/index.ts'
import type { MessageView, TransactionView } from '../../messages/view.ts'

/** What a received message says about one transaction that this institution has sent. */
export type TransactionAnswer = {
  readonly kind: 'transaction'
  /** Types that the sent message may have. */
  readonly types: readonly MessageType[]
  readonly endToEndId: string
  /** Undefined: the EndToEndId alone names the transaction. */
  readonly instructionId: string | undefined
  readonly outcome: Outcome
  /** As the answer gives it: ACSC, RJCT, ACCR. */
  readonly status: string
  readonly reason: string | undefined
}

/** What a received message says about a sent message as a whole. */
export type MessageAnswer = {
  readonly kind: 'message'
  /** BizMsgIdr, or PI-ResourceId. */
  readonly reference: string
  readonly outcome: MessageOutcome
  readonly reason: string | undefined
}

export type Answer = TransactionAnswer | MessageAnswer

/** Statuses that end a transaction or message; every other status means that it goes on. */
const outcomes: Readonly<Record<string, Outcome>> = {
  ACSP: 'ACCEPTED',
  ACSC: 'ACCEPTED',
  ACCC: 'ACCEPTED',
  RJCT: 'REJECTED',
  ACCR: 'ACCEPTED',
  RJCR: 'REJECTED',
  ACPT: 'ACCEPTED',
  COMP: 'ACCEPTED',
  REJT: 'REJECTED',
}

export const outcomeOf = (status: string | undefined | null): Outcome | undefined =>
  typeof status === 'string' && Object.hasOwn(outcomes, status) ? outcomes[status] : undefined

const perTransaction = (
  { transactions }: MessageView,
  types: (transaction: TransactionView) => readonly MessageType[],
  needsInstruction: boolean,
): readonly Answer[] =>
  transactions.flatMap((transaction): readonly Answer[] => {
    const { endToEndId, instructionId, status, reason } = transaction
    const outcome = outcomeOf(status)
    if (outcome === undefined || endToEndId === undefined || status === undefined) return []
    return [
      {
        kind: 'transaction',
        types: types(transaction),
        endToEndId,
        instructionId: needsInstruction ? instructionId : undefined,
        outcome,
        status,
        reason,
      },
    ]
  })

/** Returns one answer to each message that receipts are about; it ends as its transactions do. */
const receipts = ({ transactions }: MessageView): readonly Answer[] => {
  const byReference = Map.groupBy(
    transactions.filter(({ reference }) => reference !== undefined),
    ({ reference }) => reference ?? '',
  )
  return [...byReference].flatMap(([reference, all]): readonly Answer[] => {
    const known = all.map(({ status }) => outcomeOf(status)).filter((one) => one !== undefined)
    if (known.length === 0) return []
    const refusals = known.filter((one) => one === 'REJECTED').length
    const outcome = outcomeOfAll(known.length, refusals)
    const refused = all.find(({ status }) => outcomeOf(status) === 'REJECTED')
    return [{ kind: 'message', reference, outcome, reason: refused?.reason }]
  })
}

const whole = (
  { reference, reason }: MessageView,
  outcome: Outcome | undefined,
): readonly Answer[] =>
  outcome === undefined || reference === undefined
    ? []
    : [{ kind: 'message', reference, outcome, reason }]

/** Returns what the message says about messages that we have sent. */
export const answersOf = (view: MessageView): readonly Answer[] => {
  const { type } = view.identity
  const answers = isMessageType(type) ? definitionOf(type).facts.answers : null
  switch (answers?.about) {
    case 'transaction':
      // A charge may have been asked to be cancelled more than once: the answer cites one of the cancellations.
      return perTransaction(view, () => answers.to, answers.to.includes('camt.055'))
    case 'payment_or_return':
      // A report names a return by its RtrId. It also ends the answer that we gave to a payment we received.
      return perTransaction(
        view,
        ({ instructionId = '' }) => (instructionId.startsWith('D') ? answers.toReturn : answers.to),
        true,
      )
    case 'receipts':
      return receipts(view)
    case 'message':
      return whole(view, answers.isRefusal ? 'REJECTED' : outcomeOf(view.status))
    case undefined:
      return []
  }
}
