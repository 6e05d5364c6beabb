/** One EVM inside this process: `@nomicfoundation/edr`, set up like the pilot's network. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Provider } from '@nomicfoundation/edr'

/** Chain id of the pilot's network (its published genesis). */
export const pilotChainId = 381_660_001
/** Room for some 20 000 token transfers; the pilot's own genesis sets 2^53 - 1. */
const blockGasLimit = 2_000_000_000n
const defaultCallGas = 30_000_000n

export type RpcError = {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError }

export type EngineOptions = {
  readonly chainId?: number
  /** `auto` mines one block per transaction, `manual` only on `evm_mine`; a number is the block
   * time in milliseconds. */
  readonly mining: 'auto' | 'manual' | number
  /** Lowest gas price in wei, also what `eth_gasPrice` says; zero as in the pilot. */
  readonly gasPrice?: bigint
  /** Time of the first block; now when absent. */
  readonly genesisSeconds?: number
  /** Native coin by address, in wei. */
  readonly balances?: Readonly<Record<string, bigint>>
}

export type Engine = {
  readonly chainId: number
  readonly request: (method: string, params?: readonly unknown[]) => Promise<RpcOutcome>
  /** Questions that change nothing, answered together: one outcome for each, in order. */
  readonly ask: (calls: readonly EngineCall[]) => Promise<readonly RpcOutcome[]>
  /** Takes signed transactions together, in order: one outcome for each, as if each came alone. */
  readonly send: (raws: readonly string[]) => Promise<readonly RpcOutcome[]>
}

export type EngineCall = { readonly method: string; readonly params: readonly unknown[] }

/**
 * Starts an engine. Its state lives in memory and ends with the process.
 * The library is loaded on first use: only `dev` and the tests pay for it.
 */
