import type { PendingQuery, Row } from 'postgres'
import type { Client, Queryable, Transaction } from '#src/platform/database/index.ts'
import { ApiError, httpErrors } from '../errors.ts'
import { readyHeaders } from '../headers.ts'
import type { IdempotencyKey } from './key.ts'

/** The result of a request; a repetition gets the same bytes. */
export type Answer = {
  readonly status: number
  /** JSON. */
  readonly body: string
}

export type Answered = Answer & { readonly isReplay: boolean }

/**
 * Runs the work of one transaction once per key: the effect, the key and the answer commit together, and a repetition
 * gets that answer. Work that throws leaves no trace and may be repeated. While it runs, we tell others to wait.
 *
 * @param work returns the answer; with `provisionalMs`, it stands unless {@link settleKey} comes in time
 * @throws ApiError 409 while another request runs under the key, 422 when it was used for another request
 */
export const runOnce = (
  sql: Client,
  key: IdempotencyKey | undefined,
  work: (transaction: Transaction) => Promise<Answer & { readonly provisionalMs?: number }>,
): Promise<Answered> =>
  sql.begin(async (transaction) => {
    const replay = await claimKey(transaction, key)
    if (replay !== undefined) return replay
    const { status, body, provisionalMs } = await work(transaction)
    if (key !== undefined) await answerKey(transaction, key, { status, body }, provisionalMs)
    return { status, body, isReplay: false }
  })

/**
 * Claims the key in the transaction of the effect it guards; a rollback frees it again. For work that spans
 * transactions: the last one answers the key, and until then it counts as running.
 *
 * @returns undefined when the key is claimed now, or there is no key; otherwise the answer kept under it
 * @throws ApiError 409 and 422 as {@link runOnce}
 */
export const claimKey = async (
  transaction: Transaction,
  key: IdempotencyKey | undefined,
): Promise<Answered | undefined> => {
  if (key === undefined) return undefined
  // 63 bits are enough that two keys do not meet by chance.
  const lock = Buffer.from(key.key, 'base64url').readBigInt64BE(0).toString()
  const [claimed] = await transaction<{ locked: boolean; inserted: boolean }[]>`
    with lock as (select pg_try_advisory_xact_lock(${lock}::bigint) as locked),
    inserted as (
      insert into idempotency_keys (key, fingerprint)
      select ${key.key}, ${key.fingerprint} from lock where locked
      on conflict do nothing returning 1
    )
    select locked, exists (select from inserted) as inserted from lock`
  if (claimed?.inserted) return undefined
  if (!claimed?.locked) throw stillRunning()
  return repetitionOf(transaction, key)
}

/**
 * The answer kept under a key, without claiming it: for work that must ask something before it writes, and must not
 * ask again when everything is done.
 *
 * @returns undefined when the key is new
 * @throws ApiError 409 while another request runs under the key, 422 when it was used for another request
 */
export const replayOf = async (
  sql: Queryable,
  key: IdempotencyKey | undefined,
): Promise<Answered | undefined> => {
  if (key === undefined) return undefined
  const [row] = await sql<
    { fingerprint: string; status: number | null; body: Uint8Array; isProvisional: boolean }[]
  >`
    select fingerprint, status, body,
      coalesce(provisional_until > clock_timestamp(), false) as "isProvisional"
    from idempotency_keys where key = ${key.key}`
  if (row === undefined) return undefined
  if (row.fingerprint !== key.fingerprint && row.fingerprint !== key.fingerprintOfBytes()) {
    throw new ApiError(
      httpErrors.idempotency_mismatch,
      'The Idempotency-Key was used before, for another request.',
    )
  }
  if (row.status === null || row.isProvisional) throw stillRunning()
  return { status: row.status, body: Buffer.from(row.body).toString('utf8'), isReplay: true }
}

/** The answer kept under a key that another request has claimed; 409 and 422 as of {@link replayOf}. */
export const repetitionOf = async (sql: Queryable, key: IdempotencyKey): Promise<Answered> => {
  const replay = await replayOf(sql, key)
  // The request that held the key has failed since.
  if (replay === undefined) throw stillRunning()
  return replay
}

