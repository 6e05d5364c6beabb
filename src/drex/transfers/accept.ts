/**
 * Writes accepted transfers. Requests that arrive together share one database transaction, which
 * also holds their idempotency keys with the very answer each gets: a key is there if and only if
 * its transfer is.
 */
import type { Client } from '#src/platform/database/index.ts'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import type { IdempotencyClaim } from '#src/platform/idempotency/index.ts'
import { insertTransactions } from '../engine/store.ts'
import type { NewTransaction } from '../engine/transaction.ts'
import { drexErrors } from '../errors.ts'
import { insertTransfers, type NewTransfer } from './store.ts'

export type Acceptance = {
  readonly transfer: NewTransfer
  readonly steps: readonly NewTransaction[]
  readonly key: IdempotencyClaim | undefined
  /** What is answered, and answered again. */
  readonly body: string
}

export type Accepted = { readonly body: string; readonly isReplay: boolean }

export type Acceptor = {
  /** @throws ApiError when the key was used for another request, or too many wait */
  readonly accept: (acceptance: Acceptance) => Promise<Accepted>
}

const BATCH_MAX = 200
const WAITING_MAX = 10_000
const STATUS = 202
const CONTENT_TYPE = 'application/json'

type Waiting = {
  readonly acceptance: Acceptance
  readonly resolve: (accepted: Accepted) => void
  readonly reject: (error: unknown) => void
}

/** @param onWritten called after each commit */
export function createAcceptor(sql: Client, onWritten: () => void): Acceptor {
  const waiting: Waiting[] = []
  let isWriting = false

  const write = async (): Promise<void> => {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_MAX)
      try {
        await writeBatch(sql, batch)
        onWritten()
      } catch (error) {
        // Nothing of the batch was written.
        for (const each of batch) each.reject(error)
      }
    }
    isWriting = false
  }

  return {
    accept(acceptance) {
      if (waiting.length >= WAITING_MAX) {
        throw new ApiError(drexErrors.too_busy, 'Too many transfers wait to be written.')
      }
      const { promise, resolve, reject } = Promise.withResolvers<Accepted>()
      waiting.push({ acceptance, resolve, reject })
      // The rest of this turn's requests go with it.
      if (!isWriting) {
        isWriting = true
        setImmediate(() => void write())
      }
      return promise
    },
  }
}

async function writeBatch(sql: Client, batch: readonly Waiting[]): Promise<void> {
  const { fresh, repeated } = await sql.begin(async (tx) => {
    const keyed = batch.filter((each) => each.acceptance.key !== undefined)
    const won = await insertKeys(tx, keyed)
    const fresh = batch.filter((each) => each.acceptance.key === undefined || won.has(each))
    const acceptances = fresh.map((each) => each.acceptance)
    if (acceptances.length > 0) {
      await insertTransactions(
        tx,
        acceptances.flatMap((each) => each.steps),
      )
      await insertTransfers(
        tx,
        acceptances.map((each) => each.transfer),
      )
    }
    return { fresh, repeated: keyed.filter((each) => !won.has(each)) }
  })
  for (const each of fresh) each.resolve({ body: each.acceptance.body, isReplay: false })
  if (repeated.length > 0) await replay(sql, repeated)
}

/** @returns those whose key was not there before, each key once */
async function insertKeys(
  sql: Parameters<typeof insertTransactions>[0],
  keyed: readonly Waiting[],
): Promise<ReadonlySet<Waiting>> {
  if (keyed.length === 0) return new Set()
  const byKey = new Map<string, Waiting>()
  for (const each of keyed) {
    const name = keyName(each.acceptance.key!)
    if (!byKey.has(name)) byKey.set(name, each)
  }
  // One order for everybody: two processes that insert the same keys must not wait in a circle.
  const names = [...byKey.keys()].sort()
  const rows = names.map((name) => byKey.get(name)!.acceptance)
  const inserted = await sql<{ owner: string; key: string }[]>`
    insert into idempotency_keys (owner, key, fingerprint, status, content_type, body)
    select owner, key, decode(fingerprint, 'hex'), ${STATUS}, ${CONTENT_TYPE},
      convert_to(body, 'UTF8')
    from unnest(
      ${rows.map((row) => row.key!.owner)}::text[], ${rows.map((row) => row.key!.key)}::text[],
      ${rows.map((row) => Buffer.from(row.key!.fingerprint).toString('hex'))}::text[],
      ${rows.map((row) => row.body)}::text[]
    ) as t(owner, key, fingerprint, body)
    on conflict do nothing returning owner, key`
  return new Set(inserted.map((row) => byKey.get(keyName(row))!))
}

function keyName(key: { readonly owner: string; readonly key: string }): string {
  return `${key.owner}\n${key.key}`
}

async function replay(sql: Client, repeated: readonly Waiting[]): Promise<void> {
  const keys = repeated.map((each) => each.acceptance.key!)
  const rows = await sql<
    { owner: string; key: string; fingerprint: Uint8Array; body: Uint8Array | null }[]
  >`
    select owner, key, fingerprint, body from idempotency_keys
    where (owner, key) in (
      select * from unnest(
        ${keys.map((key) => key.owner)}::text[], ${keys.map((key) => key.key)}::text[]
      )
    )`
  const stored = new Map(rows.map((row) => [keyName(row), row]))
  for (const each of repeated) {
    const key = each.acceptance.key!
    const row = stored.get(keyName(key))
    if (row !== undefined && !Buffer.from(row.fingerprint).equals(Buffer.from(key.fingerprint))) {
      each.reject(
        new ApiError(
          httpErrors.idempotency_mismatch,
          'The Idempotency-Key was used for another request.',
        ),
      )
    } else if (row === undefined || row.body === null) {
      each.reject(
        new ApiError(httpErrors.idempotency_in_progress, 'The same request has not ended yet.'),
      )
    } else {
      each.resolve({ body: Buffer.from(row.body).toString('utf8'), isReplay: true })
    }
  }
}
