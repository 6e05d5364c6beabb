/** A day that somebody wrote into the address by hand may be none. */
export const dayIn = (text: string | null): string | undefined =>
  text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
    ? text
    : undefined

export const Day = ({
  name,
  label,
  value,
}: {
  readonly name: string
  readonly label: string
  readonly value: string | undefined
}) => <input class="day" type="date" name={name} aria-label={label} defaultValue={value ?? ''} />

/** Brasília has kept this offset all year since 2019. */
const dayStartMs = (day: string): number => Date.parse(`${day}T00:00:00-03:00`)

const dayMs = 86_400_000
const offsetMs = 3 * 3_600_000

/** The day that it was so many days ago. */
export const daysAgo = (days: number): string =>
  new Date(Date.now() - offsetMs - days * dayMs).toISOString().slice(0, 10)

/** As the API takes it. */
export const startOfDay = (day: string): string => new Date(dayStartMs(day)).toISOString()

/** The first moment that is no more of the day. */
export const endOfDay = (day: string): string => new Date(dayStartMs(day) + dayMs).toISOString()