/**
 * Does work that judges before the key is claimed. A judgement of now decides nothing about a request that was taken
 * already: a refused caller gets the kept answer, and only then do we look for it.
 *
 * @throws ApiError 409 and 422 as of {@link replayOf}; what refused the work, when the key is new
 */
export const orReplay = async <T>(
  sql: Queryable,
  key: IdempotencyKey | undefined,
  work: () => Promise<T>,
): Promise<T | Answered> => {
  try {
    return await work()
  } catch (error) {
    const kept = error instanceof ApiError ? await replayOf(sql, key) : undefined
    if (kept === undefined) throw error
    return kept
  }
}

const stillRunning = (): ApiError =>
  new ApiError(
    httpErrors.idempotency_in_progress,
    'A request with this Idempotency-Key is still running.',
    { headers: { 'Retry-After': '1' } },
  )

/** We do not replace a provisional answer in its last moments, because the commit takes time too. */
const settleMarginMs = 1_000

/**
 * Stores the answer of a claimed key, in the transaction that ends the work.
 *
 * @param provisionalMs how long a better answer may come: until then a repetition hears that the request runs, and
 *   afterwards it gets this answer
 */
export const answerKey = async (
  sql: Queryable,
  { key }: IdempotencyKey,
  { status, body }: Answer,
  provisionalMs?: number,
): Promise<void> => {
  const seconds = provisionalMs === undefined ? null : (provisionalMs + settleMarginMs) / 1000
  await sql`
    update idempotency_keys set status = ${status}, body = ${Buffer.from(body)},
      provisional_until = clock_timestamp() + make_interval(secs => ${seconds})
    where key = ${key}`
}

/**
 * Replaces the provisional answer by the final one.
 *
 * @returns false when it is too late: repetitions may have got the provisional one, which stays
 */
export const settleKey = async (
  sql: Queryable,
  { key }: IdempotencyKey,
  { status, body }: Answer,
): Promise<boolean> => {
  const settled = await sql`
    update idempotency_keys
    set status = ${status}, body = ${Buffer.from(body)}, provisional_until = null
    where key = ${key}
      and provisional_until > clock_timestamp() + make_interval(secs => ${settleMarginMs / 1000})`
  return settled.count === 1
}

/**
 * For a statement that writes many effects by itself, to stand in its `with`: claims the free keys, and
 * returns them as `key`. They go in in one order, so that two processes never wait for each other in a circle.
 *
 * @param rows a query of key, fingerprint, status and body; status and body are null where the answer comes later
 */
export const claimRows = (sql: Queryable, rows: PendingQuery<Row[]>) => sql`
  insert into idempotency_keys (key, fingerprint, status, body)
  select key, fingerprint, status, convert_to(body, 'UTF8')
  from (${rows}) as claim(key, fingerprint, status, body)
  where key is not null order by key on conflict do nothing returning key`

/** Likewise: stores answers. @param rows a query of key, status and body; without a status a key goes on running */
export const answerRows = (sql: Queryable, rows: PendingQuery<Row[]>) => sql`
  update idempotency_keys k set status = answer.status, body = convert_to(answer.body, 'UTF8')
  from (${rows}) as answer(key, status, body)
  where k.key = answer.key and answer.status is not null`

/** Likewise: forgets keys whose requests had no effect. @param rows a query of key */
export const freeRows = (sql: Queryable, rows: PendingQuery<Row[]>) => sql`
  delete from idempotency_keys k using (${rows}) as freed(key) where k.key = freed.key`

/** Returns the first row of each key in one statement: a later one is its repetition. */
export const firstOfEachKey = <T>(
  rows: readonly T[],
  keyOf: (row: T) => IdempotencyKey | undefined,
): readonly T[] => {
  const seen = new Set<string>()
  return rows.filter((row) => {
    const key = keyOf(row)?.key
    if (key === undefined) return true
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

const fresh = readyHeaders('application/json')
const replayed = readyHeaders('application/json')
replayed.set('Idempotent-Replayed', 'true')

/** The answer as it goes out. */
export const respond = ({ status, body, isReplay }: Answered): Response =>
  new Response(body, { status, headers: isReplay ? replayed : fresh })
