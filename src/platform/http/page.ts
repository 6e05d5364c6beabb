import { z } from 'zod'
import { dayMs } from '#src/platform/runtime/index.ts'
import { refusedValue } from './errors.ts'
import { text, whole } from './text.ts'

const cursorCharactersMax = 200

/** The cursor of a page that begins behind a key: opaque to callers, so that its content may change. */
export const cursorOf = (key: string): string => Buffer.from(key).toString('base64url')

const momentForm = /^\d{4}-\d\d-\d\dT/
const idForm = /^[0-9a-f-]{36}$/
const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const secondChars = 19

/** Whether the database can read a part of a key: a forged cursor may hold 30 February, or a UUID of dashes. */
const isReadable = (part: string): boolean => {
  if (idForm.test(part)) return uuidForm.test(part)
  if (!momentForm.test(part)) return true
  const at = new Date(part)
  if (Number.isNaN(at.getTime()) || part.startsWith('0000')) return false
  return at.toISOString().slice(0, secondChars) === part.slice(0, secondChars)
}

/**
 * Reads the cursor of a page as the key after which the next page begins. Moments and UUIDs among its parts, which
 * spaces divide, are real ones.
 */
export const cursor = (keyForm: RegExp) =>
  text(cursorCharactersMax)
    .transform((value, context) => {
      const key = Buffer.from(value, 'base64url').toString()
      const isKey = keyForm.test(key) && key.split(' ').every(isReadable)
      if (isKey && cursorOf(key) === value) return key
      const message = 'is not one that a list gave'
      context.addIssue({ code: 'custom', message, params: { rule: 'cursor' } })
      return z.NEVER
    })
    .meta({ description: '`next_cursor` of the page before.' })

/**
 * The query parameters of a list.
 *
 * @param keyForm form of the key that orders the list; it must be unique, or a page may end between two equal keys
 */
export const pageQuery = (keyForm: RegExp, limitMax: number, limitDefault: number) => ({
  limit: whole(1, limitMax, limitDefault),
  cursor: cursor(keyForm).optional(),
})

/**
 * One page.
 *
 * @param found in order, with one item more than `limit` if there are more: so only a sole page can be empty
 */
export const pageOf = <T>(
  found: readonly T[],
  limit: number,
  keyOf: (item: T) => string,
): { readonly items: readonly T[]; readonly next: string | null } => {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    next: found.length > limit && last !== undefined ? cursorOf(keyOf(last)) : null,
  }
}

/**
 * The answer of a list that is ordered by id: one page under its name, and the cursor of the next.
 *
 * @param found one more than `limit` if there are more
 */
export const pageResponse = <T extends { readonly id: string | number | bigint }>(
  name: string,
  found: readonly T[],
  limit: number,
  show: (item: T) => unknown,
): Response => {
  const { items, next } = pageOf(found, limit, ({ id }) => String(id))
  return Response.json({ [name]: items.map((item) => show(item)), next_cursor: next })
}

export const nextCursor = z
  .string()
  .nullable()
  .describe('`cursor` of the next page; null on the last')

/** The responses of such a page, for the document. */
export const pageResponses = (name: string, item: z.ZodType, description = 'A page') => ({
  200: {
    description,
    schema: z.object({ [name]: z.array(item), next_cursor: nextCursor }),
  },
})

/**
 * A search without an index reads all rows of its time, so it may span a day at most.
 *
 * @throws ApiError `value_refused`
 */
export const requireDay = (
  field: string,
  { from, to }: { readonly from?: Date | undefined; readonly to?: Date | undefined },
): void => {
  if (from !== undefined && to !== undefined && to.getTime() - from.getTime() <= dayMs) return
  const message = `${field} needs from and to, at most a day apart.`
  throw refusedValue([{ pointer: field, rule: 'span', message }])
}
