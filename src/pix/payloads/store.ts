import { type Queryable, textArray } from '#src/platform/database/index.ts'
import type { Charge, ChargeKind } from '../charges/domain.ts'
import { type ChargeRow, chargeOf, columns } from '../charges/store.ts'
import type { Payee } from '../receivers/domain.ts'

/** What a location shows. */
export type Presented = {
  readonly kind: ChargeKind
  readonly charge: Charge
  /** Undefined once the key is nobody's any more. */
  readonly receiver: Payee | undefined
}

type Row = ChargeRow & { readonly token: string; readonly shownAs: ChargeKind } & (
    | (Omit<Payee, 'taxId'> & { readonly receiverTaxId: string })
    | { readonly receiverTaxId: null }
  )

/** What locations show, by the secret ends of their addresses; the others show nothing. */
export const presentedAt = async (
  sql: Queryable,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, Presented>> => {
  const rows = await sql<Row[]>`
    select token, "shownAs", ${columns(sql)},
      "receiverTaxId", name, city, street, state, "postalCode"
    from unnest(${textArray(tokens)}::text::text[]) as wanted(token)
      cross join lateral (
        select kind as "shownAs", charge_id from pix_locations where token = wanted.token limit 1
      ) location
      cross join lateral (select * from pix_charges where id = location.charge_id limit 1) charge
      left join lateral (
        select tax_id as "receiverTaxId", name, city, street, state, postal_code as "postalCode"
        from pix_receivers where key = charge.key and account = charge.account limit 1
      ) receiver on true`
  return new Map(rows.map((row) => [row.token, presentedOf(row)]))
}

const presentedOf = (row: Row): Presented => {
  const common = { kind: row.shownAs, charge: chargeOf(row) }
  if (row.receiverTaxId === null) return { ...common, receiver: undefined }
  const { receiverTaxId: taxId, name, city, street, state, postalCode } = row
  return { ...common, receiver: { taxId, name, city, street, state, postalCode } }
}
