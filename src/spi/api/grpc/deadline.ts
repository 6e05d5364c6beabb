import type { ServerInterceptingCallInterface } from '@grpc/grpc-js'

/** The library's own, made just before it is intercepted. */
type Timed = { deadline: number; deadlineTimer: ReturnType<typeof setTimeout> | null }

const overflowMsMax = 5

/** A time of more than 24 days has too many milliseconds for the library: it is over before it begins. */
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
