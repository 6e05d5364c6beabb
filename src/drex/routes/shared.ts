/** What the routes of digital currency share. */
import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  ApiError,
  httpErrors,
  jsonValue,
  type RequestContext,
  readBytes,
  validated,
} from '#src/platform/http/index.ts'
import {
  claimKey,
  claimOf,
  completeClaim,
  type IdempotencyClaim,
  toResponse,
} from '#src/platform/idempotency/index.ts'
import { addressSchema } from '../address-schema.ts'
import { NETWORK_IDS } from '../config.ts'

export const LIST_MAX = 200
const LIST_DEFAULT = 50
const METADATA_BYTES_MAX = 4_096

export { addressSchema }

export const networkSchema = z.enum(NETWORK_IDS)

export const metadataSchema = z
  .record(z.string().min(1).max(64), jsonValue)
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= METADATA_BYTES_MAX,
    `must be at most ${METADATA_BYTES_MAX} bytes of JSON`,
  )

export const pageSchema = {
  limit: z.coerce.number().int().min(1).max(LIST_MAX).default(LIST_DEFAULT),
  cursor: z
    .string()
    .regex(/^[a-z]{3}_[0-9a-f]{32}$/, 'is not a cursor')
    .optional(),
}

export function ownerOf(c: RequestContext): string {
  return c.env.principal?.keyId ?? 'unknown'
}

const decoder = new TextDecoder('utf-8', { fatal: true })

export function parseBody(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch (cause) {
    throw new ApiError(httpErrors.bad_request, 'The body is not JSON.', { cause })
  }
}

export function addressParameter(c: RequestContext, name: string) {
  return validated(addressSchema, c.req.param(name), name)
}

/** A page and the cursor of the next, when there may be one. */
export function page<T extends { readonly id: string }>(
  items: readonly T[],
  limit: number,
): string | null {
  return items.length === limit ? (items.at(-1)?.id ?? null) : null
}

/**
 * Runs what creates something under the request's Idempotency-Key. The work spans transactions: the
 * key is taken before and the answer kept after, and a key whose answer was never kept stays taken,
 * so that nothing can be created twice by it.
 */
export async function once<T>(
  sql: Client,
  c: RequestContext,
  schema: z.ZodType<T>,
  status: number,
  work: (request: T) => Promise<unknown>,
): Promise<Response> {
  const bytes = await readBytes(c)
  const request = validated(schema, parseBody(bytes), '')
  const claim = claimOf(c, bytes)
  const answer = async () => ({
    status,
    contentType: 'application/json',
    body: JSON.stringify(await work(request)),
  })
  if (claim === undefined) return toResponse(await answer(), false)
  const outcome = await sql.begin((tx) => claimKey(tx, claim))
  if (outcome.kind === 'replay') return toResponse(outcome.response, true)
  try {
    const response = await answer()
    await completeClaim(sql, claim, response)
    return toResponse(response, false)
  } catch (error) {
    // A refusal created nothing: the key may be used again for the corrected request.
    if (error instanceof ApiError) await releaseClaim(sql, claim)
    throw error
  }
}

async function releaseClaim(sql: Client, { owner, key }: IdempotencyClaim): Promise<void> {
  await sql`
    delete from idempotency_keys where owner = ${owner} and key = ${key} and status is null`
}
