import { answeredTypes, momentOf } from '../../messages/index.ts'

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
