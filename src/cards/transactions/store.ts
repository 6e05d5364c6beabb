import type { EmitWithin } from '#src/events/index.ts'
import {
  type Client,
  looksLikeOne,
  type Queryable,
  textArray,
  uuidBound,
} from '#src/platform/database/index.ts'
import {
  type Answer,
  type AuditEntry,
  answerRows,
  auditInsert,
  type Caller,
  claimRows,
  firstOfEachKey,
  freeRows,
} from '#src/platform/http/index.ts'
import { createColumns, type RecordOf, recordOf } from '../columns.ts'
import { type Movement, movementJson, movementRows } from '../reconciliation/movements.ts'
import type { CardStatus } from './domain.ts'
import { statusEvent } from './events.ts'
import type { cardTransactions, ShownMessage } from './schema.ts'

/** Without what only the database writes. */
export type TransactionRow = Omit<typeof cardTransactions.$inferSelect, 'touchedAt'>

export type CardTransaction = RecordOf<TransactionRow>

/** A step of a transaction, with its events and the answer for its idempotency key. */
export type CardChange = {
  /** The stored row must still have this status and operation. */
  readonly before: CardTransaction
  readonly after: CardTransaction
  /** Callers see them, so they hold no card data. */
  readonly events: readonly NewCardEvent[]
  /** The answer of the transaction's key from now on; `free` deletes the key; undefined leaves it running. */
  readonly answer?: Answer | 'free' | undefined
  /** What the network has booked with it. */
  readonly movements?: readonly Movement[]
  /** Present if a caller asked for the step. */
  readonly audit?: AuditEntry | undefined
}

export type NewCardEvent = {
  readonly type: string
  readonly data: Readonly<Record<string, string | number | null>>
  readonly messages?: readonly ShownMessage[] | undefined
}

const columns = createColumns<keyof TransactionRow>({
  id: 'text',
  status: 'text',
  operation: 'text',
  operationStan: 'text',
  operationTransmission: 'text',
  operationCents: 'bigint',
  network: 'text',
  brand: 'text',
  cardToken: 'text',
  amountCents: 'bigint',
  requestedCents: 'bigint',
  capturedCents: 'bigint',
  captureStan: 'text',
  captureTransmission: 'text',
  captureAdvised: 'boolean',
  standIn: 'boolean',
  captures: 'jsonb',
  currency: 'text',
  merchantId: 'text',
  terminalId: 'text',
  installments: 'int',
  reference: 'text',
  details: 'jsonb',
  refundedCents: 'bigint',
  reversedCents: 'bigint',
  stan: 'text',
  rrn: 'text',
  transmission: 'text',
  authCode: 'text',
  responseCode: 'text',
  captureError: 'text',
  voidError: 'text',
  refundError: 'text',
  incrementError: 'text',
  reason: 'text',
  needsAttention: 'boolean',
  claimKey: 'text',
  traceparent: 'text',
  account: 'text',
  createdBy: 'text',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
  capturedAt: 'timestamptz',
  voidedAt: 'timestamptz',
})

/** The members that no step changes. */
const fixed: ReadonlySet<keyof TransactionRow> = new Set([
  ...(['id', 'network', 'brand', 'cardToken', 'currency', 'merchantId'] as const),
  ...([
    'terminalId',
    'installments',
    'reference',
    'stan',
    'rrn',
    'transmission',
    'account',
    'createdBy',
    'createdAt',
  ] as const),
])
const changing = columns.all.filter((member) => !fixed.has(member))
/** The members known before an authorization is sent. */
const initial: readonly (keyof TransactionRow)[] = [
  ...fixed,
  ...([
    'status',
    'operation',
    'amountCents',
    'updatedAt',
    'claimKey',
    'traceparent',
    'details',
  ] as const),
]

export const transactionTexts = {
  selected: columns.selected('t'),
  initialDeclared: columns.declared(initial),
  initialNames: columns.names(initial),
  initialMembers: columns.members(initial),
  changingDeclared: columns.declared(changing),
  changingAssigned: columns.assigned(changing, 'i'),
}

export type NewRow = {
  readonly transaction: CardTransaction
  readonly caller: Pick<Caller, 'idempotencyKey' | 'requestId'>
}

/**
 * Writes any number of transactions, with audit entries and idempotency keys, in one statement: one round trip, one
 * commit.
 *
 * @returns for each whether it was written; false if its key existed before
 */
