import {
  type Client,
  createGatherer,
  isRowFault,
  looksLikeOne,
  type Queryable,
} from '#src/platform/database/index.ts'
import { httpErrors, refuseWhenBusy } from '#src/platform/http/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import { randomHex } from '../random-hex.ts'
import type { Payee } from '../receivers/domain.ts'
import { formerLockOfTxid, isHeld, lockOfTxid, shortWaits } from '../txids.ts'
import { type Charge, type ChargeTerms, debtorTaxIdOf, kindOf } from './domain.ts'
import { contentOf } from './store.ts'
import type { ShownCharge } from './view.ts'

/** A charge that may be new, with a location of its own. */
export type Wanted = {
  readonly account: string
  readonly txid: string
  /** We have just drawn the txid. */
  readonly isDrawn?: boolean
  readonly terms: ChargeTerms
  readonly at: Date
}

type MadeRow = Payee & {
  readonly position: number
  readonly locationId: bigint
}

/** Charges of one statement, and statements at once: the next is filled while one commits. */
const rowsMax = 64
const writersMax = 2
const waitingMax = 5_000

/**
 * Makes charges with a location each, and shows them, in one statement. Accounts share it, so it waits for the lock
 * of no txid, and has {@link shortWaits}: another transaction, of another account too, may have made one of them already.
 *
 * @returns undefined in the place of one that is not to be made as it stands: the account has such a charge, may not have
 * it, or makes another now whose txid has the same lock. Nothing is written for it then, and whoever looks closer knows
 * why, or waits in a transaction of its own.
 */
export const makeCharges = async (
  sql: Queryable,
  all: readonly Wanted[],
): Promise<readonly (ShownCharge | undefined)[]> => {
  const rows = all.map(({ account, txid, isDrawn, terms, at }, position) => ({
    position,
    id: newUuid(at),
    account,
    kind: kindOf(terms),
    txid,
    at,
    key: terms.key,
    cents: terms.originalCents.toString(),
    alteration: terms.isOpen ? 1 : 0,
    expires: terms.expiresSeconds,
    debtor: debtorTaxIdOf(terms.debtor),
    content: contentOf(terms),
    token: randomHex(),
    lock: isDrawn === true ? null : lockOfTxid(account, txid),
    former: formerLockOfTxid(account, txid),
  }))
  const made = await sql<MadeRow[]>`
    with wanted as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as wanted(position int, id uuid, account text, kind text, txid text, at timestamptz, key text,
          cents bigint, alteration smallint, expires int, debtor text, content text, token text, lock bigint,
          former bigint, nothing text)
      where ${looksLikeOne(sql)} and (select ${shortWaits(sql)}) is not null
    ), allowed as materialized (
      select wanted.*, receiver.tax_id, receiver.name, receiver.city, receiver.street,
        receiver.state, receiver.postal_code
      from wanted cross join lateral (
        select * from pix_receivers where key = wanted.key and account = wanted.account limit 1
      ) receiver
      where (wanted.kind = 'cob' or (receiver.street is not null and receiver.state is not null
          and receiver.postal_code is not null))
        and not exists (select from pix_batch_items item where item.account = wanted.account
          and item.txid = wanted.txid and item.status <> 'CRIADA')
        and case when wanted.lock is null then true
          when pg_try_advisory_xact_lock_shared(wanted.lock)
            and pg_try_advisory_xact_lock_shared(wanted.former)
          then pix_txid_is_free(wanted.lock, wanted.account, wanted.txid) else false end
    ), made as (
      insert into pix_charges (id, account, kind, tax_id, txid, key, original_cents, alteration,
        expires_seconds, debtor_tax_id, content, is_shown, created_at)
      select id, account, kind, tax_id, txid, key, cents, alteration, expires, debtor, content,
        true, at from allowed order by txid collate "C", account
      on conflict do nothing returning id
    ), placed as (
      insert into pix_locations (account, token, kind, charge_id, created_at)
      select account, token, kind, id, at from allowed where id in (select id from made)
      returning id, charge_id
    )
    select allowed.position, placed.id as "locationId", allowed.tax_id as "taxId", allowed.name,
      allowed.city, allowed.street, allowed.state, allowed.postal_code as "postalCode"
    from placed join allowed on allowed.id = placed.charge_id`
  const shown: (ShownCharge | undefined)[] = all.map(() => undefined)
  for (const { position, locationId, ...receiver } of made) {
    const [wanted, row] = [all[position], rows[position]]
    if (wanted === undefined || row === undefined) continue
    const { account, txid, terms, at } = wanted
    const { id, token, kind } = row
    const charge: Charge = {
      id,
      account,
      taxId: receiver.taxId,
      txid,
      terms,
      createdAt: at,
      status: 'ATIVA',
      revision: 0,
    }
    const location = { id: locationId, account, token, kind, chargeId: id, txid, createdAt: at }
    shown[position] = { charge, location, receiver }
  }
  return shown
}

/** Charges that come while a statement runs share the next. @throws ApiError 503 if too many wait */
export const createMaker = (
  sql: Client,
): ((wanted: Wanted) => Promise<ShownCharge | undefined>) => {
  const make = createGatherer<Wanted, ShownCharge | undefined>({
    rowsMax,
    writersMax,
    waitingMax,
    isRowFault,
    // Each is looked at more closely, and only the one that is held waits.
    write: (all) =>
      makeCharges(sql, all).catch((error: unknown) => {
        if (isHeld(error)) return all.map(() => undefined)
        throw error
      }),
  })
  const refuse = refuseWhenBusy(
    httpErrors.unavailable,
    'Cobranças demais esperam para ser guardadas.',
  )
  return (wanted) => make(wanted).catch(refuse)
}
