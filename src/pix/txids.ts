/**
 * A txid is one charge of its account, of whatever kind. Charges and charges of recurrences stand in tables of their own,
 * so no index keeps them apart: whoever makes one of a recurrence shuts out those who make the others.
 */
import type { Queryable } from '#src/platform/database/index.ts'

/** Where the advisory locks of txids begin: any number that nothing else locks. */
const firstLock = 0x70_69_78_00
/** One transaction makes a thousand charges, and holds so many locks at most. */
const locksMax = 256

/** What `pix_txid_is_free` shares with others who make charges. */
export const lockOfTxid = (account: string, txid: string): number =>
  firstLock + (Bun.hash.crc32(`${account} ${txid}`) % locksMax)

/** Whether the account has no charge of a recurrence under the txid, and gets none before the transaction ends. */
export const isTxidFree = async (
  tx: Queryable,
  account: string,
  txid: string,
): Promise<boolean> => {
  const [row] = await tx<{ isFree: boolean }[]>`
    select pix_txid_is_free(${lockOfTxid(account, txid)}, ${account}, ${txid}) as "isFree"`
  return row?.isFree === true
}

/** Until the transaction ends nobody else makes a charge of the txid. What is read afterwards holds all that were made. */
export const lockTxid = async (tx: Queryable, account: string, txid: string): Promise<void> => {
  await tx`select pg_advisory_xact_lock(${lockOfTxid(account, txid)}::bigint)`
}