export const createEngine = async (options: EngineOptions): Promise<Engine> => {
  const chainId = options.chainId ?? pilotChainId
  const gasPrice = options.gasPrice ?? 0n
  const provider = await createProvider(chainId, gasPrice, options)
  const send = async (request: unknown): Promise<EdrReply> => {
    const { data } = await provider.handleRequest(JSON.stringify(request))
    return typeof data === 'string' ? JSON.parse(data) : data
  }
  const taken = createTaken()
  const request: Engine['request'] = async (method, params = []) => {
    // The engine advises 1 gwei whatever the minimum is.
    if (method === 'eth_gasPrice') return { result: `0x${gasPrice.toString(16)}` }
    const outcome = normalise(await send({ jsonrpc: '2.0', id: 1, method, params }))
    if (method === sendMethod && 'result' in outcome) taken.add(outcome.result)
    return outcome
  }
  /** @returns undefined if one of them failed: that one error is all that the engine answers then */
  const together = async (
    calls: readonly EngineCall[],
  ): Promise<readonly unknown[] | undefined> => {
    const { result } = await send(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
    return Array.isArray(result) ? result : undefined
  }
  return {
    chainId,
    request,
    async ask(calls) {
      const results = calls.length > 1 ? await together(calls) : undefined
      if (results !== undefined) return results.map((result) => ({ result }))
      return Promise.all(calls.map(({ method, params }) => request(method, params)))
    },
    send: createSending(request, together, taken),
  }
}

export const sendMethod = 'eth_sendRawTransaction'

/** Hashes that are remembered. */
const takenMax = 50_000

type Taken = Pick<Set<unknown>, 'add' | 'has'>

/** The hashes of the last that were taken. */
const createTaken = (): Taken => {
  const hashes = new Set<unknown>()
  return {
    has: (hash) => hashes.has(hash),
    add(hash) {
      hashes.add(hash)
      const [oldest] = hashes
      if (hashes.size > takenMax) hashes.delete(oldest)
      return hashes
    },
  }
}

/**
 * The engine takes the calls before the first that fails, but answers none of them, and does not look at the others.
 */
const createSending =
  (
    request: Engine['request'],
    together: (calls: readonly EngineCall[]) => Promise<readonly unknown[] | undefined>,
    taken: Taken,
  ): Engine['send'] =>
  async (raws) => {
    const calls = raws.map((raw) => ({ method: sendMethod, params: [raw] }))
    const results = raws.length > 1 ? await together(calls) : undefined
    if (results !== undefined) {
      for (const hash of results) taken.add(hash)
      return results.map((result) => ({ result }))
    }
    return Promise.all(
      raws.map(async (raw) => {
        const outcome = await request(sendMethod, [raw])
        if ('result' in outcome || outcome.error.message !== knownText) return outcome
        const hash = hashOfRaw(raw)
        if (taken.has(hash)) return outcome
        // Known, but not told of: it was taken just now, among the others.
        taken.add(hash)
        return { result: hash }
      }),
    )
  }

export const hashOfRaw = (raw: string): string =>
  `0x${Buffer.from(keccak_256(Buffer.from(raw.slice(2), 'hex'))).toString('hex')}`

/** @throws Error when the engine answers with an error */
export const demand = async (
  engine: Engine,
  method: string,
  ...params: readonly unknown[]
): Promise<unknown> => {
  const outcome = await engine.request(method, params)
  if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`)
  return outcome.result
}

const createProvider = async (
  chainId: number,
  gasPrice: bigint,
  options: EngineOptions,
): Promise<Provider> => {
  const edr = await import('@nomicfoundation/edr')
  const shanghai = edr.l1HardforkFromString(edr.SHANGHAI)
  const context = await sharedContext()
  const funded = Object.entries(options.balances ?? {}).map(([address, balance]) => ({
    address: Buffer.from(address.slice(2), 'hex'),
    balance,
  }))
  return context.createProvider(
    edr.L1_CHAIN_TYPE,
    {
      allowBlocksWithSameTimestamp: true,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: true,
      bailOnTransactionFailure: false,
      chainId: BigInt(chainId),
      coinbase: new Uint8Array(20),
      defaultTransactionGasLimit: defaultCallGas,
      genesisState: [...edr.l1GenesisState(shanghai), ...funded],
      hardfork: edr.SHANGHAI,
      initialBaseFeePerGas: 0n,
      minGasPrice: gasPrice,
      mining: {
        autoMine: options.mining === 'auto',
        blockGasLimit: blockGasLimit,
        ...(typeof options.mining === 'number' ? { interval: BigInt(options.mining) } : {}),
        memPool: { order: edr.MineOrdering.Fifo },
      },
      network: {
        genesisBlockGasLimit: blockGasLimit,
        ...(options.genesisSeconds === undefined
          ? {}
          : { genesisBlockTime: BigInt(options.genesisSeconds) }),
      },
      networkId: BigInt(chainId),
      observability: {},
      ownedAccounts: [],
      precompileOverrides: [],
      transactionGasCap: false,
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new edr.ContractDecoder(),
  )
}

type EdrContext = InstanceType<typeof import('@nomicfoundation/edr').EdrContext>
let context: Promise<EdrContext> | undefined

/** The library allows one context per process. */
const sharedContext = (): Promise<EdrContext> => {
  context ??= (async () => {
    const edr = await import('@nomicfoundation/edr')
    const created = new edr.EdrContext()
    await created.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory())
    return created
  })()
  return context
}

type EdrReply = {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Gives an engine's error the code and text of Besu, so that clients meet those of the real network. */
const normalise = (reply: EdrReply): RpcOutcome => {
  if (reply.error === undefined) return { result: reply.result ?? null }
  const { message, data } = reply.error
  const revert = revertData(data)
  if (revert !== undefined) {
    return { error: { code: -32000, message: 'Execution reverted', data: revert } }
  }
  for (const [pattern, code, text] of besuErrors) {
    if (pattern.test(message)) return { error: { code, message: text } }
  }
  return { error: { code: reply.error.code, message } }
}

const knownText = 'Known transaction'

const besuErrors: readonly (readonly [RegExp, number, string])[] = [
  [/nonce too low/i, -32001, 'Nonce too low'],
  [/nonce too high/i, -32006, 'Nonce too high'],
  [/intrinsic gas|gas floor|requires at least \d+ gas/i, -32003, 'Intrinsic gas exceeds gas limit'],
  [/enough funds|insufficient funds/i, -32004, 'Upfront cost exceeds account balance'],
  [/exceeds block gas limit/i, -32005, 'Transaction gas limit exceeds block gas limit'],
  [/gas price.*(below|lower|less)/i, -32009, 'Gas price below configured minimum gas price'],
  [/already known|known transaction/i, -32000, knownText],
  [/underpriced/i, -32000, 'Replacement transaction underpriced'],
  [/chain id|EIP-155/i, -32000, 'Wrong chainId'],
  [/^Method \S+ is not supported$/, -32601, 'Method not found'],
]

/** A revert's payload is nested as `{ reason, data, transactionHash }`. */
const revertData = (data: unknown): string | undefined => {
  if (typeof data !== 'object' || data === null || !('data' in data)) return undefined
  return typeof data.data === 'string' ? data.data : undefined
}
