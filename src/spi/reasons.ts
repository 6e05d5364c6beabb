import type { CodeList } from '#codecs/iso20022'
import type { Reason } from '#src/events/index.ts'

/**
 * A code that a message gives, with what our rulebook knows of it.
 *
 * @returns null if there is no code
 * @example reasonOf('AM09', codeLists.status_reason)?.meaning?.en // 'The return exceeds the payment'
 */
export const reasonOf = (code: string | null | undefined, list: CodeList): Reason | null => {
  if (code === null || code === undefined) return null
  const { meaning = null, remedy = null } = list.get(code) ?? {}
  return { code, meaning, remedy }
}
