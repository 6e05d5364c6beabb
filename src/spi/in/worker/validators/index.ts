import { isMessageType, type MessageType, returnReasons, statusReasons } from '#codecs/iso20022'
import type { Warning } from '../../../messages/index.ts'
import { headerValidators } from './header.ts'
import { payment } from './payment.ts'
import { type Subject, unless, type Validator, warningsMax } from './rule.ts'
import {
  amount,
  count,
  endToEndId,
  givenEndToEndId,
  originalInstructionId,
  readable,
  returnId,
  someTransaction,
  statusOf,
} from './transactions.ts'

export { type Subject, warningsMax } from './rule.ts'

const refusedReference: Validator = ({ view: { reference, reason } }) => [
  ...unless(reference !== undefined, 'RltdRef', '//RltdRef/Ref', 'is missing'),
  ...unless(reason !== undefined, 'Rsn', '//Rsn/RjctgPtyRsn', 'is missing'),
]

const answeredReference: Validator = ({ view: { reference, status } }) => [
  ...unless(reference !== undefined, 'OrgnlBizInstr', '//OrgnlBizInstr/MsgId', 'is missing'),
  ...unless(
    ['COMP', 'QUED', 'REJT'].includes(status ?? ''),
    'Status',
    '//PtySts/Sts',
    'is no status of the type',
  ),
]

const returnReason: Validator = ({ view: { transactions } }) =>
  transactions.flatMap(({ reason, path }) =>
    unless(returnReasons.has(reason ?? ''), 'Reason', path, 'is no known reason of a return'),
  )

/** What each type is checked for, besides the header and that it can be read whole. */
const byType: Readonly<Record<MessageType, readonly Validator[]>> = {
  'pacs.008': [someTransaction, count, endToEndId, amount],
  'pacs.002': [
    someTransaction,
    endToEndId,
    originalInstructionId,
    statusOf({
      accepted: ['ACSP', 'ACSC', 'ACCC'],
      refused: 'RJCT',
      reasons: new Set(statusReasons.keys()),
    }),
  ],
  'pacs.004': [someTransaction, count, endToEndId, returnId, amount, returnReason],
  'pain.009': [],
  'pain.011': [],
  'pain.012': [],
  'pain.013': [someTransaction, count, endToEndId, amount],
  'pain.014': [someTransaction, endToEndId, statusOf({ accepted: ['ACSP'], refused: 'RJCT' })],
  'camt.014': [],
  'camt.025': [someTransaction, statusOf({ accepted: ['ACPT'], refused: 'RJCT' })],
  'camt.029': [someTransaction, endToEndId, statusOf({ accepted: ['ACCR'], refused: 'RJCR' })],
  'camt.052': [],
  'camt.053': [],
  'camt.054': [someTransaction, endToEndId, amount],
  'camt.055': [someTransaction, endToEndId],
  'camt.060': [],
  'admi.002': [refusedReference],
  'admi.004': [],
  'pibr.001': [],
  'pibr.002': [],
  'reda.014': [],
  'reda.016': [answeredReference],
  'reda.017': [],
  'reda.022': [],
  'reda.031': [],
  'reda.041': [],
  'trck.002': [someTransaction, givenEndToEndId],
}

const validatorsOf = (type: string): readonly Validator[] => {
  if (!isMessageType(type)) return headerValidators
  // A payment is read once, for what is missing and for its rules.
  const reading = type === 'pacs.008' ? payment : readable
  return [...headerValidators, reading, ...byType[type]]
}

/** Everything the message breaks, at most {@link warningsMax}. Advisory: it is processed all the same. */
export const validate = (subject: Subject): readonly Warning[] =>
  validatorsOf(subject.view.identity.type)
    .flatMap((validator) => validator(subject))
    .slice(0, warningsMax)
