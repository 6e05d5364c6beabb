/** What the routes of digital currency share. */
import { z } from 'zod'
import {
  ApiError,
  httpErrors,
  jsonValue,
  type RequestContext,
  validated,
} from '#src/platform/http/index.ts'
import { networkIds } from '../config.ts'
import { addressSchema } from '../evm/address.ts'

export const listMax = 200
const listDefault = 50
const metadataBytesMax = 4_096

export { addressSchema }

export const networkSchema = z.enum(networkIds)

export const metadataSchema = z
  .record(z.string().min(1).max(64), jsonValue)
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= metadataBytesMax,
    `must be at most ${metadataBytesMax} bytes of JSON`,
  )

/** Of every POST that makes something. */
export const idempotencyHeaders = z.object({
  'Idempotency-Key': z.string().max(255).optional(),
})

export const pageSchema = {
  limit: z.coerce.number().int().min(1).max(listMax).default(listDefault),
  cursor: z
    .string()
    .regex(/^[a-z]{3}_[0-9a-f]{32}$/, 'is not a cursor')
    .optional(),
}

export const ownerOf = (c: RequestContext): string => c.env.principal?.keyId ?? 'unknown'

const decoder = new TextDecoder('utf-8', { fatal: true })

export const parseBody = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch (cause) {
    throw new ApiError(httpErrors.bad_request, 'The body is not JSON.', { cause })
  }
}

export const addressParameter = (c: RequestContext, name: string) =>
  validated(addressSchema, c.req.param(name), name)

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
