/**
 * How many nodes must say the same. One node may lie, lag or be somebody else's: with several, no end is told, and
 * nothing is signed again, on the word of one.
 */
import type { EngineContext } from './context.ts'
import { mismatchOf } from './evidence.ts'
import type { OpenTransaction } from './transaction.ts'

/** Never more than there are. */
export const nodesNeeded = ({ network, settings }: EngineContext): number =>
  Math.min(settings.nodesAgreeing, network.rpcUrls.length)

export type Agreement = {
  readonly agreed: readonly OpenTransaction[]
  /** Another node has another receipt: what was written down of it is no evidence. */
  readonly disputed: readonly OpenTransaction[]
}

/** Sorts mined transactions by what all nodes say of their receipts; those in neither list wait. */
export const agreementOn = async (
  context: EngineContext,
  mined: readonly OpenTransaction[],
): Promise<Agreement> => {
  const needed = nodesNeeded(context)
  if (needed < 2 || mined.length === 0) return { agreed: mined, disputed: [] }
  const answers = await context.rpc.pollBatch(
    mined.map(({ minedHash }) => ({ method: 'eth_getTransactionReceipt', params: [minedHash] })),
  )
  const agreed: OpenTransaction[] = []
  const disputed: OpenTransaction[] = []
  for (const [i, transaction] of mined.entries()) {
    const receipts = answers.flatMap((node) => {
      const outcome = node[i]
      return outcome !== undefined && 'result' in outcome && outcome.result !== null
        ? [outcome.result]
        : []
    })
    const same = receipts.filter(
      (receipt) =>
        receipt.transactionHash === transaction.minedHash &&
        receipt.blockHash === transaction.blockHash &&
        receipt.succeeded === transaction.succeeded &&
        mismatchOf(transaction, receipt) === transaction.mismatch,
    )
    if (same.length >= needed && same.length === receipts.length) agreed.push(transaction)
    else if (same.length < receipts.length) disputed.push(transaction)
  }
  return { agreed, disputed }
}
