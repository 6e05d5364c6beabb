import { randomBytes } from 'node:crypto'
import { findInIdentifier } from '../security/sensitive/index.ts'

const lengthMax = 128
const prefix = `req_${randomBytes(8).toString('hex')}_`
let counter = 0

/** Unique in this process by the counter, across processes by 64 random bits drawn at start. */
const nextRequestId = (): string => prefix + (counter++).toString(36)

/**
 * The caller's X-Request-Id when it is 1 to 128 letters, digits, `.`, `_` or `-`, and no card number or credential is
 * in it: it is logged, stored and sent on as it is. Else a new one.
 */
export const requestIdOf = (header: string | null): string =>
  header !== null && isValid(header) && findInIdentifier(header) === undefined
    ? header
    : nextRequestId()

const isValid = (text: string): boolean => {
  if (text.length === 0 || text.length > lengthMax) return false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const allowed =
      (code >= 48 && code <= 57) ||
      (code >= 65 && code <= 90) ||
      (code >= 97 && code <= 122) ||
      code === 45 ||
      code === 46 ||
      code === 95
    if (!allowed) return false
  }
  return true
}
