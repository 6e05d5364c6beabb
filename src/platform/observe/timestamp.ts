let stampMs = 0
let stamp = ''

/** The time in ISO 8601, UTC, to the millisecond; formatted once per millisecond. */
export const timestamp = (): string => {
  const nowMs = Date.now()
  if (nowMs !== stampMs) {
    stampMs = nowMs
    stamp = new Date(nowMs).toISOString()
  }
  return stamp
}
