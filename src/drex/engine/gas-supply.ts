/**
 * Gas for wallets of a sandbox network: where one has too little for what it is to send, the network's funding wallet
 * sends it some, and what waits for it is tried again.
 */
import type { Hex } from '../evm/hex.ts'
import { newId } from '../ids.ts'
import type { EngineContext } from './context.ts'
import * as store from './store.ts'

/** One supply pays for so many transactions of the wallet. */
const transactionsPerSupply = 10n
/** After a failure, the funding wallet is not asked again for this long. */
const restMs = 60_000
const expiryMs = 3_600_000

/**
 * @param needs what each wallet's dearest transaction costs, in wei
 * @returns the wallets that get gas; the others have to do without
 */
export const supplyGas = async (
  context: EngineContext,
  needs: ReadonlyMap<Hex, bigint>,
): Promise<ReadonlySet<Hex>> => {
  const { network, sql } = context
  const { fundingWallet, environment } = network
  const wanting = [...needs].filter(([wallet]) => wallet !== fundingWallet)
  if (fundingWallet === undefined || environment !== 'sandbox' || wanting.length === 0) {
    return new Set()
  }
  return sql.begin(async (tx) => {
    // Two processes would supply one wallet twice.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`gas:${network.id}`}, 0))`
    const supplied = await store.gasSupplies(
      tx,
      network.id,
      wanting.map(([wallet]) => wallet),
      restMs,
    )
    const fresh = wanting.filter(([wallet]) => !supplied.has(wallet))
    await store.insertTransactions(
      tx,
      fresh.map(([wallet, need]) => {
        const id = newId('dtx')
        return {
          id,
          network: network.id,
          sender: fundingWallet,
          kind: 'gas',
          subject: id,
          recipient: wallet,
          data: '0x',
          value: need * transactionsPerSupply,
          afterId: undefined,
          createdBy: 'gateway:gas',
          expiresAt: new Date(Date.now() + expiryMs),
        }
      }),
    )
    if (fresh.length > 0) {
      context.logger.info({ network: network.id, wallets: fresh.length }, 'gas is supplied')
    }
    const failed = wanting.filter(([wallet]) => supplied.get(wallet) === 'failed')
    if (failed.length > 0) {
      context.logger.warn({ network: network.id, fundingWallet }, 'the funding wallet sent no gas')
    }
    return new Set(
      wanting.flatMap(([wallet]) => (supplied.get(wallet) === 'failed' ? [] : [wallet])),
    )
  })
}
