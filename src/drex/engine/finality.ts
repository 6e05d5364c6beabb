/**
 * The finality watch. An end is told after the network's confirmations; should its block leave the chain after all, it
 * is taken back, by an event. It looks when the process starts and when the chain has changed, as deep as
 * `DREX_WATCH_BLOCKS`.
 */
import { quantity } from '../evm/hex.ts'
import type { EngineContext } from './context.ts'
import * as corrections from './correction-store.ts'
import type { TransactionError } from './transaction.ts'

const reorganised: TransactionError = {
  code: 'REORGANISED',
  message: 'The block that it was in is no longer part of the chain; it is sent again.',
}

export type FinalityWatch = {
  /** The chain is not the same from this block on; until the head is past `until`, it is looked at again. */
  readonly changed: (from: number, until: number) => void
  /** @returns how many ends were taken back */
  readonly look: (head: number) => Promise<number>
}

export const createFinalityWatch = (context: EngineContext): FinalityWatch => {
  const { network, settings } = context
  const depth = network.confirmations + settings.watchBlocks
  let due: { readonly from: number; readonly until: number } | undefined = { from: 0, until: 0 }
  return {
    changed(from, until) {
      due = {
        from: Math.min(from, due?.from ?? from),
        until: Math.max(until, due?.until ?? until),
      }
    },
    async look(head) {
      if (due === undefined) return 0
      const { from, until } = due
      const count = await takeBack(context, Math.max(from, head - depth), head)
      // A chain that is shorter now may bring another block where an end was told.
      if (head >= until) due = undefined
      return count
    },
  }
}

const takeBack = async (context: EngineContext, from: number, head: number): Promise<number> => {
  const { network, rpc, sql, logger } = context
  const told = (await corrections.blocksOfEnds(sql, network.id, from)).filter(
    ({ number }) => number <= head,
  )
  const outcomes = await rpc.batch(
    told.map(({ number }) => ({
      method: 'eth_getBlockByNumber',
      params: [quantity(number), false],
    })),
  )
  const gone: (typeof told)[number][] = []
  for (const [i, block] of told.entries()) {
    const outcome = outcomes[i]!
    if ('failure' in outcome || outcome.result === null) continue
    if (outcome.result.hash !== block.hash && (await isAgreed(context, block))) gone.push(block)
  }
  if (gone.length === 0) return 0
  const corrected = await sql.begin(async (tx) => {
    const rows = await corrections.correct(tx, network.id, gone, reorganised)
    await context.onCorrected(tx, rows)
    return rows
  })
  logger.error({ network: network.id, count: corrected.length }, 'told ends were reorganised')
  return corrected.length
}

/** No node that answers has the block. */
const isAgreed = async (
  { rpc }: EngineContext,
  { number, hash }: { readonly number: number; readonly hash: string },
): Promise<boolean> => {
  const answers = await rpc.poll('eth_getBlockByNumber', quantity(number), false)
  return answers.every((each) => 'failure' in each || each.result?.hash !== hash)
}
