import { listed, looksLikeOne, type Queryable, textArray } from '#src/platform/database/index.ts'
import { type Listed, type ListRequest, type Narrowing, narrowedPage, pageOf } from '../pages.ts'
import {
  type IncomingEnd,
  type IncomingPayment,
  natureOf,
  type PaidTo,
  type Pix,
  type PixReturn,
} from './domain.ts'

/** A payment with whom it is for, and what we answer. */
export type NewReceived = {
  readonly payment: IncomingPayment
  readonly account: string
  readonly key: string | null
  readonly chargeId: string | null
  readonly components: string | null
  /** Undefined: it may be accepted. */
  readonly refusal: string | undefined
}

export type PixFilter = ListRequest & {
  readonly txid: string | undefined
  readonly hasTxid: boolean | undefined
  readonly hasReturns: boolean | undefined
  readonly payerTaxId: string | undefined
}

export type ReceiverRow = {
  readonly key: string
  readonly account: string
  readonly taxId: string
}

/** The receivers that payments may be for. */
export const receiversFor = (
  tx: Queryable,
  payments: readonly IncomingPayment[],
): Promise<readonly ReceiverRow[]> => {
  const documents = [...new Set(payments.map((one) => one.creditorDocument))]
  return tx<ReceiverRow[]>`
    select key, account, tax_id as "taxId" from pix_receivers
    where tax_id = any(${listed(tx, documents, 'text')}) order by key`
}

/** The charges that payments name, and whose they are; locked in one order until the transaction ends. */
export const lockNamed = async (
  tx: Queryable,
  payments: readonly IncomingPayment[],
): Promise<
  readonly { readonly taxId: string; readonly txid: string; readonly account: string }[]
