/** The feature on an embedded chain and a database of its own. */
import { afterAll, expect } from 'bun:test'
import { Interface } from 'ethers'
import type { AppEvent } from '#src/events/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createSealer, type Sealer } from '#src/platform/security/index.ts'
import { createAssignments } from '../../src/drex/custody/assignment.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { addressOfPrivateKey, sign } from '../../src/drex/evm/secp256k1.ts'
import { assemble, signingDigest } from '../../src/drex/evm/transaction.ts'
import { createDrex, type Drex, drexSettings } from '../../src/drex/index.ts'
import currencyArtifact from '../../src/drex/templates/currency/generated/Currency.json'
import { type Chain, type ChainOptions, createChain } from '../../src/simulators/chain/index.ts'
import { type TestApp, testApp, testKey } from '../support/app.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../support/database.ts'
import { createLyingNode, type LyingNode } from './lying-node.ts'

const adminKey = new Uint8Array(32).fill(7)
export const adminAddress = addressOfPrivateKey(adminKey)
export const currencyAbi = new Interface(currencyArtifact.abi)
export const sealer: Sealer = createSealer(Uint8Array.from({ length: 32 }, (_, i) => i * 5 + 1))

/** No key is elsewhere. */
export const noCustody = {
  web3signer: undefined,
  keyServices: new Map(),
  assignments: createAssignments([]),
} as const

/** Runs a transaction of the central bank on the chain and mines it. */
export type Admin = {
  readonly send: (to: Hex | undefined, data: string) => Promise<Hex | undefined>
  readonly currency: (name: string, ...args: readonly unknown[]) => Promise<void>
  readonly token: Hex
}

type Receipt = { readonly contractAddress: Hex | null; readonly status: Hex }

const receiptTimeoutMs = 30_000

