/** Which chain a network is: never another than before. */
import { RpcFailure } from '../rpc/errors.ts'
import { endSagas } from '../sagas.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'

/**
 * Finds nodes of the chain that is remembered, or remembers the chain that is found.
 *
 * @throws RpcFailure `wrong_chain` if there are only others: nothing may be sent to them
 */
export const identify = async (context: EngineContext): Promise<void> => {
  const { network, rpc, sql } = context
  const known = await endings.identityOf(sql, network.id)
  rpc.expectGenesis(network.isEphemeral ? undefined : known?.genesis)
  if (!network.isEphemeral && known?.checkpoint !== undefined) {
    rpc.expectCheckpoint(known.checkpoint)
  }
  const genesis = await rpc.genesis()
  const remembered = await endings.rememberGenesis(sql, network.id, genesis)
  if (remembered === genesis) return
  if (!network.isEphemeral) {
    rpc.expectGenesis(remembered)
    throw new RpcFailure('wrong_chain', 'the node has another genesis block than before')
  }
  await sql.begin(async (tx) => {
    const ended = await endings.resetNetwork(tx, network.id, genesis, {
      code: 'NETWORK_RESET',
      message: 'The network began anew; what was on it is gone.',
    })
    await endSagas(context, tx, ended)
  })
  context.knownNonces.clear()
  context.knownCode.clear()
}

const checkpointEveryMs = 60_000

/** Remembers, now and then, a block that no reorganisation reaches. */
export const createCheckpoints = ({ network, rpc, settings, sql }: EngineContext) => {
  let nextMs = 0
  return async (head: number): Promise<void> => {
    const number = head - network.confirmations - settings.watchBlocks
    if (network.isEphemeral || number <= 0 || performance.now() < nextMs) return
    nextMs = performance.now() + checkpointEveryMs
    const block = await rpc.call('eth_getBlockByNumber', `0x${number.toString(16)}`, false)
    if (block?.number !== number) return
    const checkpoint = { number, hash: block.hash }
    await endings.saveCheckpoint(sql, network.id, checkpoint)
    rpc.expectCheckpoint(checkpoint)
  }
}
