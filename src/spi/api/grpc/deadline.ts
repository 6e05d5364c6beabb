import type { ServerInterceptingCallInterface } from '@grpc/grpc-js'

/** The library's own object, just before we intercept it. */
type Timed = { deadline: number; deadlineTimer: ReturnType<typeof setTimeout> | null }

const overflowMsMax = 5

/** Drops a deadline of more than 24 days: its milliseconds overflow in the library, which would end it at once. */
export const dropOverflownDeadline = (base: ServerInterceptingCallInterface): void => {
  const timed = base as unknown as Timed
  if (timed.deadlineTimer === null || timed.deadline > Date.now() - overflowMsMax) return
  clearTimeout(timed.deadlineTimer)
  timed.deadlineTimer = null
  timed.deadline = Number.POSITIVE_INFINITY
}

export const isLate = (base: ServerInterceptingCallInterface): boolean => {
  const deadline = base.getDeadline()
  return (typeof deadline === 'number' ? deadline : deadline.getTime()) <= Date.now()
}
