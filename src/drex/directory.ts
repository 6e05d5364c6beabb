/** A network's address directory: its contracts by their names, and institutions' wallets through one of them. */

import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { type Chain, reaching } from './chains.ts'
import { drexErrors } from './errors.ts'
import { bytesToHex, type Hex } from './evm/hex.ts'
import { keccak256 } from './evm/keccak.ts'
import { encodeAddressDiscovery, encodeDefaultAccount } from './evm/token-call.ts'

/** The pilot's names, each of which is known by its hash. */
export type DirectoryName =
  | 'RealDigitalDefaultAccount'
  | 'RealDigitalEnableAccount'
  | 'STR'
  | 'SwapTwoStepsReserve'

const encoder = new TextEncoder()
const addressWord = /^0x0{24}[0-9a-f]{40}$/
const none: Hex = `0x${'0'.repeat(40)}`

/** @returns undefined if the network has no directory, or it does not know the name */
export const findContract = async (chain: Chain, name: DirectoryName): Promise<Hex | undefined> => {
  const { directory } = chain.network
  if (directory === undefined) return undefined
  const hash = bytesToHex(keccak256(encoder.encode(name)))
  return askAddress(chain, directory, encodeAddressDiscovery(hash))
}

/** @throws ApiError `not_configured` or `not_in_directory` */
export const requireContract = async (chain: Chain, name: DirectoryName): Promise<Hex> => {
  const { directory, id } = chain.network
  if (directory === undefined) {
    throw new ApiError(
      httpErrors.not_configured,
      `The network ${id} has no address directory configured.`,
      { details: { field: 'directory' } },
    )
  }
  return (await findContract(chain, name)) ?? unknown(chain, name)
}

/**
 * The wallet at which an institution takes wholesale currency.
 * @param cnpj8 the first eight digits of its CNPJ
 * @throws ApiError `not_configured` or `not_in_directory`
 */
export const institutionWallet = async (chain: Chain, cnpj8: string): Promise<Hex> => {
  const accounts = await requireContract(chain, 'RealDigitalDefaultAccount')
  const wallet = await askAddress(chain, accounts, encodeDefaultAccount(BigInt(cnpj8)))
  return wallet ?? unknown(chain, cnpj8)
}

const unknown = ({ network }: Chain, name: string): never => {
  throw new ApiError(
    drexErrors.not_in_directory,
    `The directory of ${network.id} does not know ${name}.`,
    { details: { network: network.id, name } },
  )
}

/** @returns undefined for the zero address, and for what is no address */
const askAddress = async (chain: Chain, to: Hex, data: Hex): Promise<Hex | undefined> => {
  const told = await reaching(chain, () => chain.rpc.call('eth_call', { to, data }, 'latest'))
  const word = String(told).toLowerCase()
  if (!addressWord.test(word)) return undefined
  const address: Hex = `0x${word.slice(26)}`
  return address === none ? undefined : address
}
