import type { CodeList } from '#codecs/iso20022'
import type { Reason } from '#src/events/index.ts'

/**
 * A code that a message gives, with what our rulebook knows of it.
 *
 * @param direction of that message: who gives a reason is not told what to do about it
 * @returns null if there is no code
 * @example reasonOf('AM09', codeLists.status_reason, 'INBOUND')?.meaning?.en // 'The return exceeds the payment'
 */
export const reasonOf = (
  code: string | null | undefined,
  list: CodeList,
  direction: 'INBOUND' | 'OUTBOUND',
): Reason | null => {
  if (code === null || code === undefined) return null
  const { meaning = null, remedy = null } = list.get(code) ?? {}
  return { code, meaning, remedy: direction === 'INBOUND' ? remedy : null }
}
