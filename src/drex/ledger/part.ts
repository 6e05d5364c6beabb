/** A part of a page, as much as a look has time for: the page then ends with it, and the next begins behind it. */
import type { Prover } from '../engine/prover.ts'
import { RpcFailure } from '../rpc/errors.ts'
import type { Log } from '../rpc/methods.ts'
import type { Anchor } from './place.ts'
import { logsIn, type Page, proofsMs, type Source } from './source.ts'

type Reading = { readonly source: Pick<Source, 'shorten'>; readonly page: Page }

/**
 * Takes the blocks that these events are of one after another.
 * @param told in the order of their blocks
 * @param take throws RpcFailure where nothing is certain yet of the block
 * @returns the page, which ends with the last block that was taken unless all were
 * @throws RpcFailure if the first was not
 */
export const takePart = async (
  { source, page }: Reading,
  told: readonly Log[],
  take: (block: Anchor, told: readonly Log[]) => Promise<void>,
): Promise<Page> => {
  const endMs = performance.now() + proofsMs
  let last: Anchor | undefined
  const cut = (end: Anchor): Page => {
    source.shorten(end.number - page.before.number)
    return { ...page, last: end }
  }
  for (const [hash, own] of Map.groupBy(told, ({ blockHash }) => blockHash)) {
    if (last !== undefined && performance.now() >= endMs) return cut(last)
    const block = { number: own[0]!.blockNumber, hash }
    try {
      await take(block, own)
    } catch (error) {
      if (last === undefined || !(error instanceof RpcFailure)) throw error
      return cut(last)
    }
    last = block
  }
  return page
}

/**
 * All that the blocks tell which these events are of. What a node told of whole ranges is so proven, or not believed.
 * @param use what is needed of what a block told: no more of it is kept
 * @throws RpcFailure as above
 */
export const provenPart = async <T>(
  { prover, ...reading }: Reading & { readonly prover: Prover },
  told: readonly Log[],
  use: (logs: readonly Log[]) => readonly T[],
): Promise<{ readonly page: Page; readonly proven: readonly T[] }> => {
  const proven: T[] = []
  const page = await takePart(reading, told, async ({ number, hash }) => {
    const block = await prover.prove(hash)
    if (block?.number !== number) {
      throw new RpcFailure('transient', `block ${hash} is not proven`)
    }
    for (const each of use(logsIn(block))) proven.push(each)
  })
  return { page, proven }
}
