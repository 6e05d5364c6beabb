import { text } from '#src/platform/http/index.ts'
import { changesDirection, isBlank } from '#src/platform/runtime/index.ts'

/** A text that payers are shown, by the rules that every message keeps; one that may be empty may be blank, too. */
export const shownText = (charactersMax: number, form: Parameters<typeof text>[1] = {}) =>
  text(charactersMax, form).refine(
    (value) => !changesDirection(value) && (form.charactersMin === 0 || !isBlank(value)),
  )
