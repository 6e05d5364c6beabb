import { type Queryable, textArray } from '#src/platform/database/index.ts'
import type { AccountType, Receiver } from './domain.ts'

const columns = (sql: Queryable) =>
  sql`key, account, tax_id as "taxId", name, city, street, state,
    postal_code as "postalCode", account_number as "accountNumber", branch,
    account_type as "accountType", created_at as "createdAt"`

/** The receiver of a key; with an account, only if the key is the account's. */
export const findReceiver = async (
  sql: Queryable,
  key: string,
  account?: string,
): Promise<Receiver | undefined> => {
  const [found] = await sql<Receiver[]>`
    select ${columns(sql)} from pix_receivers where key = ${key}
      ${account === undefined ? sql`` : sql`and account = ${account}`}`
  return found
}

/** Keeps the receiver of a key until the transaction ends. False: the account has none. */
export const holdReceiver = async (
  tx: Queryable,
  key: string,
  account: string,
): Promise<boolean> => {
  const held = await tx`
    select from pix_receivers where key = ${key} and account = ${account} for share`
  return held.count === 1
}

/** The receivers of an account, by the key. */
export const receiversOf = async (
  sql: Queryable,
  account: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Receiver>> => {
  if (keys.length === 0) return new Map()
  const found = await sql<Receiver[]>`
    select ${columns(sql)} from pix_receivers
    where key = any(${textArray([...new Set(keys)])}::text::text[]) and account = ${account}`
  return new Map(found.map((receiver) => [receiver.key, receiver]))
}

/** False: the key is another account's. */
export const putReceiver = async (
  tx: Queryable,
  receiver: Omit<Receiver, 'createdAt'>,
): Promise<Receiver | undefined> => {
  const { key, account, taxId, name, city, street, state, postalCode } = receiver
  const { accountNumber, branch, accountType } = receiver
  const [put] = await tx<Receiver[]>`
    insert into pix_receivers (key, account, tax_id, name, city, street, state, postal_code,
      account_number, branch, account_type)
    values (${key}, ${account}, ${taxId}, ${name}, ${city}, ${street}, ${state}, ${postalCode},
      ${accountNumber}, ${branch}, ${accountType})
    on conflict (key) do update set tax_id = excluded.tax_id, name = excluded.name,
      city = excluded.city, street = excluded.street, state = excluded.state,
      postal_code = excluded.postal_code, account_number = excluded.account_number,
      branch = excluded.branch, account_type = excluded.account_type
    where pix_receivers.account = excluded.account
    returning ${columns(tx)}`
  return put
}

/** The accounts that are known to be credited for a company of a receiver. */
export const creditedAccountsOf = (
  sql: Queryable,
  account: string,
  taxId: string,
): Promise<readonly CreditedAccount[]> => sql<CreditedAccount[]>`
  select distinct account_number as number, branch, account_type as type from pix_receivers
  where account = ${account} and tax_id = ${taxId} and account_number is not null`

type CreditedAccount = {
  readonly number: string
  readonly branch: string | null
  readonly type: AccountType
}

export const removeReceiver = async (tx: Queryable, key: string): Promise<boolean> =>
  (await tx`delete from pix_receivers where key = ${key}`).count > 0

/** In the order of their keys, after the one given. */
export const listReceivers = (
  sql: Queryable,
  limit: number,
  after: string | undefined,
): Promise<readonly Receiver[]> => sql<Receiver[]>`
  select ${columns(sql)} from pix_receivers
  ${after === undefined ? sql`` : sql`where key > ${after}`} order by key limit ${limit}`
