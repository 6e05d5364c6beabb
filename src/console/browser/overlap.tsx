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
export const Overlap = ({ label, none }: { readonly label: string; readonly none: string }) => (
  <label class="field">
    {label}
    <select name="overlap">
      <option value="86400">{w.day}</option>
      <option value="604800">{w.week}</option>
      <option value="3600">{w.hour}</option>
      <option value="0">{none}</option>
    </select>
  </label>
)

/** The member of the request that rotates. */
export const overlapOf = (form: FormData): { readonly overlap_seconds: number } => ({
  overlap_seconds: Number(form.get('overlap')),
})
