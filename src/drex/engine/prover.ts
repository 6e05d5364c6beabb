/**
 * Receipts that are proven. What one node tells of a block is believed if it is what the block's hash says: the header
 * by the hash itself, the transactions and the receipts by the header's roots. So a node that forges a receipt or an
 * event, or exchanges those of two transactions, must forge the block too, and all that come after it.
 */
import type { Logger } from '#src/platform/observe/index.ts'
import { isBlockProven, type ProvenBlock, proveBlock } from '../evm/block-proof.ts'
import type { Hex } from '../evm/hex.ts'
import type { Network } from '../networks.ts'
import type { RpcClient, RpcOutcome } from '../rpc/client.ts'
import { passing, RpcFailure } from '../rpc/errors.ts'
import { type RpcRequest, toldIn } from '../rpc/exchange.ts'
import type { Block, Method, Receipt, ResultOf } from '../rpc/methods.ts'
import { resultOf } from '../rpc/node.ts'

export type Prover = {
  /**
   * One block, which may be large: whoever needs many keeps of each what is needed.
   * @returns undefined if it waits for a node that proves it
   */
  readonly prove: (hash: Hex) => Promise<ProvenBlock | undefined>
}

/** Blocks and receipts that are kept: the engine and the ledger both need them, and again at their end. */
const blocksMax = 64
const receiptsMax = 20_000
/** Time after which a node without `eth_getBlockReceipts` is asked for it again. */
const singlesMs = 60_000
/** A block that is told with its receipts, or with more than is read of them, and not proven is left alone for twice as long as that took. */
const restTimes = 2
const restMaxMs = 30_000

export const createProver = ({
  network,
  rpc,
  logger,
  onUnproven,
}: {
  readonly network: Network
  readonly rpc: RpcClient
  readonly logger: Logger
  /** Called each time that a block was asked for, and no node proves it. */
  readonly onUnproven: () => void
}): Prover => {
  const { validators } = network
  const kept = createKept()
  const asking = new Map<Hex, Promise<ProvenBlock | undefined>>()
  const resting = createResting()
  const receiptsOf = createReceipts(rpc)
  let told: Hex | undefined

  const look = async (hash: Hex): Promise<ProvenBlock | undefined> => {
    const startMs = performance.now()
    const block = await rpc.call('eth_getBlockByHash', hash, true).catch(passing)
    let isTooLarge = false
    const receipts =
      block?.hash === hash
        ? await receiptsOf(block).catch((error: unknown) => {
            isTooLarge = error instanceof RpcFailure && error.kind === 'too_large'
            return passing(error)
          })
        : undefined
    const first = block?.hash === hash ? proveBlock(block, receipts ?? [], validators) : undefined
    if (first === undefined) rpc.turn()
    const proven = first ?? (await fromAny(rpc, hash, validators))
    if (proven !== undefined) {
      kept.add(proven)
      return proven
    }
    const isWhole = receipts !== undefined && receipts.length === block?.transactions.length
    if (isWhole || isTooLarge) resting.begin(hash, performance.now() - startMs)
    onUnproven()
    if (told !== hash) {
      told = hash
      logger.error({ network: network.id, block: hash }, 'no node proves the receipts of a block')
    }
    return undefined
  }

  /** Two that want the same block wait for one answer. */
  const once = (hash: Hex): Promise<ProvenBlock | undefined> => {
    const present = asking.get(hash)
    if (present !== undefined) return present
    if (resting.has(hash)) return Promise.resolve(undefined)
    const answer = look(hash).finally(() => asking.delete(hash))
    asking.set(hash, answer)
    return answer
  }

  return { prove: async (hash) => kept.get(hash) ?? (await once(hash).catch(passing)) }
}

/** One node's block may be proven by another's receipts. We wait for no node that hangs. */
const fromAny = async (
  rpc: RpcClient,
  hash: Hex,
  validators: readonly Hex[],
): Promise<ProvenBlock | undefined> => {
  const block = await firstAmong(
    rpc,
    [{ method: 'eth_getBlockByHash', params: [hash, true] }],
    ([each]) => {
      const told = toldIn(each)
      return told?.hash === hash && isBlockProven(told, validators) ? told : undefined
    },
  )
  if (block === undefined) return undefined
  const proven = await firstAmong(
    rpc,
    [{ method: 'eth_getBlockReceipts', params: [hash] }],
    ([each]) => {
      const receipts = toldIn(each)
      return receipts === undefined ? undefined : proveBlock(block, receipts ?? [], validators)
    },
  )
  if (proven !== undefined) return proven
  return firstAmong(rpc, singlesOf(block), (node) => {
    const receipts = node.flatMap((each) => toldIn(each) ?? [])
    return proveBlock(block, receipts, validators)
  })
}

/** The first node's answers that can be used. */
const firstAmong = async <M extends Method, T>(
  rpc: RpcClient,
  requests: readonly RpcRequest<M>[],
  use: (answers: readonly RpcOutcome<ResultOf<M>>[]) => T | undefined,
): Promise<T | undefined> => {
  let found: T | undefined
  await rpc.pollBatch(requests, {
    isDone: (told) => {
      const last = told.at(-1)
      found ??= last && use(last)
      return found !== undefined
    },
  })
  return found
}

const singlesOf = ({ transactions }: Block) =>
  transactions.map((each) => ({
    method: 'eth_getTransactionReceipt' as const,
    params: [typeof each === 'string' ? each : each.hash],
  }))

const createResting = () => {
  const untilMs = new Map<Hex, number>()
  return {
    has: (hash: Hex): boolean => (untilMs.get(hash) ?? 0) > performance.now(),
    begin(hash: Hex, tookMs: number): void {
      untilMs.delete(hash)
      untilMs.set(hash, performance.now() + Math.min(restMaxMs, restTimes * tookMs))
      const [oldest] = untilMs.keys()
      if (untilMs.size > blocksMax && oldest !== undefined) untilMs.delete(oldest)
    },
  }
}

const createKept = () => {
  const blocks = new Map<Hex, ProvenBlock>()
  let receipts = 0
  return {
    get: (hash: Hex) => blocks.get(hash),
    add(block: ProvenBlock): void {
      if (blocks.has(block.hash)) return
      blocks.set(block.hash, block)
      receipts += block.receipts.size
      for (const oldest of blocks.values()) {
        if (blocks.size <= blocksMax && (receipts <= receiptsMax || blocks.size === 1)) break
        blocks.delete(oldest.hash)
        receipts -= oldest.receipts.size
      }
    },
  }
}

/** All receipts of a block at once, or, from a node that knows no such question, one by one. */
const createReceipts = (rpc: RpcClient) => {
  let singlesUntilMs = 0
  return async (block: Block): Promise<readonly Receipt[]> => {
    const { hash, transactions } = block
    if (transactions.length === 0) return []
    if (performance.now() >= singlesUntilMs) {
      const whole = await rpc.call('eth_getBlockReceipts', hash).catch(passing)
      if (whole?.length === transactions.length) return whole
      singlesUntilMs = performance.now() + singlesMs
    }
    return (await rpc.batch(singlesOf(block))).flatMap((each) => resultOf(each) ?? [])
  }
}
