/** Finds transactions that are to take back an allowance which is used up already: they have nothing to do. */
import type { Hex } from '../evm/hex.ts'
import { addressArgument, encodeAllowance } from '../evm/token-call.ts'
import { type RpcRequest, toldIn } from '../rpc/exchange.ts'
import { nodesNeeded } from './agreement.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'
import { againOnGround } from './ground.ts'
import { storeEnds } from './parts.ts'
import type { OpenTransaction } from './transaction.ts'

/**
 * Ends those that take back what every node that answers says is zero, and as many as an end takes do: an allowance that
 * is used up needs no taking back. For a node that hangs nobody waits: taking back nothing harms nobody.
 * @returns the others
 */
export const withoutIdle = async (
  context: EngineContext,
  transactions: readonly OpenTransaction[],
): Promise<readonly OpenTransaction[]> => {
  const { rpc } = context
  const revokes = transactions.filter(({ kind }) => kind === 'revoke')
  if (revokes.length === 0) return transactions
  const answers = await rpc.pollBatch(revokes.map(allowanceOf), { enough: 1 })
  const needed = nodesNeeded(context)
  const idle = revokes.filter((_, i) => {
    const told = answers.flatMap((node) => toldIn(node[i]) ?? [])
    return told.length >= needed && told.every((each) => zeroWord.test(each))
  })
  if (idle.length === 0) return transactions
  const standing = await againOnGround(
    context,
    idle.map((transaction) => ({
      transaction,
      again: {
        requests: [allowanceOf(transaction)],
        isSo: ([told]) => zeroWord.test(toldIn<Hex>(told) ?? '0x'),
      },
    })),
  )
  await storeEnds(
    context,
    standing.map(({ transaction }) => transaction),
    (tx, part) =>
      endings.withdraw(
        tx,
        part.map(({ id }) => id),
      ),
  )
  return transactions.filter((each) => !idle.includes(each))
}

const allowanceOf = ({ sender, recipient, data }: OpenTransaction): RpcRequest<'eth_call'> => ({
  method: 'eth_call',
  params: [{ to: recipient, data: encodeAllowance(sender, addressArgument(data, 0)) }, 'latest'],
})

const zeroWord = /^0x0{64}$/
