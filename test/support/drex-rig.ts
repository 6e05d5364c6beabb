/** The gateway as a process of its own, with a chain, a database and wallets beside it. */
import {
  type Chain,
  type ChainOptions,
  createChain,
  createIssuer,
  type Issuer,
} from '../../src/simulators/chain/index.ts'
import { apiKeyFile } from './api-key.ts'
import { freePort } from './free-port.ts'
import { anyVariant } from './program.ts'

/** A gateway beside the rig's own. */
export type Peer = {
  readonly call: Call
  /** Ends it, stops it where it is, or has it go on. */
  readonly signal: (name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => void
  readonly stop: () => Promise<void>
}

type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ readonly status: number; readonly json: unknown }>

export type Rig = {
  readonly chain: Chain
  readonly issuer: Issuer
  readonly url: string
  /** An API key with every right. */
  readonly key: string
  /** @param flags of the runtime */
  readonly start: (
    env?: Readonly<Record<string, string>>,
    flags?: readonly string[],
  ) => Promise<void>
  /** Starts one more gateway on the same database and chain. */
  readonly peer: (env?: Readonly<Record<string, string>>) => Promise<Peer>
  /** The id of the gateway's process. */
  readonly pid: () => number
  /** What the gateway is started with. */
  readonly env: Readonly<Record<string, string>>
  /** Ends the gateway at once, as a crash would. */
  readonly kill: () => Promise<void>
  readonly call: Call
  /** Managed wallets, admitted and funded. */
  readonly wallets: (count: number, cents: bigint) => Promise<readonly string[]>
  readonly balanceOf: (wallet: string) => Promise<bigint>
  readonly stop: () => Promise<void>
}

/** The long lane goes on beside much else. */
const readyTimeoutMs = process.env['TRILHO_LONG'] === '1' ? 180_000 : 40_000
const masterKey = Buffer.from(Uint8Array.from({ length: 32 }, (_, i) => i * 9 + 4)).toString(
  'base64',
)

export const createRig = async (
  dsn: string,
  options: { readonly chain?: Partial<ChainOptions>; readonly env?: Record<string, string> } = {},
): Promise<Rig> => {
  const chain = await createChain({ mining: 200, ...options.chain })
  const issuer = await createIssuer(chain)
  const { file: keyFile, key } = await apiKeyFile('*')
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    PATH: process.env['PATH'] ?? '',
    GRPC_ADDR: '127.0.0.1:0',
    HTTP_ADDR: `127.0.0.1:${port}`,
    CARDGW_PORT: String(port),
    API_KEYS_FILE: keyFile,
    DATABASE_DSN: dsn,
    TRILHO_MASTER_KEY: masterKey,
    LOG_LEVEL: 'error',
    DREX_TESTNET_RPC_URLS: chain.url,
    DREX_TESTNET_TOKEN: issuer.token,
    DREX_TESTNET_BLOCK_TIME_MS: '200',
    ...options.env,
  }
  let child: Bun.Subprocess | undefined

  const call = callOn(url, key)

  const kill = async (): Promise<void> => {
    child?.kill('SIGKILL')
    await child?.exited
    child = undefined
  }

  return {
    chain,
    issuer,
    url,
    key,
    env,
    call,
    kill,
    pid: () => child?.pid ?? 0,
    async start(more = {}, flags = []) {
      child = await spawnGateway(url, { ...env, ...more }, flags)
    },
    async peer(more = {}) {
      const own = freePort()
      const at = `http://127.0.0.1:${own}`
      const addresses = { HTTP_ADDR: `127.0.0.1:${own}`, CARDGW_PORT: String(own) }
      const process = await spawnGateway(at, { ...env, ...addresses, ...more })
      return {
        call: callOn(at, key),
        signal: (name) => process.kill(name),
        async stop() {
          process.kill('SIGKILL')
          await process.exited
        },
      }
    },
    async wallets(count, cents) {
      const addresses: string[] = []
      for (let i = 0; i < count; i++) {
        const { json } = await call('POST', '/v1/wallets', { type: 'managed', label: `w${i}` })
        const { address } = json as { readonly address: string }
        await issuer.fund(address, cents)
        addresses.push(address)
      }
      return addresses
    },
    async balanceOf(wallet) {
      const data = `0x70a08231${wallet.slice(2).toLowerCase().padStart(64, '0')}`
      const outcome = await chain.request('eth_call', [{ to: issuer.token, data }, 'latest'])
      if ('error' in outcome) throw new Error(outcome.error.message)
      return BigInt(String(outcome.result))
    },
    async stop() {
      await kill()
      await chain.stop()
    },
  }
}

const callOn =
  (url: string, key: string): Call =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, json: await response.json() }
  }

const spawnGateway = async (
  url: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<Bun.Subprocess> => {
  const [runtime = '', ...program] = anyVariant.command()
  const child = Bun.spawn([runtime, ...flags, ...program, 'serve'], {
    env,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const deadline = performance.now() + readyTimeoutMs
  while (!(await isReady(url))) {
    if (performance.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error('the gateway is not ready')
    }
    await Bun.sleep(20)
  }
  return child
}

const isReady = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/health`)).ok
  } catch {
    return false
  }
}
