type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

const isCount = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text)

/** The faults of options that must be whole numbers from 1 on, or lists of these with commas. */
export const notCounts = (values: Values, names: readonly string[]): readonly string[] =>
  names
    .filter((name) => !String(values[name]).split(',').every(isCount))
    .map((name) => `--${name}: "${values[name]}" is no whole number from 1 on`)

/** The faults of an option that must name one of several things each time. */
export const notAmong = (
  name: string,
  given: readonly string[],
  known: readonly string[],
): readonly string[] =>
  given
    .filter((one) => !known.includes(one))
    .map((one) => `--${name}: "${one}" is none of ${known.join(', ')}`)

/** Ends the program if there are faults, before it starts others, which would outlive it. */
export const refuse = (wrong: readonly string[]): void => {
  if (wrong.length === 0) return
  for (const one of wrong) console.error(one)
  process.exit(2)
}
