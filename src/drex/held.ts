/** Transactions that may be on the chain already: somebody who has looked there says whether they are. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import { ApiError, httpErrors, refusedValue } from '#src/platform/http/index.ts'
import { type Chain, type Chains, reaching } from './chains.ts'
import type { Creation } from './creation.ts'
import * as store from './engine/held-store.ts'
import { takeFromChain } from './engine/reckoning.ts'
import { type SentCall, signedTransactionOf } from './engine/sent.ts'
import type { Hex } from './evm/hex.ts'

export const createHeld = (sql: Client, chains: Chains) => ({
  list: (afterId: string | undefined, limit: number) => store.listHeld(sql, { afterId, limit }),
  /**
   * @param hash of the transaction that it is; without one it is sent
   * @throws ApiError `not_found`; `value_refused` if the hash is not of the same call by the same wallet, or is another's;
   * `network_unreachable`
   */
  async decide(id: string, hash: Hex | undefined): Promise<Creation<store.Held>> {
    const held = await store.findHeld(sql, id)
    if (held === undefined) throw notHeld()
    const sent =
      hash === undefined ? undefined : await sentAs(chains.all.get(held.network), held, hash)
    return { write: (tx) => write(tx, held, sent) }
  },
})

export type HeldTransactions = ReturnType<typeof createHeld>

const notHeld = (): ApiError =>
  new ApiError(httpErrors.not_found, 'No transaction of this id is held.')

const write = async (
  tx: Transaction,
  held: store.Held,
  sent: SentCall | undefined,
): Promise<store.Held> => {
  if (!(await store.release(tx, held.id))) throw notHeld()
  if (sent !== undefined && !(await takeFromChain(tx, held, [held], new Map([[held.id, sent]]))))
    throw otherHash(sent.hash, 'is another transaction of this gateway, or has its nonce')
  return held
}

/** @throws ApiError if it is another's, or does something else */
const sentAs = async (chain: Chain | undefined, held: store.Held, hash: Hex): Promise<SentCall> => {
  if (chain === undefined) throw notHeld()
  const sent = await reaching(chain, () => signedTransactionOf(chain, held.sender, hash))
  const isSame =
    sent?.to === held.recipient && sent.value === BigInt(held.value) && sent.data === held.data
  if (sent !== undefined && isSame) return sent
  throw otherHash(hash, 'is no transaction of the wallet on this network that does the same')
}

const otherHash = (got: Hex, message: string): ApiError =>
  refusedValue([{ pointer: '/tx_hash', rule: 'differs', message, got }])
