import { answeredTypes, momentOf } from '../../messages/index.ts'

/** How long after a payment or return was made, or sent where that was long after, its answer may take. */
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

/** A message sent within this time counts from when it was made: the limits have room for that. */
const soonMs = 10_000

/** Returns the moment, of a message that is sent now, long after it was made; undefined of others. */
export const sentLateAt = ({ id }: Pick<Parameters<IsLate>[0], 'id'>): Date | undefined => {
  const now = new Date()
  return momentOf(id).getTime() < now.getTime() - soonMs ? now : undefined
}