> => {
  const named = payments.filter(({ txid }) => txid !== null)
  if (named.length === 0) return []
  const wanted = new Map(
    named.map(({ creditorDocument: taxId, txid }) => [`${txid} ${taxId}`, { taxId, txid }]),
  )
  const rows = [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  return tx<{ taxId: string; txid: string; account: string }[]>`
    select c.tax_id as "taxId", c.txid, c.account
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as wanted("taxId" text, txid text)
      cross join lateral (
      select tax_id, txid, account from pix_charges
      where tax_id = wanted."taxId" and txid = wanted.txid limit 1 for update
    ) c`
}

/** How we refused payments that we know already; undefined if we did not refuse. */
export const knownRefusals = async (
  tx: Queryable,
  endToEndIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> => {
  if (endToEndIds.length === 0) return new Map()
  const rows = await tx<{ id: string; refusal: string | null }[]>`
    select end_to_end_id as id, refusal from pix_received
    where end_to_end_id = any(${listed(tx, endToEndIds, 'text')})`
  return new Map(rows.map(({ id, refusal }) => [id, refusal]))
}

/** @returns those that another has stored meanwhile */
export const addReceived = async (
  tx: Queryable,
  all: readonly NewReceived[],
  at: Date,
): Promise<readonly string[]> => {
  const sorted = all.toSorted((a, b) => (a.payment.endToEndId < b.payment.endToEndId ? -1 : 1))
  const rows = sorted.map(({ payment, account, key, chargeId, components, refusal = null }) => ({
    id: payment.endToEndId,
    account,
    key,
    receiver: payment.creditorDocument,
    charge: chargeId,
    refusal,
    txid: payment.txid,
    cents: payment.amountCents.toString(),
    payer: payment.debtorDocument,
    info: payment.text,
    components,
  }))
  const added = await tx<{ id: string }[]>`
    insert into pix_received (end_to_end_id, account, key, receiver_tax_id, txid, charge_id,
      amount_cents, payer_tax_id, info, components, status, refusal, received_at)
    select id, account, key, receiver, txid, charge, cents, payer, info, components,
      case when refusal is null then 'PENDENTE' else 'RECUSADO' end, refusal, ${at}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r(id text, account text,
      key text, receiver text, charge uuid, refusal text, txid text, cents bigint, payer text, info text,
      components text)
    on conflict (end_to_end_id) do nothing returning end_to_end_id as id`
  const ids = new Set(added.map(({ id }) => id))
  return rows.flatMap(({ id }) => (ids.has(id) ? [] : [id]))
}

/** The ends in the order in which all lock them; of two ends with one id, the settled one. */
const sortedEnds = (
  ends: readonly IncomingEnd[],
  idOf: (end: IncomingEnd) => string | null,
): readonly (IncomingEnd & { readonly id: string | null })[] => {
  const named = ends.map((end) => ({ ...end, id: idOf(end) }))
  const ordered = named.toSorted((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1))
  const byId = new Map<string | null, (typeof ordered)[number]>()
  for (const one of ordered) if (byId.get(one.id)?.isSettled !== true) byId.set(one.id, one)
  return [...byId.values()]
}

export type EndedPix = PaidTo & { readonly chargeId: string | null; readonly isSettled: boolean }

/** Writes the ends of payments, and concludes the charges that they pay. @returns those that have ended now */
export const endReceived = async (
  tx: Queryable,
  ends: readonly IncomingEnd[],
  at: Date,
): Promise<readonly EndedPix[]> => {
  const sorted = sortedEnds(ends, ({ endToEndId }) => endToEndId)
  const rows = sorted.map(({ id, isSettled: settled }) => ({ id, settled }))
  const changed = await tx<EndedPix[]>`
    with r as materialized (
      select ended.* from json_to_recordset(${JSON.stringify(rows)}::text::json)
          as ended(id text, settled boolean, nothing text)
        cross join lateral (
          select from pix_received where end_to_end_id = ended.id limit 1 for update
        ) locked
      where ${looksLikeOne(tx)}
    )
    update pix_received p set
      status = case when r.settled then 'LIQUIDADO' else 'NAO_REALIZADO' end,
      settled_at = case when r.settled then ${at}::timestamptz end
    from r
    where p.end_to_end_id = r.id and p.status <> 'LIQUIDADO'
      and (r.settled or p.status = 'PENDENTE')
    returning p.end_to_end_id as "endToEndId", p.account, p.receiver_tax_id as "receiverTaxId",
      p.amount_cents as "amountCents", p.charge_id as "chargeId", r.settled as "isSettled"`
  const charges = changed.flatMap(({ chargeId, isSettled }) => (isSettled ? (chargeId ?? []) : []))
  if (charges.length > 0) {
    await tx`
      with paid as materialized (
        select id from pix_charges
        where id = any(${listed(tx, charges, 'uuid')}) and status = 'ATIVA'
        order by txid collate "C", account for update
      )
      update pix_charges set status = 'CONCLUIDA' where id in (select id from paid)`
  }
  return changed
}

export type EndedReturn = { readonly endToEndId: string; readonly id: string }

/** Writes the ends of returns: what was refused may be ordered again under its RtrId. @returns those that have ended now */
export const endReturns = async (
  tx: Queryable,
  ends: readonly IncomingEnd[],
  at: Date,
): Promise<readonly EndedReturn[]> => {
  const sorted = sortedEnds(ends, ({ returnId }) => returnId)
  const rows = sorted.map(({ returnId, isSettled, reason, isCorrection }) => ({
    returnId,
    isSettled,
    reason,
    isCorrection,
  }))
  return tx<EndedReturn[]>`
    with r as materialized (
      select ended.* from json_to_recordset(${JSON.stringify(rows)}::text::json)
          as ended("returnId" text, "isSettled" boolean, reason text, "isCorrection" boolean,
            nothing text)
        cross join lateral (
          select from pix_returns where return_id = ended."returnId" limit 1 for update
        ) locked
      where ${looksLikeOne(tx)}
    )
    update pix_returns p set
      status = case when r."isSettled" then 'DEVOLVIDO' else 'NAO_REALIZADO' end,
      settled_at = case when r."isSettled" then ${at}::timestamptz end,
      reason = case when r."isSettled" then null else r.reason end
    from r
    where p.return_id = r."returnId" and (
      p.status <> 'DEVOLVIDO' and (r."isSettled" or p.status = 'EM_PROCESSAMENTO')
      or p.status = 'DEVOLVIDO' and not r."isSettled" and r."isCorrection")
    returning p.end_to_end_id as "endToEndId", p.id`
}

type PixRow = Omit<Pix, 'returns'>

const columns = (sql: Queryable) => sql`
  p.end_to_end_id as "endToEndId", p.account, p.key, p.txid, p.charge_id as "chargeId",
  p.amount_cents as "amountCents", p.info, p.components, p.settled_at as "settledAt"`

const returnColumns = (sql: Queryable) => sql`
  end_to_end_id as "endToEndId", id, return_id as "returnId", amount_cents as "amountCents",
  nature, description, status, reason, requested_at as "requestedAt", settled_at as "settledAt"`

const withReturns = async (sql: Queryable, rows: readonly PixRow[]): Promise<readonly Pix[]> => {
  if (rows.length === 0) return []
  const ids = rows.map(({ endToEndId }) => endToEndId)
  const returns = await sql<PixReturn[]>`
    select ${returnColumns(sql)} from pix_returns
    where end_to_end_id = any(${listed(sql, ids, 'text')}) order by requested_at, id`
  const byPix = Map.groupBy(returns, ({ endToEndId }) => endToEndId)
  return rows.map((row) => ({ ...row, returns: byPix.get(row.endToEndId) ?? [] }))
}

/** Settled payments of charges, by the charge. */
export const pixOfCharges = async (
  sql: Queryable,
  chargeIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Pix[]>> => {
  if (chargeIds.length === 0) return new Map()
  const rows = await sql<PixRow[]>`
    select ${columns(sql)} from unnest(${textArray(chargeIds)}::text::uuid[]) as wanted(id)
      cross join lateral (
        select * from pix_received
        where charge_id = wanted.id and settled_at is not null offset 0
      ) p
    order by p.settled_at, p.end_to_end_id`
  return Map.groupBy(await withReturns(sql, rows), ({ chargeId }) => chargeId ?? '')
}

/** Settled payments by their EndToEndId. */
export const pixByIds = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pix>> => {
  if (ids.length === 0) return new Map()
  const rows = await sql<PixRow[]>`
    select ${columns(sql)} from pix_received p
    where p.end_to_end_id = any(${listed(sql, ids, 'text')}) and p.settled_at is not null`
  return new Map((await withReturns(sql, rows)).map((pix) => [pix.endToEndId, pix]))
}

/** A settled payment of the account. */
export const findPix = async (
  sql: Queryable,
  account: string,
  endToEndId: string,
): Promise<Pix | undefined> => {
  const rows = await sql<PixRow[]>`
    select ${columns(sql)} from pix_received p
    where p.end_to_end_id = ${endToEndId} and p.account = ${account}
      and p.settled_at is not null`
  return (await withReturns(sql, rows))[0]
}

/** Locks it until the transaction ends, so that its returns are made one after the other. */
export const lockPix = async (
  tx: Queryable,
  account: string,
  endToEndId: string,
): Promise<Pix | undefined> => {
  await tx`
    select from pix_received where end_to_end_id = ${endToEndId} and account = ${account}
    for update`
  return findPix(tx, account, endToEndId)
}

/** Locks payments in the order in which all do. */
export const lockReceived = async (
  tx: Queryable,
  endToEndIds: readonly string[],
): Promise<void> => {
  const sorted = textArray([...new Set(endToEndIds)].sort())
  await tx`
    select from unnest(${sorted}::text::text[]) as wanted(id)
      cross join lateral (
        select from pix_received where end_to_end_id = wanted.id limit 1 for update
      ) locked`
}

export const addReturn = async (
  tx: Queryable,
  one: Omit<PixReturn, 'status' | 'reason' | 'settledAt'>,
): Promise<void> => {
  await tx`
    insert into pix_returns (end_to_end_id, id, return_id, amount_cents, nature, description,
      requested_at)
    values (${one.endToEndId}, ${one.id}, ${one.returnId}, ${one.amountCents}, ${one.nature},
      ${one.description}, ${one.requestedAt})`
  await tx`
    update pix_received set has_returns = true where end_to_end_id = ${one.endToEndId}`
}

/**
 * Notes a return that others have made than the receiver: it has its RtrId as its id. One that was refused may be made
 * again under its RtrId. Of a payment to nobody whom we know nothing is noted.
 */
export const noteReturn = async (tx: Queryable, endToEndId: string) => {
  const { count } = await tx`
    select from pix_received where end_to_end_id = ${endToEndId} for update`
  return async (made: {
    readonly id: string
    readonly amountCents: bigint
    readonly reason: string
    readonly description: string | undefined
    readonly at: Date
  }): Promise<void> => {
    if (count === 0) return
    const { id, amountCents, reason, description = null, at } = made
    const again = await tx`
      update pix_returns set status = 'EM_PROCESSAMENTO', reason = null,
        amount_cents = ${amountCents}, nature = ${natureOf(reason)}, description = ${description}
      where return_id = ${id} and end_to_end_id = ${endToEndId}
        and status in ('NAO_REALIZADO', 'EM_PROCESSAMENTO')`
    if (again.count > 0) return
    await addReturn(tx, {
      endToEndId,
      id,
      returnId: id,
      amountCents,
      nature: natureOf(reason),
      description,
      requestedAt: at,
    })
  }
}

/** One value for both, to lead an index: many rows may match either alone where few match both. */
const both = '(has_returns::int * 2 + (txid is not null)::int)'

const narrowingOf = ({ txid, hasTxid, hasReturns, payerTaxId }: PixFilter): Narrowing => ({
  txid,
  payer_tax_id: payerTaxId,
  ...(hasTxid === undefined || hasReturns === undefined
    ? { '(txid is not null)': hasTxid, has_returns: hasReturns }
    : { [both]: Number(hasReturns) * 2 + Number(hasTxid) }),
})

/** In the order of their settlement. */
export const listPix = async (
  sql: Queryable,
  account: string,
  filter: PixFilter,
): Promise<Listed<Pix>> => {
  const all = sql`
    from pix_received p where account = ${account}
      and settled_at between ${filter.from} and ${filter.to}`
  return narrowedPage(
    sql,
    { from: all, order: sql`settled_at, end_to_end_id` },
    narrowingOf(filter),
    async (matching) => {
      const rows = await sql<PixRow[]>`select ${columns(sql)} ${matching} ${pageOf(sql, filter)}`
      return withReturns(sql, rows)
    },
  )
}
