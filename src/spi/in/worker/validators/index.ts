import {
  type Check,
  codeLists,
  definitionOf,
  isMessageType,
  type StatusCheck,
} from '#codecs/iso20022'
import type { Warning } from '../../../messages/index.ts'
import { headerValidators } from './header.ts'
import { type Subject, unless, type Validator, warningsMax } from './rule.ts'
import {
  amount,
  bookedId,
  count,
  endToEndId,
  givenEndToEndId,
  originalInstructionId,
  returnId,
  someTransaction,
  statusOf,
} from './transactions.ts'
import { readable, values } from './values.ts'

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
    unless(
      codeLists.return_reason.has(reason ?? ''),
      'Reason',
      path,
      'is no known reason of a return',
    ),
  )

const validators: Readonly<Record<Exclude<Check, StatusCheck>, Validator>> = {
  some_transaction: someTransaction,
  count,
  end_to_end_id: endToEndId,
  given_end_to_end_id: givenEndToEndId,
  booked_id: bookedId,
  return_id: returnId,
  original_instruction_id: originalInstructionId,
  amount,
  return_reason: returnReason,
  refused_reference: refusedReference,
  answered_reference: answeredReference,
}

const validatorsOf = (type: string): readonly Validator[] => {
  if (!isMessageType(type)) return [...headerValidators, values]
  const checks = definitionOf(type).facts.checks.map((check) =>
    typeof check === 'string' ? validators[check] : statusOf(check),
  )
  return [...headerValidators, readable, ...checks, values]
}

/** Returns every rule the message breaks, at most {@link warningsMax}. Advisory: we process the message anyway. */
export const validate = (subject: Subject): readonly Warning[] =>
  validatorsOf(subject.view.identity.type)
    .flatMap((validator) => validator(subject))
    .slice(0, warningsMax)
