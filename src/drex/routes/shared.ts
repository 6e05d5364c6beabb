/** What the routes of digital currency share. */
import { z } from 'zod'
import { jsonValue, type RequestContext, text, whole } from '#src/platform/http/index.ts'
import { networkIds } from '../config.ts'
import { addressSchema } from '../evm/address.ts'

export const listMax = 200
const listDefault = 50
const metadataBytesMax = 4_096

export { addressSchema }

export const networkSchema = z.enum(networkIds)

export const metadataSchema = z
  .record(text(64), jsonValue)
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= metadataBytesMax,
    `must be at most ${metadataBytesMax} bytes of JSON`,
  )

/** Of every POST that makes something. */
export const idempotencyHeaders = z.object({
  'Idempotency-Key': z.string().max(255).optional(),
})

export const pageSchema = {
  limit: whole(1, listMax, listDefault),
  cursor: z
    .string()
    .regex(/^[a-z]{3}_[0-9a-f]{32}$/, 'is not a cursor')
    .optional(),
}

export const ownerOf = (c: RequestContext): string => c.env.principal?.keyId ?? 'unknown'

/** The answer of a list: one page under its name, and the cursor of the next when there may be one. */
export const pageResponse = <T extends { readonly id: string }>(
  name: string,
  items: readonly T[],
  limit: number,
  show: (item: T) => unknown,
): Response => {
  const next = items.length === limit ? (items.at(-1)?.id ?? null) : null
  return Response.json({ [name]: items.map((item) => show(item)), next_cursor: next })
}

export const pageOf = (name: string, item: z.ZodType) => ({
  200: {
    description: 'One page',
    schema: z.object({ [name]: z.array(item), next_cursor: z.string().nullable() }),
  },
})
