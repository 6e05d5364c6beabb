import type { Field } from './fields.tsx'
import { inWords } from './words.ts'

const w = inWords({
  day: ['a day', 'um dia'],
  week: ['a week', 'uma semana'],
  hour: ['an hour', 'uma hora'],
})

/**
 * For how long a former secret goes on beside the new one: seconds, as `overlapOf` reads them.
 *
 * @param none what it means that it does not
 */
export const overlapField = (label: string, none: string): Field => ({
  name: 'overlap',
  label,
  choices: [
    ['86400', w.day],
    ['604800', w.week],
    ['3600', w.hour],
    ['0', none],
  ],
})

/** The member of the request that rotates. */
export const overlapOf = (form: FormData): { readonly overlap_seconds: number } => ({
  overlap_seconds: Number(form.get('overlap')),
})
