import { constants, type Queryable } from '#src/platform/database/index.ts'
import type { DueTerms } from '../due/domain.ts'
import { type Listed, type ListRequest, narrowedPage, pageOf } from '../pages.ts'
import {
  type Charge,
  type ChargeKind,
  type ChargeStatus,
  type ChargeTerms,
  type Debtor,
  debtorTaxIdOf,
  type Info,
  kindOf,
} from './domain.ts'
import type { Withdrawal } from './withdrawal.ts'

type Content = {
  readonly devedor?: Debtor
  readonly solicitacaoPagador?: string
  readonly infoAdicionais?: readonly Info[]
  readonly retirada?: Withdrawal
  readonly vencimento?: DueTerms
}

/** A charge as it is stored. */
export type ChargeRow = Omit<Charge, 'terms'> &
  Pick<ChargeTerms, 'key' | 'originalCents' | 'expiresSeconds'> & {
    readonly alteration: number
    readonly content: string
  }

export type ChargeFilter = ListRequest & {
  readonly kind: ChargeKind
  readonly status: ChargeStatus | undefined
  readonly debtorTaxId: string | undefined
  readonly isShown: boolean | undefined
  /** The batch that asked for them. */
  readonly batchId: number | undefined
}

/** The columns of a {@link ChargeRow}. */
export const columns = (sql: Queryable) => sql`
  id, account, tax_id as "taxId", txid, status, revision, key, original_cents as "originalCents",
  alteration, expires_seconds as "expiresSeconds", content, created_at as "createdAt"`

export const chargeOf = (row: ChargeRow): Charge => {
  const { id, account, taxId, txid, status, revision, createdAt } = row
  const content = JSON.parse(row.content) as Content
  return {
    id,
    account,
    taxId,
    txid,
    status,
    revision,
    createdAt,
    terms: {
      key: row.key,
      originalCents: row.originalCents,
      isOpen: row.alteration === 1,
      withdrawal: content.retirada,
      expiresSeconds: row.expiresSeconds,
      debtor: content.devedor,
      question: content.solicitacaoPagador,
      infos: content.infoAdicionais,
      due: content.vencimento,
    },
  }
}

export const contentOf = ({ debtor, question, infos, withdrawal, due }: ChargeTerms): string =>
  JSON.stringify({
    devedor: debtor,
    solicitacaoPagador: question,
    infoAdicionais: infos,
    retirada: withdrawal,
    vencimento: due,
  })

/** False: the account, or another of the same receiver, has a charge of the txid. */
export const addCharge = async (tx: Queryable, charge: Charge): Promise<boolean> => {
  const { terms } = charge
  const added = await tx`
    insert into pix_charges (id, account, kind, tax_id, txid, key, original_cents, alteration,
      expires_seconds, debtor_tax_id, content, created_at)
    values (${charge.id}, ${charge.account}, ${kindOf(terms)}, ${charge.taxId}, ${charge.txid}, ${terms.key},
      ${terms.originalCents}, ${terms.isOpen ? 1 : 0}, ${terms.expiresSeconds},
      ${debtorTaxIdOf(terms.debtor) ?? null}, ${contentOf(terms)}, ${charge.createdAt})
    on conflict do nothing`
  return added.count === 1
}

/**
 * The one row of a txid, asked for in order: while the table is empty any index that begins with the account looks as
 * good, and a plan that is made then is kept.
 */
export const ofTxid = (sql: Queryable, account: string, txid: string) => sql`
  account = ${account} and txid between ${txid} and ${txid} order by txid`

/** Locks it until the transaction ends. */
export const lockCharge = async (
  tx: Queryable,
  account: string,
  txid: string,
): Promise<Charge | undefined> => {
  const [row] = await tx<ChargeRow[]>`
    select ${columns(tx)} from pix_charges where ${ofTxid(tx, account, txid)} for update`
  return row && chargeOf(row)
}

export const findCharge = async (
  sql: Queryable,
  account: string,
  txid: string,
): Promise<Charge | undefined> => {
  const [row] = await sql<ChargeRow[]>`
    select ${columns(sql)} from pix_charges where ${ofTxid(sql, account, txid)}`
  return row && chargeOf(row)
}

/** Keeps what the charge was, and writes what it is now. The caller has locked it. */
export const reviseCharge = async (tx: Queryable, before: Charge, after: Charge): Promise<void> => {
  const { terms } = after
  const kept = { status: before.status, terms: storable(before.terms) }
  await tx`
    insert into pix_charge_revisions (charge_id, revision, charge)
    values (${before.id}, ${before.revision}, ${JSON.stringify(kept)})`
  await tx`
    update pix_charges set status = ${after.status}, revision = ${after.revision},
      tax_id = ${after.taxId}, key = ${terms.key}, original_cents = ${terms.originalCents},
      alteration = ${terms.isOpen ? 1 : 0}, expires_seconds = ${terms.expiresSeconds},
      debtor_tax_id = ${debtorTaxIdOf(terms.debtor) ?? null}, content = ${contentOf(terms)}
    where id = ${after.id}`
}

const storable = (terms: ChargeTerms) => ({
  ...terms,
  originalCents: terms.originalCents.toString(),
})

type Kept = {
  readonly status: ChargeStatus
  readonly terms: Omit<ChargeTerms, 'originalCents'> & { readonly originalCents: string }
}

/** The charge as it was in an earlier revision. */
export const findRevision = async (
  sql: Queryable,
  charge: Charge,
  revision: number,
): Promise<Charge | undefined> => {
  const [row] = await sql<{ charge: string }[]>`
    select charge from pix_charge_revisions
    where charge_id = ${charge.id} and revision = ${revision}`
  if (row === undefined) return undefined
  const { status, terms } = JSON.parse(row.charge) as Kept
  const originalCents = BigInt(terms.originalCents)
  return { ...charge, status, revision, terms: { ...terms, originalCents } }
}

/** A batch is so small that each of its charges is looked up by its txid, wherever else they are many. */
const ofBatch = (sql: Queryable, account: string, batchId: number) => sql`
  (select txid as member from pix_batch_items
    where account = ${account} and batch_id between ${batchId} and ${batchId}
    order by batch_id, position offset 0) item
  cross join lateral (select * from pix_charges
    where account = ${account} and txid between item.member and item.member
    order by txid limit 1) charge`

/** In the order in which they were made. */
export const listCharges = async (
  sql: Queryable,
  account: string,
  filter: ChargeFilter,
): Promise<Listed<Charge>> => {
  const { kind, from, to, status, debtorTaxId, isShown, batchId } = filter
  const charges = batchId === undefined ? sql`pix_charges` : ofBatch(sql, account, batchId)
  const all = sql`
    from ${charges} where account = ${account} and kind = ${constants(sql, [kind])}
      and created_at between ${from} and ${to}`
  return narrowedPage(
    sql,
    { from: all, order: sql`created_at, id` },
    { debtor_tax_id: debtorTaxId, status, is_shown: isShown },
    async (matching) => {
      const rows = await sql<ChargeRow[]>`select ${columns(sql)} ${matching} ${pageOf(sql, filter)}`
      return rows.map(chargeOf)
    },
  )
}
