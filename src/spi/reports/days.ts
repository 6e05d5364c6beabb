import { type Day, dayMs, startOfDay } from '#src/platform/runtime/index.ts'
import { momentOf } from '../messages/domain.ts'

/** The days that exist, so that what is published is what is taken. */
export const dayForm =
  /^(?:20\d\d-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|20(?:[02468][048]|[13579][26])-02-29)$/

/** Whether a day of Brazil has yet to begin. */
export const isAhead = (day: Day, nowMs = Date.now()): boolean => startOfDay(day).getTime() > nowMs

/** How long after the settlement we may have been told of it, and by how much clocks may differ. */
export const toldLateMs = dayMs
export const clocksDifferMs = 3_600_000

/**
 * The moment of whose day a settlement is: when it settled, or, where that is not near when it was told, when it was told,
 * since no walk of that other day reads so far.
 *
 * @param settledMs - by the clock of the SPI; null: it did not say
 */
export const countedAt = (
  messageId: string,
  settledMs: number | null,
): { readonly atMs: number; readonly isLate: boolean } => {
  const toldMs = momentOf(messageId).getTime()
  if (settledMs === null) return { atMs: toldMs, isLate: false }
  const lateMs = toldMs - settledMs
  const isLate = lateMs > toldLateMs
  return { atMs: isLate || lateMs < -clocksDifferMs ? toldMs : settledMs, isLate }
}
