/**
 * A txid is one charge of its account, of whatever kind. Charges and charges of recurrences stand in tables of their own,
 * so no index keeps them apart: whoever makes one of a recurrence shuts out those who make the others. A txid that we have
 * just drawn nobody else can name: it takes no lock.
 */
import type { Queryable } from '#src/platform/database/index.ts'

/** Where the advisory locks of txids begin: any number that nothing else locks. */
const firstLock = 0x70 * 2 ** 40
/** A batch makes a thousand charges in one transaction, for seconds, and holds so many locks at most. */
const locksMax = 64

/** What `pix_txid_is_free` shares with others who make charges. Each account has its own, so that none waits for another's. */
export const lockOfTxid = (account: string, txid: string): number =>
  firstLock + Bun.hash.crc32(account) * locksMax + (Bun.hash.crc32(txid) % locksMax)

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

/** What earlier builds of 0.1.0 share, which run beside us in a rolling update. It goes with 0.2.0. */
const formerLockOfTxid = (account: string, txid: string): number =>
  0x70_69_78_00 + (Bun.hash.crc32(`${account} ${txid}`) % 256)

/** Until the transaction ends nobody else makes a charge of the txid. What is read afterwards holds all that were made. */
export const lockTxid = async (tx: Queryable, account: string, txid: string): Promise<void> => {
  await tx`select pg_advisory_xact_lock(${lockOfTxid(account, txid)}::bigint)`
  // The other accounts share it: whoever has it waits for none of his own.
  await tx`select pg_advisory_xact_lock(${formerLockOfTxid(account, txid)}::bigint)`
}
