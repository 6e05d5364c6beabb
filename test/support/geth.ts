/** A third kind of node: go-ethereum, where GETH_PATH names it, it is on PATH, or `go install` has left it. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Chain } from '../../src/simulators/chain/index.ts'

export type Geth = Pick<Chain, 'chainId' | 'request'> & {
  readonly url: string
  /** Gives an account ten of the network's coin. */
  readonly fund: (account: string) => Promise<void>
  readonly stop: () => Promise<void>
}

export const findGeth = (): string | undefined =>
  process.env['GETH_PATH'] ?? Bun.which('geth') ?? installedByGo()

/** Where Go puts what it installs, which need not be on PATH. */
const installedByGo = (): string | undefined => {
  const workspace = process.env['GOPATH'] ?? join(homedir(), 'go')
  const path = join(process.env['GOBIN'] ?? join(workspace, 'bin'), 'geth')
  return existsSync(path) ? path : undefined
}

const developerChainId = 1_337
/** How many characters of its log we keep until it listens. */
const saidMax = 100_000
const tenCoins = '0x8ac7230489e80000'

/**
 * Starts a node with fees and blocks of Ethereum's present form, which makes a block for each transaction.
 * @param batchCallsMax calls that it takes at once
 */
export const startGeth = async (command: string, batchCallsMax: number): Promise<Geth> => {
  const child = Bun.spawn(
    [
      command,
      ...['--dev', '--nodiscover', '--maxpeers', '0', '--ipcdisable', '--port', '0'],
      ...['--http', '--http.port', '0', '--authrpc.port', '0', '--http.api', 'eth,net,debug'],
      '--rpc.batch-request-limit',
      String(batchCallsMax),
    ],
    { stdout: 'ignore', stderr: 'pipe' },
  )
  const address = await endpointOf(child.stderr)
  const url = `http://${address}`
  const request: Geth['request'] = async (method, params = []) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await response.json()) as Awaited<ReturnType<Chain['request']>>
  }
  const demand = async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
    const outcome = await request(method, params)
    if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`)
    return outcome.result
  }
  return {
    chainId: developerChainId,
    url,
    request,
    async fund(account) {
      const [developer] = (await demand('eth_accounts')) as readonly string[]
      const transaction = { from: developer, to: account, value: tenCoins }
      const hash = await demand('eth_sendTransaction', [transaction])
      // At first it answers that it has not read its own blocks yet.
      const receipt = async () => {
        const outcome = await request('eth_getTransactionReceipt', [hash])
        return 'result' in outcome ? outcome.result : null
      }
      while ((await receipt()) === null) await Bun.sleep(5)
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** Reads on afterwards: a closed pipe would end the node. */
const endpointOf = (output: ReadableStream<Uint8Array>): Promise<string> =>
  new Promise((resolve, reject) => {
    const read = async () => {
      let said = ''
      for await (const chunk of output.pipeThrough(new TextDecoderStream())) {
        if (said.length < saidMax) said += chunk
        const address = /HTTP server started +endpoint=(\S+)/.exec(said)?.[1]
        if (address !== undefined) resolve(address)
      }
      reject(new Error(`geth did not start: ${said}`))
    }
    void read()
  })
