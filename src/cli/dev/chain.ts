/** The digital-currency network of `dev`: a chain in this process, kept in a file, its currency, two funded wallets. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '#src/platform/config/index.ts'
import { callGateway, type Demo, type DemoGateway } from '#src/platform/lifecycle/index.ts'
import {
  createIssuer,
  createKeptChain,
  type Issuer,
  isChainMissing,
  type KeptChain,
  setAsideText,
} from '#src/simulators/chain/index.ts'
import { isSet } from './environment.ts'

export type DevChain = {
  /** Settings that make the gateway use it. */
  readonly env: Environment
  /** Makes the demonstration's wallets through the gateway, and funds them. */
  readonly fundWallets: (httpUrl: string, apiKey: string) => Promise<readonly string[]>
  /** Tells the user why there is none. */
  readonly notes: readonly string[]
  readonly stop: () => Promise<void>
}

const blockTimeMs = 200
const network = 'drex_testnet'
const waitMs = 15_000
const pollMs = 100
const labels = ['demo-a', 'demo-b'] as const
/** The second wallet is that of an institution, which transfers name by the start of its CNPJ. */
const demoCnpj8 = '12345678'
/** R$ 1 000 000.00 each. */
const fundsCents = 100_000_000n
/** The amount of the demonstrated transfer. */
const transferCents = 15_000n

const notInstalled =
  'The embedded chain is not installed: npm leaves its native part out under a Node older than 22. Until then, digital currency has no network.'

const none = (notes: readonly string[]): DevChain => ({
  env: {},
  fundWallets: async () => [],
  notes,
  stop: async () => {},
})

const unlessNotInstalled = (error: unknown): undefined => {
  if (!isChainMissing(error)) throw error
}

/** Starts the chain, unless the user has set a network. */
export const startDevChain = async (given: Environment, directory: string): Promise<DevChain> => {
  if (isSet(given, 'DREX_NETWORKS_FILE') || isSet(given, 'DREX_TESTNET_RPC_URLS')) {
    return none([])
  }
  const path = join(directory, 'chain.jsonl')
  const chain = await createKeptChain({ path, blockTimeMs }).catch(unlessNotInstalled)
  if (chain === undefined) return none([notInstalled])
  const issuer = await createIssuer(chain)
  const file = join(directory, 'networks.json')
  await writeFile(file, JSON.stringify(networksOf(chain, issuer), null, 2))
  return {
    env: { DREX_NETWORKS_FILE: file },
    fundWallets: (httpUrl, apiKey) => fundWallets(issuer, httpUrl, apiKey),
    notes: chain.setAside === undefined ? [] : [setAsideText(chain.setAside)],
    stop: chain.stop,
  }
}

const networksOf = (chain: KeptChain, issuer: Issuer) => {
  return {
    [network]: {
      rpc_urls: [chain.url],
      chain_id: chain.chainId,
      token: issuer.token,
      directory: issuer.directory,
      block_time_ms: blockTimeMs,
      // The user may take the chain's file away, and keep the database.
      ephemeral: true,
    },
  }
}

type Wallet = { readonly label: string; readonly address: string }

/** Gives a wallet money when it has less than the demonstration moves: the user may have spent the rest. */
export const fundWallets = async (
  issuer: Issuer,
  httpUrl: string,
  apiKey: string,
): Promise<readonly string[]> => {
  const listed = await callGateway(apiKey, 'GET', `${httpUrl}/v1/wallets?limit=200`)
  const { wallets } = JSON.parse(listed.output) as { readonly wallets: readonly Wallet[] }
  const addresses: string[] = []
  for (const label of labels) {
    const found = wallets.find((wallet) => wallet.label === label)
    const address = found?.address ?? (await newWallet(httpUrl, apiKey, label))
    if ((await issuer.balanceOf(address)) < transferCents) await issuer.fund(address, fundsCents)
    addresses.push(address)
  }
  await issuer.nameInstitution(demoCnpj8, addresses[1] ?? '')
  return addresses
}

const newWallet = async (httpUrl: string, apiKey: string, label: string): Promise<string> => {
  const { output } = await callGateway(apiKey, 'POST', `${httpUrl}/v1/wallets`, {
    type: 'managed',
    label,
  })
  const { address } = JSON.parse(output) as Wallet
  return address
}

/** A transfer between the wallets that have money; no demonstration if `dev` has no chain of its own. */
export const transferDemo = async (
  { httpUrl, apiKey }: DemoGateway,
  [from, to]: readonly string[],
): Promise<readonly Demo[]> => {
  if (from === undefined || to === undefined) return []
  const url = `${httpUrl}/v1/drex/transfers`
  const amount = `${transferCents / 100n}.00`
  const body = { from_wallet: from, to_wallet: to, amount, network, reference: 'demo' }
  const asked = await callGateway(apiKey, 'POST', url, body)
  const { transfer_id: id } = JSON.parse(asked.output) as { readonly transfer_id: string }
  const deadline = performance.now() + waitMs
  for (;;) {
    const { output } = await callGateway(apiKey, 'GET', `${url}/${id}`)
    const { status, tx_hash } = JSON.parse(output) as Readonly<Record<string, string>>
    if (status === 'confirmed') {
      return [{ title: `A transfer of digital currency, by now confirmed as ${tx_hash}`, ...asked }]
    }
    if (status === 'failed' || status === 'reverted' || performance.now() > deadline) {
      throw new Error(`the transfer of digital currency is ${status}: ${output}`)
    }
    await Bun.sleep(pollMs)
  }
}
