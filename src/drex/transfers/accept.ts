/**
 * Writes accepted transfers. Requests that arrive together share one statement, which also writes
 * their audit entries and their idempotency keys with the very answer each gets: a key is there if and only if its
 * transfer is.
 */

import type { Client } from '#src/platform/database/index.ts'
import {
  ApiError,
  auditInsert,
  httpErrors,
  type IdempotencyClaim,
} from '#src/platform/http/index.ts'
import type { NewTransaction } from '../engine/transaction.ts'
import { drexErrors } from '../errors.ts'
import type { NewTransfer } from './store.ts'

export type Acceptance = {
  readonly transfer: NewTransfer
  readonly steps: readonly NewTransaction[]
  readonly key: IdempotencyClaim | undefined
  readonly requestId: string | undefined
  /** What is answered, and answered again. */
  readonly body: string
}

export type Accepted = { readonly body: string; readonly isReplay: boolean }

export type Acceptor = {
  /** @throws ApiError when the key was used for another request, or too many wait */
  readonly accept: (acceptance: Acceptance) => Promise<Accepted>
}

const batchMax = 200
const waitingMax = 10_000
const acceptedStatus = 202
const contentType = 'application/json'

type Waiting = {
  readonly acceptance: Acceptance
  readonly resolve: (accepted: Accepted) => void
  readonly reject: (error: unknown) => void
}

/** @param onWritten called after each commit */
export const createAcceptor = (sql: Client, onWritten: () => void): Acceptor => {
  const waiting: Waiting[] = []
  let isWriting = false

  const write = async (): Promise<void> => {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchMax)
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
      if (waiting.length >= waitingMax) {
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

const writeBatch = async (sql: Client, batch: readonly Waiting[]): Promise<void> => {
  const first = firstOfEachKey(batch)
  const written = await insertAll(
    sql,
    first.map((each) => each.acceptance),
  )
  const repeated: Waiting[] = []
  for (const each of batch) {
    // A later one of the same key has another transfer id, which was never written.
    if (!written.has(each.acceptance.transfer.id)) repeated.push(each)
    else each.resolve({ body: each.acceptance.body, isReplay: false })
  }
  if (repeated.length > 0) await replay(sql, repeated)
}

const firstOfEachKey = (batch: readonly Waiting[]): readonly Waiting[] => {
  const seen = new Set<string>()
  return batch.filter(({ acceptance: { key } }) => {
    if (key === undefined) return true
    const name = keyName(key)
    if (seen.has(name)) return false
    seen.add(name)
    return true
  })
}

/**
 * Keys, steps and transfers in one statement: one way to the server and back, one commit. Keys go
 * in in one order, so that two processes never wait for each other in a circle.
 * @returns the transfers written: all but those whose key was there before
 */
const insertAll = async (
  sql: Client,
  rows: readonly Acceptance[],
): Promise<ReadonlySet<string>> => {
  const transfers = rows.map((row) => row.transfer)
  const steps = rows.flatMap((row) => row.steps)
  const written = await sql<{ id: string }[]>`
    with input as (
      select * from unnest(
        ${transfers.map((row) => row.id)}::text[],
        ${transfers.map((row) => row.transactionId)}::text[],
        ${transfers.map((row) => row.network)}::text[], ${transfers.map((row) => row.token)}::text[],
        ${transfers.map((row) => row.fromWallet)}::text[],
        ${transfers.map((row) => row.toWallet)}::text[],
        ${transfers.map((row) => String(row.amountCents))}::text[],
        ${transfers.map((row) => row.reference ?? null)}::text[],
        ${transfers.map((row) => JSON.stringify(row.metadata))}::text[],
        ${transfers.map((row) => row.createdBy)}::text[],
        ${transfers.map((row) => row.createdAt.toISOString())}::text[],
        ${rows.map((row) => row.key?.owner ?? null)}::text[],
        ${rows.map((row) => row.key?.key ?? null)}::text[],
        ${rows.map((row) => (row.key === undefined ? null : hexOf(row.key.fingerprint)))}::text[],
        ${rows.map((row) => row.body)}::text[],
        ${rows.map(() => Bun.randomUUIDv7())}::text[],
        ${rows.map((row) => row.requestId ?? null)}::text[]
      ) as t(id, transaction_id, network, token, from_wallet, to_wallet, amount, reference,
        metadata, created_by, created_at, owner, key, fingerprint, body, audit_id,
        request_id)
    ), taken as (
      insert into idempotency_keys (owner, key, fingerprint, status, content_type, body)
      select owner, key, decode(fingerprint, 'hex'), ${acceptedStatus}, ${contentType},
        convert_to(body, 'UTF8')
      from input where key is not null order by owner, key
      on conflict do nothing returning owner, key
    ), fresh as (
      select i.* from input i left join taken k on k.owner = i.owner and k.key = i.key
      where i.key is null or k.key is not null
    ), stepped as (
      insert into drex_transactions (id, network, sender, kind, subject, status, recipient, data,
        after_id, created_by, expires_at)
      select s.id, f.network, s.sender, s.kind, f.id, 'pending', s.recipient, s.data, s.after_id,
        f.created_by, s.expires_at::timestamptz
      from unnest(
        ${steps.map((row) => row.id)}::text[], ${steps.map((row) => row.sender)}::text[],
        ${steps.map((row) => row.kind)}::text[], ${steps.map((row) => row.subject)}::text[],
        ${steps.map((row) => row.recipient ?? null)}::text[],
        ${steps.map((row) => row.data)}::text[], ${steps.map((row) => row.afterId ?? null)}::text[],
        ${steps.map((row) => row.expiresAt.toISOString())}::text[]
      ) as s(id, sender, kind, subject, recipient, data, after_id, expires_at)
      join fresh f on f.id = s.subject
    ), audited as (${auditInsert(
      sql,
      sql`select audit_id, created_by, 'drex.transfer', id, 'pending', request_id from fresh`,
    )})
    insert into drex_transfers (id, transaction_id, network, token, from_wallet, to_wallet,
      amount_cents, reference, metadata, created_by, created_at)
    select id, transaction_id, network, token, from_wallet, to_wallet, amount::bigint, reference,
      metadata::jsonb, created_by, created_at::timestamptz
    from fresh returning id`
  return new Set(written.map((row) => row.id))
}

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')

const keyName = (key: { readonly owner: string; readonly key: string }): string =>
  `${key.owner}\n${key.key}`

const replay = async (sql: Client, repeated: readonly Waiting[]): Promise<void> => {
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
