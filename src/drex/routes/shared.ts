/** What the routes of digital currency share. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import {
  ApiError,
  httpErrors,
  type RequestContext,
  readText,
  validated,
} from '#src/platform/http/index.ts'
import { idempotencyKeyOf } from '#src/platform/idempotency/index.ts'
import { NETWORK_IDS } from '../config.ts'
import { addressSchema } from '../contracts/params.ts'

export const LIST_MAX = 200
const LIST_DEFAULT = 50
const METADATA_BYTES_MAX = 4_096

export { addressSchema }

export const networkSchema = z.enum(NETWORK_IDS)

export const metadataSchema = z
  .record(z.string().min(1).max(64), z.json())
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

export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ApiError(httpErrors.bad_request, 'The body is not JSON.', { cause })
  }
}

export function addressParameter(c: RequestContext, name: string) {
  return validated(addressSchema, c.req.param(name), name)
}

export function json(body: string, status: number, isReplay = false): Response {
  return new Response(body, {
    status,
    headers: {
      'Content-Type': 'application/json',
      ...(isReplay ? { 'Idempotent-Replayed': 'true' } : {}),
    },
  })
}

/** A page and the cursor of the next, when there may be one. */
export function page<T extends { readonly id: string }>(
  items: readonly T[],
  limit: number,
): string | null {
  return items.length === limit ? (items.at(-1)?.id ?? null) : null
}

/**
 * Runs what creates something under the request's Idempotency-Key. The key is taken before and
 * the answer kept after; a key whose answer was never kept stays taken, so that nothing can be
 * created twice by it.
 */
export async function once<T>(
  sql: Client,
  c: RequestContext,
  schema: z.ZodType<T>,
  status: number,
  work: (request: T) => Promise<unknown>,
): Promise<Response> {
  const key = idempotencyKeyOf(c)
  const text = await readText(c)
  const request = validated(schema, parseBody(text), '')
  if (key === undefined) return json(JSON.stringify(await work(request)), status)
  const owner = ownerOf(c)
  const path = new URL(c.req.raw.url).pathname
  const fingerprint = createHash('sha256').update(`${c.req.method} ${path}\n${text}`).digest()
  const taken = await sql`
    insert into idempotency_keys (owner, key, fingerprint) values (${owner}, ${key}, ${fingerprint})
    on conflict do nothing`
  if (taken.count === 0) return replay(sql, owner, key, fingerprint)
  try {
    const body = JSON.stringify(await work(request))
    await sql`
      update idempotency_keys set status = ${status}, content_type = 'application/json',
        body = ${Buffer.from(body)}
      where owner = ${owner} and key = ${key}`
    return json(body, status)
  } catch (error) {
    // A refusal created nothing: the key may be used again for the corrected request.
    if (error instanceof ApiError) {
      await sql`delete from idempotency_keys where owner = ${owner} and key = ${key}`
    }
    throw error
  }
}

async function replay(
  sql: Client,
  owner: string,
  key: string,
  fingerprint: Uint8Array,
): Promise<Response> {
  const [row] = await sql<
    { fingerprint: Uint8Array; status: number | null; body: Uint8Array | null }[]
  >`
    select fingerprint, status, body from idempotency_keys where owner = ${owner} and key = ${key}`
  if (row !== undefined && !Buffer.from(row.fingerprint).equals(Buffer.from(fingerprint))) {
    throw new ApiError(
      httpErrors.idempotency_mismatch,
      'The Idempotency-Key was used for another request.',
    )
  }
  if (row === undefined || row.status === null || row.body === null) {
    throw new ApiError(httpErrors.idempotency_in_progress, 'The same request has not ended yet.')
  }
  return json(Buffer.from(row.body).toString('utf8'), row.status, true)
}
