import { breachesOf, isMessageType, readMessage, type TypedMessage } from '#codecs/iso20022'
import type { Warning } from '../../../messages/index.ts'
import { faultsInDocument, isMadeNear } from '../../../messages/value-rules.ts'
import { dayForm, isAhead } from '../../../reports/days.ts'
import {
  aheadMsMax,
  type Subject,
  structureWarning,
  unless,
  type Validator,
  warningsMax,
} from './rule.ts'

/** Reports the values that cannot be what they stand for. */
export const values: Validator = ({ document }) => faultsInDocument(document, warningsMax)

/** Reports elements that the type's reader misses and amounts that it cannot read; if there are none, broken rules. */
export const readable: Validator = (subject) => {
  const { view, document } = subject
  const { type, version } = view.identity
  if (!isMessageType(type)) return []
  const reading = readMessage(document, { type, version })
  return reading.ok
    ? [
        ...breachesOf(reading.message),
        ...operations(reading.message, subject),
        ...reportedMoments(reading.message, subject),
      ]
    : reading.problems.map(structureWarning)
}

/** When something was that a message reports: a moment, or a day of Brazil. */
const momentsOf = (message: TypedMessage): readonly string[] => {
  switch (message.type) {
    case 'camt.053':
      return message.statements.flatMap(({ balances }) => balances.map(({ dateTime }) => dateTime))
    case 'camt.054':
      return message.notifications.flatMap(({ entry: { bookingDate, valueDateTime } }) =>
        [bookingDate, valueDateTime].filter((one) => one !== null),
      )
    default:
      return []
  }
}

/** An event must have happened before its report was made. */
const reportedMoments = (message: TypedMessage, { view }: Subject): readonly Warning[] => {
  const createdMs = Date.parse(view.createdAt ?? '')
  if (Number.isNaN(createdMs)) return []
  const isPast = momentsOf(message).every((one) =>
    dayForm.test(one) ? !isAhead(one, createdMs) : !(Date.parse(one) > createdMs + aheadMsMax),
  )
  return unless(isPast, 'Moment', '/Envelope/Document', 'tells of what comes after the message')
}

type Operation = {
  readonly id: string
  readonly rule: 'EndToEndId' | 'RtrId'
  /** False for an id that was made long before its message. */
  readonly isFresh: boolean
  readonly payer: string
  readonly receiver: string
}

/** The operations that a message settles. */
const operationsOf = (message: TypedMessage): readonly Operation[] => {
  switch (message.type) {
    case 'pacs.008':
      return message.transactions.map((one) => ({
        id: one.endToEndId,
        rule: 'EndToEndId',
        isFresh: one.localInstrument !== 'AUTO',
        payer: one.debtorAgentIspb,
        receiver: one.creditorAgentIspb,
      }))
    case 'pacs.004':
      return message.transactions.map((one) => ({
        id: one.returnId,
        rule: 'RtrId',
        isFresh: true,
        payer: one.debtorAgentIspb,
        receiver: one.creditorAgentIspb,
      }))
    default:
      return []
  }
}

/**
 * The rules that we keep before we send. The moment is that of the message, not ours: what waits in a queue or among
 * the dead letters is as good as it was.
 */
const operations = (message: TypedMessage, { view }: Subject): readonly Warning[] => {
  const createdMs = Date.parse(view.createdAt ?? '')
  return operationsOf(message).flatMap(({ id, rule, isFresh, payer, receiver }, index) => {
    const path = view.transactions[index]?.path ?? ''
    const isNear = !isFresh || Number.isNaN(createdMs) || isMadeNear(id, createdMs)
    return [
      ...unless(isNear, rule, path, 'has a moment more than 12 hours from that of the message'),
      ...unless(payer !== receiver, 'Settlement', path, 'is between one institution and itself'),
    ]
  })
}
