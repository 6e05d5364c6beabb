/**
 * A network like the pilot's, in this process: one EVM (Shanghai, chain id 381660001, gas price
 * zero, first in first out) behind JSON-RPC on loopback. Its state ends with the process, unless a journal keeps it.
 */
import { createEngine, demand, type Engine, type EngineOptions } from './engine.ts'
import { createJournaledEngine, type JournaledEngine, type JournalOptions } from './journal.ts'
import { type ChainPlace, type ChainServer, serveChain } from './server.ts'

export { pilotChainId } from './engine.ts'
export { type FaultKind, faultKinds } from './faults.ts'
export { createIssuer, type Issuer } from './issuer.ts'
export { batchCallsMax } from './server.ts'

export type Chain = Engine &
  ChainServer & {
    /** Mines one block now. */
    readonly mine: () => Promise<void>
    /** Sets the fork point of a coming `reorg`. */
    readonly markFork: () => Promise<void>
    /** Drops every block and pooled transaction since `markFork` and mines other blocks
     * instead, one more than there were. The dropped transactions are not queued again. */
    readonly reorg: () => Promise<void>
  }

/** A chain that goes on at the next start. */
export type KeptChain = Engine &
  ChainServer &
  Pick<JournaledEngine, 'mine' | 'isContinued' | 'setAside'>

/** Tells the user of a chain that could not go on. */
export const setAsideText = (path: string): string =>
  `The chain could not be run again and begins anew; what there was is kept in ${path}`

export type ChainOptions = EngineOptions &
  ChainPlace & {
    /** Chance for faults; `Math.random` when absent. */
    readonly random?: () => number
  }

/** Whether a start failed because npm left the engine out: an optional package, of a platform, that names a newer Node. */
export const isChainMissing = (error: unknown): boolean =>
  error instanceof Error && /Cannot find (native binding|package)/.test(error.message)

/** Starts a chain that is kept in a file, or goes on with the one that is, and serves it. */
export const createKeptChain = async (
  options: JournalOptions,
  place: ChainPlace = {},
): Promise<KeptChain> => {
  const { engine, mine, isContinued, setAside, stop } = await createJournaledEngine(options)
  const server = serveChain(engine, place)
  return {
    ...engine,
    ...server,
    mine,
    isContinued,
    setAside,
    async stop() {
      await server.stop()
      await stop()
    },
  }
}

/** Starts a chain and serves it. */
export const createChain = async (options: ChainOptions): Promise<Chain> => {
  const engine = await createEngine(options)
  const server = serveChain(engine, options)
  let fork: { readonly snapshot: unknown; readonly block: number } | undefined
  const mine = async () => {
    await demand(engine, 'evm_mine')
  }
  const head = async () => Number(await demand(engine, 'eth_blockNumber'))
  return {
    ...engine,
    ...server,
    mine,
    async markFork() {
      fork = { snapshot: await demand(engine, 'evm_snapshot'), block: await head() }
    },
    async reorg() {
      if (fork === undefined) throw new Error('reorg without markFork')
      const blocks = (await head()) - fork.block + 1
      await demand(engine, 'evm_revert', fork.snapshot)
      // Another timestamp makes another block hash even for the same content.
      await demand(engine, 'evm_increaseTime', 1)
      for (let mined = 0; mined < blocks; mined++) await mine()
      fork = undefined
    },
  }
}
