/**
 * How many nodes must say the same. One node may lie, lag or be somebody else's: with several, no end is told, and
 * nothing is signed again, on the word of one.
 */

import type { RpcOutcome } from '../rpc/client.ts'
import { toldIn } from '../rpc/exchange.ts'
import type { Receipt } from '../rpc/methods.ts'
import type { EngineContext } from './context.ts'
import { mismatchOf } from './evidence.ts'
import type { Unconfirmed } from './silence.ts'
import type { OpenTransaction } from './transaction.ts'

/** Never more than there are. */
export const nodesNeeded = ({ network, settings }: EngineContext): number =>
  Math.min(settings.nodesAgreeing, network.rpcUrls.length)

export type Agreement = {
  readonly agreed: readonly OpenTransaction[]
  /** Another node has another receipt: what was written down of it is no evidence. */
  readonly disputed: readonly OpenTransaction[]
}

/** Sorts mined transactions by what their blocks prove of their receipts; those in neither list wait. */
export const provenOf = async (
  { network, prover }: EngineContext,
  mined: readonly OpenTransaction[],
): Promise<Agreement> => {
  if (!network.proofs || mined.length === 0) return { agreed: mined, disputed: [] }
  const agreed: OpenTransaction[] = []
  const disputed: OpenTransaction[] = []
  for (const [hash, own] of Map.groupBy(mined, ({ blockHash }) => blockHash)) {
    const block = await prover.prove(hash ?? '0x')
    if (block === undefined) continue
    for (const transaction of own) {
      const receipt = block.receipts.get(transaction.minedHash ?? '0x')
      const isSame = receipt !== undefined && isWrittenDown(transaction, receipt)
      if (isSame) agreed.push(transaction)
      else disputed.push(transaction)
    }
  }
  return { agreed, disputed }
}

const isWrittenDown = (transaction: OpenTransaction, receipt: Receipt): boolean =>
  receipt.transactionHash === transaction.minedHash &&
  receipt.blockHash === transaction.blockHash &&
  receipt.succeeded === transaction.succeeded &&
  mismatchOf(transaction, receipt) === transaction.mismatch

/**
 * Sorts mined transactions by what all nodes say of their receipts. Where blocks prove
 * receipts, a node that tells another one is wrong about it, and holds up nothing that enough others tell.
 * @param before disputed already
 */
export const agreementOn = async (
  context: EngineContext,
  mined: readonly OpenTransaction[],
  before: readonly OpenTransaction[],
): Promise<Agreement & { readonly waiting: readonly Unconfirmed[] }> => {
  const needed = nodesNeeded(context)
  if (needed < 2 || mined.length === 0) {
    return { agreed: mined, disputed: before, waiting: [] }
  }
  const { proofs } = context.network
  const said = (answers: readonly (readonly RpcOutcome<Receipt | null>[])[], i: number) => {
    const receipts = answers.flatMap((node) => toldIn(node[i]) ?? [])
    const same = receipts.filter((receipt) => isWrittenDown(mined[i]!, receipt)).length
    const isContradicted = same < receipts.length
    return { isContradicted, isAgreed: same >= needed && (proofs || !isContradicted) }
  }
  const answers = await context.rpc.pollBatch(
    mined.map(({ minedHash }) => ({ method: 'eth_getTransactionReceipt', params: [minedHash] })),
    {
      enough: needed,
      ...(proofs ? { isDone: (told) => mined.every((_, i) => said(told, i).isAgreed) } : {}),
    },
  )
  const agreed: OpenTransaction[] = []
  const disputed = [...before]
  const waiting: Unconfirmed[] = []
  const hosts = context.network.rpcUrls.map((url) => new URL(url).host)
  for (const [i, transaction] of mined.entries()) {
    const { isAgreed, isContradicted } = said(answers, i)
    if (isAgreed) agreed.push(transaction)
    else if (isContradicted) disputed.push(transaction)
    else {
      const silent = hosts.filter((_, node) => toldIn(answers[node]?.[i]) == null)
      waiting.push({ id: transaction.id, silent })
    }
  }
  return { agreed, disputed, waiting }
}
