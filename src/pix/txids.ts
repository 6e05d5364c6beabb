/**
 * A txid is one charge of its account, of whatever kind. Charges and charges of recurrences stand in tables of their own,
 * so no index keeps them apart: whoever makes one of a recurrence shuts out those who make the others. A txid that we have
 * just drawn nobody else can name: it takes no lock.
 */
import {
  type Client,
  type Queryable,
  type Transaction,
  withDeadlockRetries,
} from '#src/platform/database/index.ts'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { hasCode } from '#src/platform/runtime/index.ts'

/** Where the advisory locks of txids begin: any number that nothing else locks. */
const firstLock = 0x70 * 2 ** 40
/** A batch makes a thousand charges in one transaction, for seconds, and holds so many locks at most. */
const locksMax = 64

/** What `pix_txid_is_free` shares with others who make charges. Each account has its own, so that none waits for another's. */
export const lockOfTxid = (account: string, txid: string): number =>
  firstLock + Bun.hash.crc32(account) * locksMax + (Bun.hash.crc32(txid) % locksMax)

/**
 * What earlier builds of 0.1.0 lock instead, which run beside us in a rolling update. Accounts share it, so a batch, which
 * would hold it for seconds, takes none. It goes with 0.2.0.
 */
export const formerLockOfTxid = (account: string, txid: string): number =>
  0x70_69_78_00 + (Bun.hash.crc32(`${account} ${txid}`) % 256)

/** Whether the account has no charge of a recurrence under a txid, and gets none before the transaction ends. */
export type IsTxidFree = (tx: Queryable, account: string, txid: string) => Promise<boolean>

/** For a batch, which is one transaction: it waits for whoever makes a charge of a recurrence now. */
export const isTxidFree: IsTxidFree = async (tx, account, txid) => {
  const [row] = await tx<{ isFree: boolean }[]>`
    select pix_txid_is_free(${lockOfTxid(account, txid)}, ${account}, ${txid}) as "isFree"`
  return row?.isFree === true
}

/** Within {@link withoutWaiting}. */
export const isTxidFreeNow: IsTxidFree = async (tx, account, txid) => {
  const lock = lockOfTxid(account, txid)
  const [row] = await tx<{ isFree: boolean | null }[]>`
    select case when pg_try_advisory_xact_lock_shared(${lock}::bigint)
        and pg_try_advisory_xact_lock_shared(${formerLockOfTxid(account, txid)}::bigint)
      then pix_txid_is_free(${lock}, ${account}, ${txid}) end as "isFree"`
  if (row?.isFree == null) throw new TxidHeldError()
  return row.isFree
}

/**
 * Until the transaction ends nobody else makes a charge of the txid. What is read afterwards holds all that were made.
 * Within {@link withoutWaiting}.
 */
export const lockTxid = async (tx: Queryable, account: string, txid: string): Promise<void> => {
  for (const lock of [lockOfTxid(account, txid), formerLockOfTxid(account, txid)]) {
    const [row] = await tx<{ isOurs: boolean }[]>`
      select pg_try_advisory_xact_lock(${lock}::bigint) as "isOurs"`
    if (row?.isOurs !== true) throw new TxidHeldError()
  }
}

class TxidHeldError extends Error {}

/** Others change a charge for a moment; a batch holds all of its own for seconds. */
const lockMaxMs = 20

const lockTimedOut = '55P03'

/** To select: whatever waits for a lock afterwards, until the transaction ends, fails after a moment. */
export const shortWaits = (sql: Queryable) =>
  sql`set_config('lock_timeout', ${String(lockMaxMs)}, true)`

/** From here on the transaction waits for locks as it did before {@link shortWaits}. */
export const endShortWaits = async (tx: Transaction): Promise<void> => {
  await tx`set local lock_timeout to default`
}

/** Whether another held for longer what was waited for under {@link shortWaits}. */
export const isHeld = (error: unknown): boolean => hasCode(error, lockTimedOut)

const waitMaxMs = 10_000
const pauseMinMs = 5
const pauseMaxMs = 200

/**
 * A transaction of one charge that has {@link shortWaits}. While another holds that or its txid, the transaction is begun
 * anew from time to time, so that none of those who wait keeps a connection from the others.
 *
 * @throws ApiError 503 if it has waited for too long
 */
export const begunAnew = async <T>(begin: () => Promise<T>): Promise<T> => {
  const endMs = performance.now() + waitMaxMs
  for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(2 * pauseMs, pauseMaxMs)) {
    try {
      return await begin()
    } catch (error) {
      if (!(error instanceof TxidHeldError) && !isHeld(error)) throw error
      if (performance.now() > endMs) throw underWay()
    }
    await Bun.sleep(pauseMs)
  }
}

/** A transaction that is {@link begunAnew}. */
export const withoutWaiting = <T>(sql: Client, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  begunAnew(() =>
    withDeadlockRetries(sql, async (tx) => {
      await tx`select ${shortWaits(tx)}`
      return work(tx)
    }),
  )

/** Asked again, it may be done. */
export const underWay = (): ApiError =>
  new ApiError(httpErrors.unavailable, 'Outra requisição ainda ocupa esta cobrança, ou o lote.', {
    headers: { 'Retry-After': '1' },
  })
