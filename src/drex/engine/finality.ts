/**
 * The finality watch. An end is told after the network's confirmations; should its block leave the chain after all, it
 * is taken back, by an event. It looks when the process starts and when the chain has changed, as deep as
 * `DREX_WATCH_BLOCKS`, and at each block until the chain tells what is in its place.
 */
import { quantity } from '../evm/hex.ts'
import { hashesOf } from './blocks.ts'
import type { EngineContext } from './context.ts'
import * as corrections from './correction-store.ts'
import { inParts } from './parts.ts'
import type { TransactionError } from './transaction.ts'

const reorganised: TransactionError = {
  code: 'REORGANISED',
  message: 'The block that it was in is no longer part of the chain; it is sent again.',
}

export const createFinalityWatch = (context: EngineContext) => {
  const { network, settings, sql } = context
  const depth = network.confirmations + settings.watchBlocks
  /** From here on, blocks are to be compared with the chain. */
  let from: number | undefined = 0
  /** Blocks of ends of which the chain has not told yet, by their hashes. */
  let open: ReadonlyMap<string, corrections.BlockOfEnds> = new Map()
  return {
    /** The chain may not be the same from this block on. */
    changed(first: number): void {
      from = Math.min(first, from ?? first)
    },
    /** @returns how many ends were taken back */
    async look(): Promise<number> {
      if (from !== undefined) {
        const told = await corrections.blocksOfEnds(sql, network.id, from, depth)
        open = new Map([...open, ...told.map((block) => [block.hash, block] as const)])
        from = undefined
      }
      if (open.size === 0) return 0
      const { gone, left } = await compare(context, [...open.values()])
      const { count, refused } = await takeBack(context, gone)
      open = new Map([...left, ...refused].map((block) => [block.hash, block]))
      return count
    },
  }
}

type Compared = {
  /** Another block is in the place of each. */
  readonly gone: readonly corrections.BlockOfEnds[]
  /** The chain has nothing there yet, no node tells of it, or they differ. */
  readonly left: readonly corrections.BlockOfEnds[]
}

const compare = async (
  context: EngineContext,
  told: readonly corrections.BlockOfEnds[],
): Promise<Compared> => {
  const hashes = await hashesOf(
    context,
    told.map(({ number }) => number),
  )
  const gone: corrections.BlockOfEnds[] = []
  const left: corrections.BlockOfEnds[] = []
  for (const block of told) {
    const hash = hashes.get(block.number) ?? 'none'
    if (hash === block.hash) continue
    if (hash !== 'none' && (await isAgreed(context, block))) gone.push(block)
    else left.push(block)
  }
  return { gone, left }
}

/** @returns how many ends were taken back, and the blocks whose ends the database did not let go */
const takeBack = async (
  context: EngineContext,
  gone: readonly corrections.BlockOfEnds[],
): Promise<{ readonly count: number; readonly refused: readonly corrections.BlockOfEnds[] }> => {
  const { network, sql, logger } = context
  const refused: corrections.BlockOfEnds[] = []
  let count = 0
  await inParts(
    gone,
    async (blocks) => {
      const corrected = await sql.begin(async (tx) => {
        const rows = await corrections.correct(tx, network.id, blocks, reorganised)
        await context.onCorrected(tx, rows)
        return rows.length
      })
      count += corrected
    },
    (block, error) => {
      refused.push(block)
      logger.error({ network: network.id, block: block.hash, err: error }, 'ends not taken back')
    },
  )
  if (count > 0) logger.error({ network: network.id, count }, 'told ends were reorganised')
  return { count, refused }
}

/** No node that answers has the block. */
const isAgreed = async (
  { rpc }: EngineContext,
  { number, hash }: corrections.BlockOfEnds,
): Promise<boolean> => {
  const answers = await rpc.poll('eth_getBlockByNumber', quantity(number), false)
  return answers.every((each) => 'failure' in each || each.result?.hash !== hash)
}
