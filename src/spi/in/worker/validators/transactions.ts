import type { StatusCheck } from '#codecs/iso20022'
import { eachTransaction, unless, type Validator } from './rule.ts'

const idForm = /^[DEL][0-9A-Z]{8}\d{12}[a-zA-Z0-9]{11}$/

/** Whether its minute exists is a rule of values. */
const isTransactionId = (text: string, kind: 'D' | 'E' | 'L'): boolean =>
  text.startsWith(kind) && idForm.test(text)

export const endToEndId: Validator = eachTransaction(({ endToEndId: id = '', path }) =>
  unless(isTransactionId(id, 'E'), 'EndToEndId', path, 'is no EndToEndId with a UTC minute'),
)

/** For types whose transactions may lack an EndToEndId: checks those that have one. */
export const givenEndToEndId: Validator = eachTransaction(({ endToEndId: id, path }) =>
  unless(
    id === undefined || isTransactionId(id, 'E'),
    'EndToEndId',
    path,
    'is no EndToEndId with a UTC minute',
  ),
)

export const bookedId: Validator = eachTransaction(({ endToEndId: id = '', path }) =>
  unless(
    isTransactionId(id, 'E') || isTransactionId(id, 'L'),
    'EndToEndId',
    path,
    'is no id of an entry with a UTC minute',
  ),
)

export const returnId: Validator = eachTransaction(({ instructionId: id = '', path }) =>
  unless(isTransactionId(id, 'D'), 'RtrId', path, 'is no RtrId with a UTC minute'),
)

/** The EndToEndId of a payment, or the RtrId of a return. */
export const originalInstructionId: Validator = eachTransaction(
  ({ instructionId: id = '', path }) =>
    unless(
      isTransactionId(id, 'E') || isTransactionId(id, 'D'),
      'OrgnlInstrId',
      path,
      'is neither EndToEndId nor RtrId',
    ),
)

export const amount: Validator = eachTransaction(({ amountCents, path }) =>
  amountCents === undefined
    ? unless(false, 'Amount', path, 'is missing or no amount')
    : unless(amountCents > 0n, 'Amount', path, 'is zero'),
)

export const count: Validator = ({ view: { declaredCount = '', transactions } }) =>
  unless(
    /^\d{1,15}$/.test(declaredCount) && Number(declaredCount) === transactions.length,
    'NbOfTxs',
    '//GrpHdr/NbOfTxs',
    'differs from the number of transactions',
  )

export const someTransaction: Validator = ({ view }) =>
  unless(view.transactions.length > 0, 'Transactions', '/Envelope/Document', 'holds none')

/** Checks that the status is one of those given, and that a refusal has a reason: one of the list, if there is one. */
export const statusOf =
  (options: StatusCheck): Validator =>
  (subject) =>
    eachTransaction(({ status = '', reason, path }) => {
      if (status !== options.refused) {
        return unless(options.accepted.includes(status), 'Status', path, 'is no status of the type')
      }
      return reason === undefined
        ? unless(false, 'Reason', path, 'is missing in a refusal')
        : unless(options.reasons?.has(reason) ?? true, 'Reason', path, 'is no known code')
    })(subject)
