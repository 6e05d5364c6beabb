/** A second kind of node: Foundry's anvil, which comes with the development dependencies where it is built for the platform. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Chain, pilotChainId } from '../../src/simulators/chain/index.ts'

export type Anvil = Pick<Chain, 'chainId' | 'request'> & {
  readonly url: string
  readonly stop: () => Promise<void>
}

const require = createRequire(import.meta.url)

/** What ANVIL_PATH names, what is installed with the dependencies, or what is on PATH; undefined if there is none. */
export const findAnvil = (): string | undefined =>
  process.env['ANVIL_PATH'] ?? installed() ?? Bun.which('anvil') ?? undefined

/** The program itself, not the script that starts it: that would stay behind when it is killed. */
const installed = (): string | undefined => {
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `@foundry-rs/anvil-${process.platform}-${cpu}`
  try {
    const beside = createRequire(require.resolve('@foundry-rs/anvil/package.json'))
    const path = beside.resolve(`${name}/package.json`).replace(/package\.json$/, 'bin/anvil')
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}

/** Starts a node with the pilot's rules that makes a block when it is asked to. */
export const startAnvil = async (command: string): Promise<Anvil> => {
  const child = Bun.spawn(
    [
      command,
      // A reorganisation needs the states before it: only these few are kept.
      ...['--prune-history', '32'],
      '--port',
      '0',
      '--chain-id',
      String(pilotChainId),
      '--hardfork',
      'shanghai',
      ...['--gas-price', '0', '--block-base-fee-per-gas', '0', '--no-mining'],
    ],
    { stdout: 'pipe', stderr: 'ignore' },
  )
  let said = ''
  let address: string | undefined
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += chunk
    address = /Listening on (\S+)/.exec(said)?.[1]
    if (address !== undefined) break
  }
  if (address === undefined) throw new Error(`anvil did not start: ${said}`)
  const url = `http://${address}`
  return {
    chainId: pilotChainId,
    url,
    async request(method, params = []) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      return (await response.json()) as Awaited<ReturnType<Chain['request']>>
    },
    async stop() {
      child.kill()
      await child.exited
    },
  }
}