export const createAdmin = async (
  chain: Pick<Chain, 'chainId' | 'request'>,
  gasPrice = 0n,
  /** A block that is asked for between those of an interval can end the embedded engine: it is waited for instead. */
  minesItself = false,
): Promise<Admin> => {
  const call = async (method: string, ...params: readonly unknown[]) => {
    const outcome = await chain.request(method, params)
    if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`)
    return outcome.result
  }
  const send = async (to: Hex | undefined, data: string) => {
    const unsigned = {
      chainId: chain.chainId,
      nonce: Number(await call('eth_getTransactionCount', adminAddress, 'pending')),
      gasLimit: 6_000_000n,
      fees: { kind: 'legacy' as const, gasPrice },
      to,
      value: 0n,
      data: data as Hex,
    }
    const { raw } = assemble(unsigned, sign(signingDigest(unsigned), adminKey))
    const hash = await call('eth_sendRawTransaction', raw)
    if (!minesItself) await call('evm_mine')
    // A node that still reads its own blocks answers with an error.
    const find = async () => {
      const outcome = await chain.request('eth_getTransactionReceipt', [hash])
      return 'result' in outcome ? (outcome.result as Receipt | null) : null
    }
    const deadline = performance.now() + receiptTimeoutMs
    let receipt = await find()
    while (receipt === null && performance.now() < deadline) {
      await Bun.sleep(5)
      receipt = await find()
    }
    if (receipt?.status !== '0x1') throw new Error('the administrator was refused')
    return receipt.contractAddress ?? undefined
  }
  const deploy = currencyAbi.encodeDeploy(['Real Digital', 'BRL', adminAddress])
  const token = (await send(undefined, currencyArtifact.bytecode + deploy.slice(2)))!
  return {
    token,
    send,
    async currency(name, ...args) {
      await send(token, currencyAbi.encodeFunctionData(name, args))
    },
  }
}

type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ status: number; json: never; headers: Headers }>

export type Bench = {
  readonly chain: Chain
  /** Between the gateway and the chain, if the bench was asked for it. */
  readonly node: LyingNode
  readonly admin: Admin
  readonly database: TestDatabase
  readonly app: TestApp
  /** The key of its calls. */
  readonly key: string
  /** What was told of requests. */
  readonly events: AppEvent[]
  /** What was told of money that came in, which others time. */
  readonly incoming: AppEvent[]
  /** The text that a scrape gets. */
  readonly scrape: () => Promise<string>
  readonly drex: () => Drex
  /** Another gateway process on the same database, the first one stopped. */
  readonly restart: (env?: Readonly<Record<string, string>>, by?: Sealer) => Promise<void>
  /** One more gateway process on the same database and chain, beside the first. */
  readonly peer: () => { readonly call: Call; readonly stop: () => Promise<void> }
  readonly call: Call
  /** A managed wallet, authorised and funded. */
  readonly wallet: (cents?: bigint) => Promise<Hex>
  readonly balance: (wallet: Hex) => Promise<bigint>
  /** The network's status, as the health tells it. */
  readonly networkStatus: () => Promise<string | undefined>
  readonly until: (what: () => Promise<boolean>, timeoutMs?: number) => Promise<void>
  /** A transfer, of 1.00 unless told, that is taken. @returns its id */
  readonly pay: (
    from: Hex,
    to: Hex,
    amount?: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<string>
  /** A transfer as its caller sees it. */
  readonly read: (id: string) => Promise<TransferBody>
  /** Waits until a transfer has this status, or one of these. */
  readonly reaches: (
    id: string,
    wanted: string | readonly string[],
    withinMs?: number,
  ) => Promise<TransferBody>
  readonly stop: () => Promise<void>
}

const isIncoming = ({ type }: AppEvent): boolean =>
  type === 'drex.transfer.received' || type === 'drex.transfer.reversed'

export type BenchOptions = {
  readonly chain?: Partial<ChainOptions>
  readonly env?: Readonly<Record<string, string>>
  readonly engine?: boolean
  /** Puts `node` between the gateway and the chain. */
  readonly isLying?: boolean
}

export const createBench = async (options: BenchOptions = {}): Promise<Bench> => {
  const mining = options.chain?.mining ?? 40
  const chain = await createChain({ ...options.chain, mining })
  const node = createLyingNode(chain)
  const admin = await createAdmin(chain, options.chain?.gasPrice ?? 0n, typeof mining === 'number')
  const database = await createTestDatabase(8)
  const events: AppEvent[] = []
  const incoming: AppEvent[] = []
  const { key, record } = testKey('*')
  const settingsOf = (more: Readonly<Record<string, string>>) => {
    const { values, problems } = loadSettings(
      { drex: drexSettings },
      {
        DREX_TESTNET_RPC_URLS: options.isLying === true ? node.url : chain.url,
        DREX_TESTNET_TOKEN: admin.token,
        DREX_TESTNET_BLOCK_TIME_MS: '40',
        DREX_RESEND_MS: '400',
        ...options.env,
        ...more,
      },
    )
    if (problems.length > 0) throw new Error(JSON.stringify(problems))
    return values.drex
  }
  let metrics = createMetrics({ version: 'test', withProcess: false })
  const start = (more: Readonly<Record<string, string>> = {}, by: Sealer = sealer) => {
    metrics = createMetrics({ version: 'test', withProcess: false })
    const drex = createDrex({
      settings: settingsOf(more),
      sql: database.sql,
      sealer: by,
      isRotating: false,
      isTaken: async () => true,
      emitEvents: async (_sql, emitted) => {
        for (const event of emitted) (isIncoming(event) ? incoming : events).push(event)
      },
      logger: quietLogger,
      metrics,
    })
    if (options.engine !== false) void drex.start?.()
    return { drex, app: testApp(drex.routes ?? [], { keys: [record] }) }
  }
  let running = start()
  const callOn =
    (on: () => TestApp): Call =>
    async (method, path, body, headers = {}) => {
      const response = await on().call(method, path, {
        key,
        headers,
        ...(body === undefined ? {} : { body }),
      })
      return {
        status: response.status,
        json: (await response.json()) as never,
        headers: response.headers,
      }
    }
  const call = callOn(() => running.app)
  const until: Bench['until'] = async (what, timeoutMs = 40_000) => {
    const deadline = performance.now() + timeoutMs
    while (!(await what())) {
      if (performance.now() > deadline) throw new Error('it did not happen in time')
      await Bun.sleep(20)
    }
  }
  const read: Bench['read'] = async (id) => (await call('GET', `/v1/drex/transfers/${id}`)).json
  return {
    chain,
    node,
    key,
    admin,
    database,
    events,
    incoming,
    get app() {
      return running.app
    },
    drex: () => running.drex,
    scrape: async () => (await metrics.render()).text,
    async restart(env, by) {
      await running.drex.stop?.()
      running = start(env, by)
    },
    peer() {
      const { drex, app } = start()
      return { call: callOn(() => app), stop: async () => drex.stop?.() }
    },
    call,
    async wallet(cents = 100_000n) {
      const created = await call('POST', '/v1/wallets', { type: 'managed', label: 'test' })
      const address = (created.json as { address: string }).address.toLowerCase() as Hex
      await admin.currency('enableAccount', address)
      if (cents > 0n) await admin.currency('mint', address, cents)
      return address
    },
    async balance(wallet) {
      const data = currencyAbi.encodeFunctionData('balanceOf', [wallet])
      const outcome = await chain.request('eth_call', [{ to: admin.token, data }, 'latest'])
      return BigInt(String((outcome as { result: string }).result))
    },
    async networkStatus() {
      const detail = (await running.drex.health?.())?.detail?.['drex_testnet']
      return (detail as { status?: string } | undefined)?.status
    },
    until,
    async pay(from, to, amount = '1.00', headers = {}) {
      const body = { from_wallet: from, to_wallet: to, amount }
      const { status, json } = await call('POST', '/v1/drex/transfers', body, headers)
      expect(status).toBe(202)
      return (json as TransferBody).transfer_id
    },
    read,
    async reaches(id, wanted, withinMs) {
      const statuses = typeof wanted === 'string' ? [wanted] : wanted
      let transfer = await read(id)
      await until(async () => {
        transfer = await read(id)
        return statuses.includes(transfer.status)
      }, withinMs)
      return transfer
    },
    async stop() {
      await running.drex.stop?.()
      await database.close()
      await node.stop()
      await chain.stop()
    },
  }
}

/** One that ends with the tests of the file. */
export const benchOfFile: typeof createBench = async (options) => {
  const bench = await createBench(options)
  afterAll(() => bench.stop())
  return bench
}

export type TransferBody = {
  transfer_id: string
  status: string
  from_wallet: string
  to_wallet: string
  amount: string
  currency: string
  created_at: string
  tx_hash: string | null
  error: { code: string; message: string; revert?: { name: string } } | null
  block_number: number | null
  steps: { kind: string; status: string; tx_hash: string | null }[]
  corrections: { from: string; to: string; code: string; tx_hash: string | null }[]
}

/**
 * A contract in EVM code: `decimals()` is 2; whatever else is called answers 1, until its first storage word is set: then
 * it reverts with `Error(string)` of a text that holds U+0000.
 */
export const hostileCode = [
  '6093600a5f3960935ff35f3560e01c63313ce56714601b575f5460245760015f5260205ff35b60025f5260205ff3',
  '5b6064602f5f3960645ffd08c379a0',
  '20'.padStart(64, '0'),
  '3'.padStart(64, '0'),
  '610062'.padEnd(64, '0'),
].join('')
