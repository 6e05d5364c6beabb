import type { MessageType } from '#codecs/iso20022'
import type { MessageStatus } from '../../messages/index.ts'
import type { MessageView, TransactionView } from '../../messages/view.ts'

export type Outcome = Extract<MessageStatus, 'ACCEPTED' | 'REJECTED'>

/** What a received message says about one transaction that this institution has sent. */
export type TransactionAnswer = {
  readonly kind: 'transaction'
  /** Types of the sent message. */
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
  readonly outcome: Outcome
  readonly reason: string | undefined
}

export type Answer = TransactionAnswer | MessageAnswer

type Handler = (view: MessageView) => readonly Answer[]

/** Statuses that end something; all others say that it goes on. */
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

/** Statuses by which a transaction is refused. */
export const refusedStatuses: readonly string[] = ['RJCT', 'RJCR']

export const outcomeOf = (status: string | undefined | null): Outcome | undefined =>
  typeof status === 'string' && Object.hasOwn(outcomes, status) ? outcomes[status] : undefined

const perTransaction =
  (types: (transaction: TransactionView) => readonly MessageType[], needsInstruction: boolean) =>
  (view: MessageView): readonly Answer[] =>
    view.transactions.flatMap((transaction): readonly Answer[] => {
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

/**
 * A report names a return by its RtrId and a payment by its EndToEndId. It also ends our own answer to a payment
 * that we received.
 */
const statusReport = perTransaction(
  ({ instructionId = '' }) =>
    instructionId.startsWith('D') ? ['pacs.004', 'pacs.002'] : ['pacs.008', 'pacs.002'],
  true,
)

/** One receipt per transaction; the message is refused when all of it is. */
const receipts: Handler = ({ transactions }) => {
  const byReference = Map.groupBy(
    transactions.filter(({ reference }) => reference !== undefined),
    ({ reference }) => reference ?? '',
  )
  return [...byReference].flatMap(([reference, all]): readonly Answer[] => {
    const known = all.map(({ status }) => outcomeOf(status)).filter((one) => one !== undefined)
    if (known.length === 0) return []
    const outcome = known.includes('ACCEPTED') ? 'ACCEPTED' : 'REJECTED'
    const refused = all.find(({ status }) => outcomeOf(status) === 'REJECTED')
    return [{ kind: 'message', reference, outcome, reason: refused?.reason }]
  })
}

const whole =
  (outcome: (view: MessageView) => Outcome | undefined): Handler =>
  (view) => {
    const found = outcome(view)
    const { reference, reason } = view
    if (found === undefined || reference === undefined) return []
    return [{ kind: 'message', reference, outcome: found, reason }]
  }

/** The handler of each type; a type that is not here answers nothing and is stored and told only. */
const handlers: Partial<Readonly<Record<MessageType, Handler>>> = {
  'pacs.002': statusReport,
  'pain.014': perTransaction(() => ['pain.013'], false),
  'camt.029': perTransaction(() => ['camt.055'], false),
  'camt.025': receipts,
  'reda.016': whole(({ status }) => outcomeOf(status)),
  'admi.002': whole(() => 'REJECTED'),
}

/** What the message says about what was sent. */
export const answersOf = (view: MessageView): readonly Answer[] =>
  handlers[view.identity.type as MessageType]?.(view) ?? []
