import type { Field } from './fields.tsx'
import { inWords } from './words.ts'

const w = inWords({
  day: ['a day', 'um dia'],
  week: ['a week', 'uma semana'],
  hour: ['an hour', 'uma hora'],
})

/**
 * How many seconds the former secret stays valid beside the new one.
 *
 * @param none the text for no time
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

/** The member of a request that rotates a secret. */
export const overlapOf = (form: FormData): { readonly overlap_seconds: number } => ({
  overlap_seconds: Number(form.get('overlap')),
})
