/** Deploys and drives contracts on an embedded engine, one block per transaction. */
import { Interface, type Result } from 'ethers'
import { createEngine, type Engine } from '../../src/simulators/chain/engine.ts'

/** A call the contract refused: its error's name and arguments. */
class Revert extends Error {
  readonly args: readonly unknown[]
  constructor(name: string, args: readonly unknown[]) {
    super(name)
    this.name = name
    this.args = args
  }
}

type Log = { readonly name: string; readonly args: Result; readonly address: string }

export type Deployed = {
  readonly address: string
  readonly read: (name: string, ...args: readonly unknown[]) => Promise<unknown>
  /** A read as seen by one caller. */
  readonly readAs: (from: string, name: string, ...args: readonly unknown[]) => Promise<unknown>
  /** Sends a transaction; throws `Revert` without sending when it would be refused. */
  readonly send: (from: string, name: string, ...args: readonly unknown[]) => Promise<Log[]>
}

export type ContractBench = {
  readonly engine: Engine
  readonly deploy: (path: string, args: readonly unknown[], from?: string) => Promise<Deployed>
  readonly now: () => Promise<number>
  readonly travel: (seconds: number) => Promise<void>
}

const account = (digit: number): string => `0x${String(digit).repeat(40)}`

/** Whoever calls: accounts that need no key. */
export const actors = [
  account(1),
  account(2),
  account(3),
  account(4),
  account(5),
  account(6),
  account(7),
  account(8),
] as const

export const createContractBench = async (): Promise<ContractBench> => {
  const engine = await createEngine({ mining: 'auto' })
  const demand = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const outcome = await engine.request(method, params)
    if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`)
    return outcome.result
  }
  for (const actor of actors) await demand('hardhat_impersonateAccount', [actor])

  const simulate = async (iface: Interface, from: string, to: string | undefined, data: string) => {
    const outcome = await engine.request('eth_call', [
      { from, to, data, gasPrice: '0x0' },
      'latest',
    ])
    if ('result' in outcome) return String(outcome.result)
    const payload = outcome.error.data
    if (typeof payload !== 'string') throw new Error(outcome.error.message)
    const parsed = iface.parseError(payload)
    throw parsed === null
      ? new Revert('unknown', [payload])
      : new Revert(parsed.name, [...parsed.args])
  }
  const transact = async (from: string, to: string | undefined, data: string) => {
    const hash = await demand('eth_sendTransaction', [
      { from, to, data, gasPrice: '0x0', gas: '0x1c9c380' },
    ])
    const receipt = (await demand('eth_getTransactionReceipt', [hash])) as Receipt
    if (receipt.status !== '0x1') throw new Error('reverted after a simulation that passed')
    return receipt
  }

  return {
    engine,
    async deploy(path, args, from = actors[0]) {
      const artifact = (await import(`../../${path}`, { with: { type: 'json' } })).default
      const iface = new Interface(artifact.abi)
      const data = artifact.bytecode + iface.encodeDeploy(args).slice(2)
      await simulate(iface, from, undefined, data)
      const address = (await transact(from, undefined, data)).contractAddress!
      return instance(iface, address, simulate, transact, from)
    },
    async now() {
      const block = (await demand('eth_getBlockByNumber', ['latest', false])) as {
        timestamp: string
      }
      return Number(block.timestamp)
    },
    async travel(seconds) {
      await demand('evm_increaseTime', [seconds])
      await demand('evm_mine', [])
    },
  }
}

type Receipt = {
  readonly status: string
  readonly contractAddress: string | null
  readonly logs: readonly { address: string; topics: string[]; data: string }[]
}

const instance = (
  iface: Interface,
  address: string,
  simulate: (iface: Interface, from: string, to: string, data: string) => Promise<string>,
  transact: (from: string, to: string, data: string) => Promise<Receipt>,
  reader: string,
): Deployed => {
  const readAs = async (from: string, name: string, ...args: readonly unknown[]) => {
    const result = await simulate(iface, from, address, iface.encodeFunctionData(name, args))
    const decoded = iface.decodeFunctionResult(name, result)
    return decoded.length === 1 ? decoded[0] : decoded.toArray()
  }
  return {
    address,
    readAs,
    read: (name, ...args) => readAs(reader, name, ...args),
    async send(from, name, ...args) {
      const data = iface.encodeFunctionData(name, args)
      await simulate(iface, from, address, data)
      const receipt = await transact(from, address, data)
      return receipt.logs
        .map((log) => ({ parsed: iface.parseLog(log), address: log.address }))
        .flatMap(({ parsed, address: at }) =>
          parsed === null ? [] : [{ name: parsed.name, args: parsed.args, address: at }],
        )
    },
  }
}

/** @returns the error's name and arguments, or undefined when the call went through */
export const refusal = async (
  action: Promise<unknown>,
): Promise<readonly [string, ...unknown[]] | undefined> => {
  try {
    await action
    return undefined
  } catch (error) {
    if (error instanceof Revert) return [error.name, ...error.args]
    throw error
  }
}

/** A small repeatable generator (mulberry32) for random walks. */
export const seeded = (seed: number): ((below: number) => number) => {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}
