import { createHash } from 'node:crypto'
import type { Client, Queryable, Transaction } from '#src/platform/database/index.ts'
import { ApiError, httpErrors } from '../errors.ts'
import type { RequestContext } from '../route.ts'
import { idempotencyKeyOf } from './key.ts'

/** What a replay sends again, byte for byte. */
export type StoredResponse = {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** One Idempotency-Key of one caller, for one request. */
export type IdempotencyClaim = {
  /** The caller's account: keys of different owners never meet. */
  readonly owner: string
  readonly key: string
  /** SHA-256 of method, path and body. */
  readonly fingerprint: Uint8Array
}

export type ClaimOutcome =
  /** First seen: do the work, and {@link completeClaim} in the transaction that ends it. */
  { readonly kind: 'new' } | { readonly kind: 'replay'; readonly response: StoredResponse }

/** Undefined when the caller sent no key. */
export const claimOf = (
  c: RequestContext,
  owner: string,
  body: Uint8Array,
): IdempotencyClaim | undefined => {
  const key = idempotencyKeyOf(c)
  if (key === undefined) return undefined
  const fingerprint = createHash('sha256')
    .update(`${c.req.method} ${c.req.path}\n`)
    .update(body)
    .digest()
  return { owner, key, fingerprint }
}

/** The advisory lock of a claim: 63 bits are enough that two keys do not meet by chance. */
const lockOf = ({ owner, key }: IdempotencyClaim): string =>
  createHash('sha256').update(`${owner}\0${key}`).digest().readBigInt64BE(0).toString()

/**
 * Claims the key inside the transaction of the effect it guards; rolling back gives it free again. Work that
 * spans transactions claims in the first and completes in the last: between them the key counts as running.
 *
 * @throws ApiError 409 while another request runs under the key, 422 when it was used for another request
 */
export const claimKey = async (
  transaction: Transaction,
  claim: IdempotencyClaim,
): Promise<ClaimOutcome> => {
  const { owner, key, fingerprint } = claim
  const [claimed] = await transaction<{ locked: boolean; inserted: boolean }[]>`
    with lock as (select pg_try_advisory_xact_lock(${lockOf(claim)}::bigint) as locked),
    inserted as (
      insert into idempotency_keys (owner, key, fingerprint)
      select ${owner}, ${key}, ${fingerprint} from lock where locked
      on conflict do nothing returning 1
    )
    select locked, exists (select from inserted) as inserted from lock`
  if (claimed?.inserted) return { kind: 'new' }
  if (!claimed?.locked) throw stillRunning()
  return replay(transaction, claim)
}

type Row = {
  readonly fingerprint: Uint8Array
  readonly status: number | null
  readonly contentType: string
  readonly body: Uint8Array
  readonly isProvisional: boolean
}

const replay = async (transaction: Transaction, claim: IdempotencyClaim): Promise<ClaimOutcome> => {
  const response = await findReplay(transaction, claim)
  if (response === undefined) throw stillRunning()
  return { kind: 'replay', response }
}

/**
 * The answer kept under a key, without claiming it: for work that has something to ask before it writes, and must
 * not ask again when all is done.
 *
 * @returns undefined when the key is new
 * @throws ApiError 409 while another request runs under the key, 422 when it was used for another request
 */
export const findReplay = async (
  queryable: Queryable,
  claim: IdempotencyClaim,
): Promise<StoredResponse | undefined> => {
  const [row] = await queryable<Row[]>`
    select fingerprint, status, content_type as "contentType", body,
      coalesce(provisional_until > clock_timestamp(), false) as "isProvisional"
    from idempotency_keys
    where owner = ${claim.owner} and key = ${claim.key}`
  if (row === undefined) return undefined
  if (Buffer.compare(row.fingerprint, claim.fingerprint) !== 0) {
    throw new ApiError(
      httpErrors.idempotency_mismatch,
      'The Idempotency-Key was used before, for another request.',
    )
  }
  if (row.status === null || row.isProvisional) throw stillRunning()
  const { status, contentType } = row
  return { status, contentType, body: Buffer.from(row.body).toString('utf8') }
}

const stillRunning = (): ApiError =>
  new ApiError(
    httpErrors.idempotency_in_progress,
    'A request with this Idempotency-Key is still running.',
    { headers: { 'Retry-After': '1' } },
  )

/** Stores the answer, in the transaction that ends the work. */
export const completeClaim = async (
  queryable: Queryable,
  { owner, key }: IdempotencyClaim,
  { status, contentType, body }: StoredResponse,
): Promise<void> => {
  await queryable`
    update idempotency_keys
    set status = ${status}, content_type = ${contentType}, body = ${Buffer.from(body)}
    where owner = ${owner} and key = ${key}`
}

/** A provisional answer is not replaced in its last moments: the commit takes time as well. */
const settleMarginMs = 1_000

/**
 * Stores the answer that holds should the caller never come back: for work that commits, then asks somebody, then may
 * have a better answer. Within `provisionalMs` a repetition is told that the request runs; afterwards it gets this one.
 */
export const completeProvisionally = async (
  queryable: Queryable,
  claim: IdempotencyClaim,
  response: StoredResponse,
  provisionalMs: number,
): Promise<void> => {
  await completeClaim(queryable, claim, response)
  await queryable`
    update idempotency_keys
    set provisional_until = clock_timestamp() + make_interval(secs => ${(provisionalMs + settleMarginMs) / 1000})
    where owner = ${claim.owner} and key = ${claim.key}`
}

/**
 * Puts the final answer in place of the provisional one.
 *
 * @returns false when it is too late: repetitions may have got the provisional one, which stays
 */
export const settleClaim = async (
  queryable: Queryable,
  { owner, key }: IdempotencyClaim,
  { status, contentType, body }: StoredResponse,
): Promise<boolean> => {
  const settled = await queryable`
    update idempotency_keys
    set status = ${status}, content_type = ${contentType}, body = ${Buffer.from(body)},
      provisional_until = null
    where owner = ${owner} and key = ${key}
      and provisional_until > clock_timestamp() + make_interval(secs => ${settleMarginMs / 1000})`
  return settled.count === 1
}

/**
 * Runs work of one transaction once per key: the effect and the stored answer commit together, a repetition gets
 * that answer with `Idempotent-Replayed: true`. Work that throws leaves no trace and may be repeated.
 */
export const runOnce = async (
  sql: Client,
  claim: IdempotencyClaim | undefined,
  work: (transaction: Transaction) => Promise<StoredResponse>,
): Promise<Response> => {
  const done = await sql.begin(async (transaction) => {
    if (claim === undefined) return { response: await work(transaction), isReplay: false }
    const outcome = await claimKey(transaction, claim)
    if (outcome.kind === 'replay') return { response: outcome.response, isReplay: true }
    const response = await work(transaction)
    await completeClaim(transaction, claim, response)
    return { response, isReplay: false }
  })
  return toResponse(done.response, done.isReplay)
}

/** The stored answer as it goes out. */
export const toResponse = (
  { status, contentType, body }: StoredResponse,
  isReplay: boolean,
): Response =>
  new Response(body, {
    status,
    headers: {
      'Content-Type': contentType,
      ...(isReplay ? { 'Idempotent-Replayed': 'true' } : {}),
    },
  })