export const insertTransactions = async (
  sql: Queryable,
  rows: readonly NewRow[],
): Promise<readonly boolean[]> => {
  const first = firstOfEachKey(rows, ({ caller }) => caller.idempotencyKey)
  const input = first.map(({ transaction, caller: { idempotencyKey, requestId } }) => ({
    ...columns.json(transaction, initial),
    auditId: Bun.randomUUIDv7(),
    requestId,
    claimKey: idempotencyKey?.key,
    fingerprint: idempotencyKey?.fingerprint,
  }))
  const written = await sql<{ id: string }[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as i(
        ${sql(transactionTexts.initialDeclared)}, fingerprint text, "auditId" text, "requestId" text)
    ),
    keys as (${claimRows(
      sql,
      sql`select "claimKey", fingerprint, null::int, null::text from input`,
    )}),
    fresh as (
      select i.* from input i left join keys k on k.key = i."claimKey"
      where i."claimKey" is null or k.key is not null
    ),
    events as (
      insert into card_events (transaction_id, type, data, at)
      select id, coalesce(operation, 'authorization') || '_sent', json_build_object('stan', stan, 'rrn', rrn), "createdAt"
      from fresh
    ),
    audited as (${auditInsert(
      sql,
      sql`select "auditId", "createdBy",
          case when operation is null then 'cards.authorize' else 'cards.verify' end, id, 'pending', "requestId" from fresh`,
    )})
    insert into card_transactions (${sql(transactionTexts.initialNames)})
    select ${sql(transactionTexts.initialMembers)}
    from fresh returning id`
  const ids = new Set(written.map(({ id }) => id))
  return rows.map(({ transaction }) => ids.has(transaction.id))
}

const inputOf = (
  { before, after, events, answer, audit, movements = [] }: CardChange,
  position: number,
  told: object | undefined,
) => ({
  ...columns.json(after, changing),
  id: after.id,
  ...(audit === undefined ? {} : { auditId: Bun.randomUUIDv7(), audit }),
  position,
  fromStatus: before.status,
  fromOperation: before.operation,
  fromStan: before.operationStan,
  fromAmount: String(before.amountCents),
  fromCaptured: before.capturedCents === undefined ? undefined : String(before.capturedCents),
  fromRefunded: before.refundedCents === undefined ? undefined : String(before.refundedCents),
  fromReversed: before.reversedCents === undefined ? undefined : String(before.reversedCents),
  events,
  told,
  ...(movements.length === 0 ? {} : { movements: movementJson(movements) }),
  answerStatus: typeof answer === 'object' ? answer.status : undefined,
  answerBody: typeof answer === 'object' ? answer.body : undefined,
  frees: answer === 'free',
})

/**
 * Takes any number of transactions to their next state, with events, audit entries and the answers of their keys, in
 * one statement. A transaction that has left the expected state stays as it is.
 *
 * @param emission tells subscribers of new statuses; undefined if there are none
 * @returns for each whether it was changed
 */
export const changeTransactions = async (
  sql: Queryable,
  changes: readonly CardChange[],
  emission: EmitWithin | undefined,
): Promise<readonly boolean[]> => {
  const first = firstOfEachState(changes)
  const news = first.map(({ before, after }) => statusEvent(before, after))
  const events = news.filter((event) => event !== undefined)
  const isTold = events.length > 0 && (await emission?.isTaken(sql, events)) === true
  const told = news.map((event) => (isTold ? event && emission?.rowOf(event) : undefined))
  const input = first.map((change, at) => inputOf(change, at, told[at]))
  const isBooked = first.some(({ movements = [] }) => movements.length > 0)
  const changed = await sql<{ position: number }[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as i(
        position int, id text, "fromStatus" text, "fromOperation" text, "fromStan" text,
        "fromAmount" bigint, "fromCaptured" bigint, "fromRefunded" bigint, "fromReversed" bigint,
        ${sql(transactionTexts.changingDeclared)}, events jsonb, "answerStatus" int, "answerBody" text,
        frees boolean, "auditId" text, audit json, told json, movements json, nothing text)
      where ${looksLikeOne(sql)}
    ),
    changed as (
      update card_transactions t set ${sql(transactionTexts.changingAssigned)}, touched_at = now()
      from input i
      where t.id = i.id and t.status = i."fromStatus"
        and t.operation is not distinct from i."fromOperation"
        and t.operation_stan is not distinct from i."fromStan"
        and t.amount_cents = i."fromAmount"
        and t.captured_cents is not distinct from i."fromCaptured"
        and t.refunded_cents is not distinct from i."fromRefunded"
        and t.reversed_cents is not distinct from i."fromReversed"
      returning i.position
    ),
    mine as (select i.* from input i join changed c on c.position = i.position),
    events as (
      insert into card_events (transaction_id, type, data, messages, at)
      select m.id, e.value ->> 'type', e.value -> 'data', e.value -> 'messages', m."updatedAt"
      from mine m cross join jsonb_array_elements(m.events) with ordinality e(value, position)
      order by e.position
    ),
    answered as (${answerRows(
      sql,
      sql`select "claimKey", "answerStatus", "answerBody" from mine`,
    )}),
    freed as (${freeRows(sql, sql`select "claimKey" from mine where frees`)}),
    audited as (${auditInsert(
      sql,
      sql`select "auditId", audit -> 'actor' ->> 'id', audit ->> 'action', audit ->> 'object',
          audit ->> 'outcome', audit -> 'actor' ->> 'requestId'
        from mine where "auditId" is not null`,
    )})${
      isBooked
        ? sql`, booked as (${movementRows(
            sql,
            sql`select movements from mine where movements is not null`,
          )})`
        : sql``
    }${
      emission === undefined || !isTold
        ? sql``
        : sql`, ${emission.ctes(sql, sql`select told from mine where told is not null`)}`
    }
    select position from changed`
  const written = new Set(changed.map(({ position }) => first[position]))
  return changes.map((change) => written.has(change))
}

