import type { Queryable } from '#src/platform/database/index.ts'
import { auditInsert, claimRows, firstOfEachKey } from '#src/platform/http/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import { transactionColumns as columns, type NewRow, type TransactionRow } from './store.ts'
import { areAmong, type WritePart } from './write-part.ts'

export type Members = readonly (keyof TransactionRow)[]

/** The members that no step changes. */
export const fixedMembers: Members = [
  'id',
  'network',
  'brand',
  'cardToken',
  'currency',
  'merchantId',
  'terminalId',
  'installments',
  'reference',
  'stan',
  'rrn',
  'transmission',
  'account',
  'createdBy',
  'createdAt',
]
/** The members known before an authorization is sent, but for its status and when it was changed: it is new. */
const initial: Members = [
  ...fixedMembers,
  'operation',
  'amountCents',
  'claimKey',
  'details',
  'traceparent',
]
/** Columns that most rows leave empty. Each column that we leave out saves PostgreSQL a microsecond. */
const rare: Members = ['operation', 'details', 'reference', 'traceparent']
const formOf = (members: Members) => ({
  members,
  declared: columns.declared(members),
  names: columns.names(members),
  given: columns.members(members),
})
const anyForm = formOf(initial)
const usualForm = formOf(initial.filter((member) => !rare.includes(member)))

const hasRare = ({ transaction }: NewRow): boolean =>
  rare.some((member) => transaction[member] !== undefined)

/** New transactions, with audit entries and idempotency keys. A row is not written if its key existed before. */
export const insertionOf = (sql: Queryable, rows: readonly NewRow[]): WritePart => {
  const first = firstOfEachKey(rows, ({ caller }) => caller.idempotencyKey)
  const isUsual = !first.some(hasRare)
  const { members, declared, names, given } = isUsual ? usualForm : anyForm
  const input = first.map(({ transaction, caller: { idempotencyKey, requestId } }, position) => ({
    ...columns.json(transaction, members),
    auditId: newUuid(),
    requestId,
    claimKey: idempotencyKey?.key,
    fingerprint: idempotencyKey?.fingerprint,
    position,
  }))
  const ctes = sql`
    input as (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as i(
        ${sql(declared)}, fingerprint text, "auditId" text, "requestId" text, position int)
    ),
    keys as (${claimRows(
      sql,
      sql`select "claimKey", fingerprint, null::int, null::text from input`,
    )}),
    fresh as (
      select i.* from input i left join keys k on k.key = i."claimKey"
      where i."claimKey" is null or k.key is not null
    ),
    begun as (${auditInsert(
      sql,
      sql`select "auditId", "createdBy",
          ${isUsual ? sql`'cards.authorize'` : sql`case when operation is null then 'cards.authorize' else 'cards.verify' end`}, id, 'pending', "requestId" from fresh`,
    )}),
    written as (
      insert into card_transactions (${sql(names)}, status, updated_at)
      select ${sql(given)}, 'pending', "createdAt" from fresh
    )`
  return {
    ctes,
    written: sql`(select string_agg(position::text, ' ') from fresh)`,
    read: (written) => areAmong(rows, first, written),
  }
}
