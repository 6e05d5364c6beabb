/** Which chain a network is: never another than before. */
import { isBlockProven } from '../evm/block-proof.ts'
import { type Hex, quantity } from '../evm/hex.ts'
import { RpcFailure } from '../rpc/errors.ts'
import { toldIn } from '../rpc/exchange.ts'
import type { Block } from '../rpc/methods.ts'
import { endSagas } from '../sagas.ts'
import { nodesNeeded } from './agreement.ts'
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
  if (!network.isEphemeral && known === undefined) await requireAgreed(context, genesis)
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

/** @throws RpcFailure unless as many nodes have this first block as an end takes: those without it are turned away then */
const requireAgreed = async (context: EngineContext, genesis: Hex): Promise<void> => {
  const { rpc } = context
  const enough = nodesNeeded(context)
  const same = (await blocksTold(context, 0)).filter(({ hash }) => hash === genesis)
  if (same.length >= enough) return
  rpc.expectGenesis(undefined)
  rpc.turn()
  throw new RpcFailure('transient', `not ${enough} nodes tell the same first block`)
}

const blocksTold = async (context: EngineContext, number: number): Promise<readonly Block[]> => {
  const answers = await context.rpc.pollBatch(
    [{ method: 'eth_getBlockByNumber', params: [quantity(number), false] }],
    { enough: nodesNeeded(context) },
  )
  return answers.flatMap(([block]) => toldIn(block) ?? [])
}

const checkpointEveryMs = 60_000

/**
 * Remembers, now and then, a block that no reorganisation reaches. From then on a node without it is turned away, so it
 * is taken on the word of as many nodes as an end is, and only while none tells another.
 */
export const createCheckpoints = (context: EngineContext) => {
  const { network, rpc, settings, sql } = context
  const { proofs, validators } = network
  let nextMs = 0
  return async (head: number): Promise<void> => {
    const number = head - network.confirmations - settings.watchBlocks
    if (network.isEphemeral || number <= 0 || performance.now() < nextMs) return
    nextMs = performance.now() + checkpointEveryMs
    const blocks = await blocksTold(context, number)
    const hashes = new Set(blocks.map(({ hash }) => hash))
    const [block] = blocks
    if (blocks.length < nodesNeeded(context) || hashes.size > 1 || block?.number !== number) return
    if (proofs && !blocks.some((each) => isBlockProven(each, validators))) return
    const checkpoint = { number, hash: block.hash }
    await endings.saveCheckpoint(sql, network.id, checkpoint)
    rpc.expectCheckpoint(checkpoint)
  }
}
