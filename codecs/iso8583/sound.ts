import { allOf, latin1 } from './characters.ts'
import { packedDigits } from './digits.ts'
import { checkNothing, checkPacked } from './layout.ts'

/** Whether the bytes of a run of fields are what their check wants. */
export const isSound = (check: number, bytes: Uint8Array, start: number, end: number): boolean => {
  if (check === checkNothing) return true
  return check === checkPacked
    ? packedDigits(bytes, start, end)
    : allOf(check, latin1.classes, bytes, start, end)
}

/** Whether the first bytes that were kept stand at `start`. */
export const isSame = (
  kept: Uint8Array,
  bytes: Uint8Array,
  start: number,
  count: number,
): boolean => {
  for (let i = 0; i < count; i++) if (kept[i] !== bytes[start + i]) return false
  return true
}
