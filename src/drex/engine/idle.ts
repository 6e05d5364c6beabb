/** Steps that have nothing left to do: an allowance that is used up needs no taking back. */
import { addressArgument, encodeAllowance } from '../evm/token-call.ts'
import { endSagas } from '../sagas.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'
import type { OpenTransaction } from './transaction.ts'

/**
 * Ends those that take back what every node that answers says is zero.
 * @returns the others
 */
export const withoutIdle = async (
  context: EngineContext,
  transactions: readonly OpenTransaction[],
): Promise<readonly OpenTransaction[]> => {
  const { rpc, sql } = context
  const revokes = transactions.filter(({ kind }) => kind === 'revoke')
  if (revokes.length === 0) return transactions
  const answers = await rpc.pollBatch(
    revokes.map(({ sender, recipient, data }) => ({
      method: 'eth_call',
      params: [
        { to: recipient, data: encodeAllowance(sender, addressArgument(data, 0)) },
        'latest',
      ],
    })),
  )
  const idle = new Set(
    revokes.flatMap(({ id }, i) => {
      const told = answers.flatMap((node) => {
        const outcome = node[i]
        return outcome !== undefined && 'result' in outcome ? [outcome.result] : []
      })
      return told.length > 0 && told.every((each) => zeroWord.test(each)) ? [id] : []
    }),
  )
  if (idle.size === 0) return transactions
  await sql.begin(async (tx) => {
    await endSagas(context, tx, await endings.withdraw(tx, [...idle]))
  })
  return transactions.filter(({ id }) => !idle.has(id))
}

const zeroWord = /^0x0{64}$/
