/**
 * Writes accepted transfers. Requests that arrive together share one statement, which also writes their audit entries
 * and their idempotency keys with their answers: a key exists if and only if its transfer does.
 */

import {
  type Client,
  createGatherer,
  isRowFault,
  type Queryable,
} from '#src/platform/database/index.ts'
import {
  type Answered,
  auditInsert,
  type Caller,
  claimRows,
  firstOfEachKey,
  type IdempotencyKey,
  refuseWhenBusy,
  repetitionOf,
} from '#src/platform/http/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import type { NewTransaction } from '../engine/transaction.ts'
import { drexErrors } from '../errors.ts'
import type { NewTransfer } from './store.ts'

export type Acceptance = {
  readonly transfer: NewTransfer
  readonly steps: readonly NewTransaction[]
  readonly caller: Caller
  /** The answer, also for repetitions. */
  readonly body: string
}

/** @throws ApiError if the key was used for another request, or too many wait */
export type Accept = (acceptance: Acceptance) => Promise<Answered>

const rowsMax = 200
const waitingMax = 10_000
export const acceptedStatus = 202

/** @param onWritten called after each commit */
export const createAcceptor = (sql: Client, onWritten: () => void): Accept => {
  const insert = createGatherer<Acceptance, boolean>({
    rowsMax,
    writersMax: 1,
    waitingMax,
    isRowFault,
    write: async (rows) => {
      const written = await insertAll(sql, rows)
      onWritten()
      return written
    },
  })
  return async (acceptance) => {
    const isNew = await insert(acceptance).catch(refuse)
    if (isNew) return { status: acceptedStatus, body: acceptance.body, isReplay: false }
    // Without a key every transfer is new.
    return repetitionOf(sql, acceptance.caller.idempotencyKey as IdempotencyKey)
  }
}

const refuse = refuseWhenBusy(drexErrors.too_busy, 'Too many transfers wait to be written.')

/**
 * Writes keys, steps and transfers in one statement: one round trip, one commit.
 *
 * @returns for each whether it was written; false if its key existed before
 */
export const insertAll = async (
  sql: Queryable,
  acceptances: readonly Acceptance[],
): Promise<readonly boolean[]> => {
  const rows = firstOfEachKey(acceptances, ({ caller }) => caller.idempotencyKey)
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
        ${transfers.map((row) => String(row.amount))}::text[],
        ${transfers.map((row) => row.decimals)}::int[],
        ${transfers.map((row) => row.reference ?? null)}::text[],
        ${transfers.map((row) => JSON.stringify(row.metadata))}::text[],
        ${transfers.map((row) => row.account)}::text[],
        ${transfers.map((row) => row.approval ?? null)}::text[],
        ${transfers.map((row) => row.batch ?? null)}::text[],
        ${transfers.map((row) => row.createdBy)}::text[],
        ${transfers.map((row) => row.createdAt.toISOString())}::text[],
        ${rows.map((row) => row.caller.idempotencyKey?.key ?? null)}::text[],
        ${rows.map((row) => row.caller.idempotencyKey?.fingerprint ?? null)}::text[],
        ${rows.map(({ caller, body }) => (caller.idempotencyKey === undefined ? null : body))}::text[],
        ${rows.map(() => newUuid())}::text[],
        ${rows.map((row) => row.caller.requestId)}::text[]
      ) as t(id, transaction_id, network, token, from_wallet, to_wallet, amount, decimals,
        reference, metadata, account, approval, batch, created_by, created_at, key, fingerprint, body, audit_id, request_id)
    ), taken as (${claimRows(
      sql,
      sql`select key, fingerprint, ${acceptedStatus}::int, body from input`,
    )}), fresh as (
      select i.* from input i left join taken k on k.key = i.key
      where i.key is null or k.key is not null
    ), stepped as (
      insert into drex_transactions (id, network, sender, kind, subject, status, recipient, data,
        after_id, created_by, expires_at, due_at)
      select s.id, f.network, s.sender, s.kind, f.id, 'pending', s.recipient, s.data, s.after_id,
        f.created_by, s.expires_at::timestamptz,
        case f.approval when 'required' then 'infinity'::timestamptz else now() end
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
      sql`select audit_id, created_by, 'drex.transfer', id,
        case approval when 'required' then 'approval required' else 'pending' end, request_id
      from fresh`,
    )})
    insert into drex_transfers (id, transaction_id, network, token, from_wallet, to_wallet,
      amount, decimals, reference, metadata, account, approval, batch, created_by, created_at)
    select id, transaction_id, network, token, from_wallet, to_wallet, amount::numeric, decimals, reference,
      metadata::jsonb, account, approval, batch, created_by, created_at::timestamptz
    from fresh returning id`
  const ids = new Set(written.map(({ id }) => id))
  return acceptances.map(({ transfer }) => ids.has(transfer.id))
}
