import { type Client, storedOr } from '#src/platform/database/index.ts'
import type { Check } from '#src/platform/lifecycle/index.ts'
import type { Chain } from './chains.ts'
import { currencySetting } from './config.ts'
import type { KeyService, KeyServiceName } from './custody/key-service.ts'
import type { Custody } from './custody/services.ts'
import type { RpcCall } from './custody/web3signer.ts'
import type { Hex } from './evm/hex.ts'
import type { Tokens } from './tokens/service.ts'
import { walletsOfType } from './wallets/store.ts'

/** Whether a node of each network answers, and is on the network's chain. */
export const chainChecks = (chains: Iterable<Chain>): Promise<readonly Check[]> =>
  Promise.all([...chains].map(checkChain))

const checkChain = async ({ network, rpc }: Chain): Promise<Check> => {
  const name = `Network ${network.id}`
  try {
    const block = await rpc.call('eth_blockNumber')
    return { name, status: 'ok', detail: `a node answers, at block ${block}` }
  } catch (error) {
    return {
      name,
      status: 'failed',
      detail: `no node answers: ${error instanceof Error ? error.message : 'unknown'}`,
      fix: 'check the RPC_URLS of the network, its nodes, and the network between',
    }
  }
}

/** Whether each currency that the settings name is one; nothing where no node answers. */
export const currencyChecks = async (
  chains: readonly Chain[],
  { toldDecimals }: Tokens,
): Promise<readonly Check[]> => {
  const checks = chains.flatMap((chain) => {
    const { token, tokens } = chain.network
    return [
      checkCurrency(chain, 'token', token, toldDecimals),
      ...tokens.map((each) => checkCurrency(chain, 'tokens', each, toldDecimals)),
    ]
  })
  return (await Promise.all(checks)).filter((check) => check !== undefined)
}

const checkCurrency = async (
  chain: Chain,
  member: 'token' | 'tokens',
  token: Hex,
  toldDecimals: Tokens['toldDecimals'],
): Promise<Check | undefined> => {
  const { id } = chain.network
  const name = `Currency ${token} of ${id}`
  const decimals = await toldDecimals(chain, token)
  if (decimals === 'untold') return undefined
  if (decimals !== undefined) return { name, status: 'ok', detail: `has ${decimals} decimals` }
  return {
    name,
    status: 'failed',
    detail: 'tells no decimals: there is no currency at this address',
    fix: `correct ${currencySetting(id, member)}`,
  }
}

const signerNames: Readonly<Record<KeyServiceName, string>> = {
  aws_kms: 'AWS KMS',
  gcp_kms: 'Google Cloud KMS',
}
/** A doctor asks for some keys, and leaves the rest to those who sign. */
const keysMax = 5
const accountsMax = 1_000

/** Whether each program that signs for wallets answers, knows the gateway, and has the keys of its wallets. */
export const signerChecks = async (
  sql: Client,
  { keyServices, web3signer }: Custody,
): Promise<readonly Check[]> =>
  Promise.all([
    ...[...keyServices].map(([type, service]) =>
      checked(signerNames[type], () => askKeyService(sql, type, service)),
    ),
    ...(web3signer === undefined
      ? []
      : [checked('Web3Signer', () => askWeb3Signer(sql, web3signer))]),
  ])

const checked = async (name: string, work: () => Promise<string>): Promise<Check> => {
  try {
    return { name, status: 'ok', detail: await work() }
  } catch (error) {
    return {
      name,
      status: 'failed',
      detail: error instanceof Error ? error.message : 'unknown',
      fix: 'check its address, credentials and certificates in the settings, and the rights to each key',
    }
  }
}

/** Said of the key service; what keeps the wallets is said of the database. */
const unread = 'answers; which wallets have keys in it cannot be read now'

const askKeyService = async (
  sql: Client,
  type: KeyServiceName,
  service: KeyService,
): Promise<string> => {
  const wallets = await storedOr(undefined, () => walletsOfType(sql, type, keysMax))
  if (wallets === undefined) {
    await service.probe()
    return unread
  }
  if (wallets.length === 0) await service.probe()
  for (const { keyName, address, id } of wallets) {
    const found = await service.find(keyName ?? '')
    if (found.address !== address) throw new Error(`it has another key for wallet ${id}`)
  }
  return `answers; keys looked at: ${wallets.length}`
}

const askWeb3Signer = async (sql: Client, call: RpcCall): Promise<string> => {
  const accounts = await call('eth_accounts', [])
  if (!Array.isArray(accounts)) throw new Error('it tells no accounts')
  const there = new Set(accounts.map((each) => String(each).toLowerCase()))
  const wallets = await storedOr(undefined, () => walletsOfType(sql, 'web3signer', accountsMax))
  if (wallets === undefined) return unread
  const missing = wallets.filter(({ address }) => !there.has(address)).length
  if (missing > 0) throw new Error(`it has no key for ${missing} of ${wallets.length} wallets`)
  return `answers, and has the key of each wallet: ${wallets.length}`
}
