import type { Hex } from '../../src/drex/evm/hex.ts'
import type { Chain } from '../../src/simulators/chain/index.ts'
import { type Admin, type Bench, createBench, currencyAbi, type TransferBody } from './support.ts'

export type NodeBench = {
  readonly bench: Bench
  readonly admin: Admin
  /** Sends, and gets whatever is sent to her. */
  readonly ana: Hex
  readonly bia: Hex
  /** Asks the node itself. */
  readonly demand: (method: string, params?: readonly unknown[]) => Promise<unknown>
  readonly balance: (of: Hex) => Promise<bigint>
  readonly read: (id: string) => Promise<TransferBody>
  /** From Ana to Bia; 1.00 if no amount is given. @returns the transfer's id */
  readonly pay: (amount?: string) => Promise<string>
  readonly reached: (id: string, wanted: string) => Promise<void>
}

export const createNodeBench = async (options: {
  readonly node: Pick<Chain, 'chainId' | 'request'> & { readonly url: string }
  readonly admin: Admin
  readonly env: Readonly<Record<string, string>>
  /** What Ana has, in cents. */
  readonly cents: bigint
  /** Gives an account the coin for its gas, where that costs something. */
  readonly fund?: (account: Hex) => Promise<void>
}): Promise<NodeBench> => {
  const { node, admin, env, cents, fund } = options
  const settings = {
    DREX_TESTNET_RPC_URLS: node.url,
    DREX_TESTNET_TOKEN: admin.token,
    DREX_TESTNET_CHAIN_ID: String(node.chainId),
  }
  const bench = await createBench({ env: { ...settings, ...env } })
  const wallet = async (holding: bigint): Promise<Hex> => {
    const { json } = await bench.call('POST', '/v1/wallets', { type: 'managed', label: 'node' })
    const address = (json as { address: string }).address.toLowerCase() as Hex
    await fund?.(address)
    await admin.currency('enableAccount', address)
    if (holding > 0n) await admin.currency('mint', address, holding)
    return address
  }
  const demand: NodeBench['demand'] = async (method, params = []) => {
    const outcome = await node.request(method, params)
    if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`)
    return outcome.result
  }
  const { read } = bench
  const [ana, bia] = [await wallet(cents), await wallet(0n)]
  return {
    bench,
    admin,
    ana,
    bia,
    demand,
    read,
    async balance(of) {
      const data = currencyAbi.encodeFunctionData('balanceOf', [of])
      return BigInt(String(await demand('eth_call', [{ to: admin.token, data }, 'latest'])))
    },
    pay: (amount) => bench.pay(ana, bia, amount),
    reached: async (id, wanted) => {
      await bench.reaches(id, wanted)
    },
  }
}
