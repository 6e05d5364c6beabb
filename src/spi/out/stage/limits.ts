import { definitionOf, messageTypes } from '#codecs/iso20022'
import { momentOf } from '../../messages/index.ts'

/** Types whose answer decides what becomes of money. */
export const answeredTypes: readonly string[] = messageTypes.filter(
  (type) => definitionOf(type).exchange.role === 'moves_money',
)

/** How long after a payment or return was made its answer may take. */
export type AnswerLimits = {
  readonly settlementLimitMs: number
  /** The same for scheduled payments. */
  readonly scheduledLimitMs: number
}

/** True when a message should have been answered by now. */
export type IsLate = (message: {
  readonly id: string
  readonly type: string
  readonly isScheduled?: boolean | undefined
}) => boolean

export const createIsLate =
  ({ settlementLimitMs, scheduledLimitMs }: AnswerLimits): IsLate =>
  ({ id, type, isScheduled }) => {
    const limitMs = isScheduled === true ? scheduledLimitMs : settlementLimitMs
    return answeredTypes.includes(type) && momentOf(id).getTime() < Date.now() - limitMs
  }
