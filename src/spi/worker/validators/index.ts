import { type MessageType, returnReasons, statusReasons } from '#codecs/iso20022'
import type { Warning } from '../../messages/index.ts'
import { headerValidators } from './header.ts'
import { payment } from './payment.ts'
import { type Subject, unless, type Validator, warningsMax } from './rule.ts'
import {
  amount,
  count,
  endToEndId,
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

/** What each type is checked for, besides the header. */
const byType: Partial<Readonly<Record<MessageType, readonly Validator[]>>> = {
  'pacs.008': [someTransaction, count, endToEndId, amount, payment],
  'pacs.002': [
    readable,
    someTransaction,
    endToEndId,
    originalInstructionId,
    statusOf({
      accepted: ['ACSP', 'ACSC', 'ACCC'],
      refused: 'RJCT',
      reasons: new Set(statusReasons.keys()),
    }),
  ],
  'pacs.004': [readable, someTransaction, count, endToEndId, returnId, amount, returnReason],
  'pain.013': [someTransaction, count, endToEndId, amount],
  'pain.014': [someTransaction, endToEndId, statusOf({ accepted: ['ACSP'], refused: 'RJCT' })],
  'camt.025': [someTransaction, statusOf({ accepted: ['ACPT'], refused: 'RJCT' })],
  'camt.029': [someTransaction, endToEndId, statusOf({ accepted: ['ACCR'], refused: 'RJCR' })],
  'camt.054': [someTransaction, endToEndId, amount],
  'camt.055': [someTransaction, endToEndId],
  'admi.002': [refusedReference],
  'reda.016': [answeredReference],
}

/** Everything the message breaks, at most {@link warningsMax}. Advisory: it is processed all the same. */
export const validate = (subject: Subject): readonly Warning[] => {
  const own = byType[subject.view.identity.type as MessageType] ?? []
  return [...headerValidators, ...own]
    .flatMap((validator) => validator(subject))
    .slice(0, warningsMax)
}
