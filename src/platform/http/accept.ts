import { mediaType } from './body.ts'

const weightForm = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** The weight of a range of `Accept`; an unreadable weight counts as nothing. */
const weightOf = (range: string): number => {
  const [, ...parameters] = range.toLowerCase().split(';')
  const given = parameters.map((one) => one.trim()).find((one) => one.startsWith('q='))
  return given === undefined ? 1 : Number(weightForm.exec(given)?.[1] ?? 0)
}

/**
 * The type that `Accept` names with the greatest weight, of equal ones the first (RFC 9110, section 12.5.1).
 *
 * @param types that there are
 * @returns undefined if it names none of them, or only ones that it does not want; wildcards name none
 */
export const namedType = <T extends string>(accept: string, types: readonly T[]): T | undefined => {
  let best: { readonly type: T; readonly weight: number } | undefined
  for (const range of accept.split(',')) {
    const name = mediaType(range)
    const type = types.find((one) => one === name)
    const weight = type === undefined ? 0 : weightOf(range)
    if (type !== undefined && weight > (best?.weight ?? 0)) best = { type, weight }
  }
  return best?.type
}
