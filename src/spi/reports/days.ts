/** The days that exist, so that what is published is what is taken. */
export const dayForm =
  /^(?:20\d\d-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|20(?:[02468][048]|[13579][26])-02-29)$/

export const dayMs = 86_400_000

/** Brazil has no summer time: its days begin three hours after those of UTC. */
const dayBeginsMs = 3 * 3_600_000

/** When a day of Brazil, YYYY-MM-DD, begins. */
export const dayStart = (day: string): Date =>
  new Date(Date.parse(`${day}T00:00:00.000Z`) + dayBeginsMs)

/** Whether a day of Brazil has yet to begin. */
export const isAhead = (day: string, nowMs = Date.now()): boolean => dayStart(day).getTime() > nowMs

/** Brazil's day of a moment, YYYY-MM-DD. */
export const dayInBrazil = (moment: Date): string =>
  new Date(moment.getTime() - dayBeginsMs).toISOString().slice(0, 10)