/** Keeps the first of several changes that leave the same state of one transaction. */
const firstOfEachState = (changes: readonly CardChange[]): readonly CardChange[] => {
  const firsts = new Map<string, CardChange>()
  for (const change of changes) {
    const { id, status, operation = '', operationStan = '' } = change.before
    const { capturedCents = '', refundedCents = '', reversedCents = '' } = change.before
    const sums = `${change.before.amountCents} ${capturedCents} ${refundedCents} ${reversedCents}`
    const state = `${id} ${status} ${operation} ${operationStan} ${sums}`
    if (!firsts.has(state)) firsts.set(state, change)
  }
  return [...firsts.values()]
}

export const transactionById = async (
  sql: Queryable,
  id: string,
): Promise<CardTransaction | undefined> => {
  const [row] = await sql<
    TransactionRow[]
  >`select ${sql(transactionTexts.selected)} from card_transactions t where id = ${id}`
  return row && recordOf(row)
}

/** The same, locked until the transaction ends. */
export const lockTransaction = async (
  tx: Queryable,
  id: string,
): Promise<CardTransaction | undefined> => {
  const [row] = await tx<TransactionRow[]>`
    select ${tx(transactionTexts.selected)} from card_transactions t where id = ${id} for update`
  return row && recordOf(row)
}

export type TransactionFilter = {
  readonly account: string
  /** Undefined: of every merchant. */
  readonly merchantIds: readonly string[] | undefined
  readonly status: CardStatus | undefined
  readonly merchantId: string | undefined
  /** The caller's own. */
  readonly reference: string | undefined
  /** DE 37. */
  readonly rrn: string | undefined
  /** DE 11 of the authorization; with `from` and `to`. */
  readonly stan: string | undefined
  /** In cents, authorized; with `from` and `to`. */
  readonly amountFrom: bigint | undefined
  readonly amountTo: bigint | undefined
  /** True for only those that no network settled; false for all. */
  readonly needsAttention: boolean
  /** Created at or after. */
  readonly from: Date | undefined
  /** Created before. */
  readonly to: Date | undefined
  /** Older than this one. */
  readonly beforeId: string | undefined
  readonly limit: number
}

/** Identifiers hold the time of their process, rows that of the same clock a moment later. */
export const clockMarginMs = 60_000
export const idAt = (ms: number): string => `txn_${uuidBound(new Date(ms)).replaceAll('-', '')}`

/** The names of all networks that ever were, by which the index on reference numbers begins. */
const networksIn = (sql: Client) => sql`array(select network from card_stan_blocks)`

/** Newest first. */
export const listTransactions = async (
  sql: Client,
  { account, merchantIds, status, merchantId, ...filter }: TransactionFilter,
): Promise<readonly CardTransaction[]> => {
  const { reference, rrn, stan, amountFrom, amountTo, needsAttention } = filter
  const { from, to, beforeId, limit } = filter
  // What has an index of its own leads: nobody knows yet, while a plan is made, that an account's may be all there are.
  const isNamed = [merchantIds, merchantId, reference, rrn].some((one) => one !== undefined)
  const conditions = sql`
    ${isNamed ? sql`account || ''` : sql`account`} = ${account}
    ${reference === undefined ? sql`` : sql`and reference = ${reference}`}
    ${rrn === undefined ? sql`` : sql`and network = any(${networksIn(sql)}) and rrn = ${rrn}`}
    ${stan === undefined ? sql`` : sql`and stan = ${stan}`}
    ${amountFrom === undefined ? sql`` : sql`and amount_cents >= ${amountFrom}`}
    ${amountTo === undefined ? sql`` : sql`and amount_cents <= ${amountTo}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${merchantId === undefined ? sql`` : sql`and merchant_id = ${merchantId}`}
    ${needsAttention ? sql`and needs_attention` : sql``}
    ${from === undefined ? sql`` : sql`and created_at >= ${from} and id >= ${idAt(from.getTime() - clockMarginMs)}`}
    ${to === undefined ? sql`` : sql`and created_at < ${to} and id < ${idAt(to.getTime() + clockMarginMs)}`}
    ${beforeId === undefined ? sql`` : sql`and id < ${beforeId}`}`
  const rows = await sql<TransactionRow[]>`
    select ${sql(transactionTexts.selected)} from ${
      merchantIds === undefined
        ? sql`card_transactions t where ${conditions}`
        : sql`unnest(${textArray(merchantIds)}::text::text[]) as one(merchant) cross join lateral (
            select * from card_transactions where merchant_id = one.merchant and ${conditions}
            order by merchant_id, id desc limit ${limit}
          ) t`
    } order by id desc limit ${limit}`
  return rows.map(recordOf)
}
