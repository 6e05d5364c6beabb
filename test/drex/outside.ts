/** Another program that has the key of a managed wallet. */
import type { Sealer } from '#src/platform/security/index.ts'
import { managedSigner, sealContext } from '../../src/drex/custody/signer.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import type { Chain } from '../../src/simulators/chain/index.ts'
import type { TestDatabase } from '../support/database.ts'

/** Sends calls with the wallet's next nonces, for no fee. @returns their hashes */
export const sendOutside = async (
  {
    chain,
    database,
    sealer,
  }: {
    readonly chain: Pick<Chain, 'chainId' | 'request'>
    readonly database: Pick<TestDatabase, 'sql'>
    readonly sealer: Sealer
  },
  wallet: Hex,
  calls: readonly { readonly to: Hex; readonly data: string }[],
): Promise<readonly Hex[]> => {
  const [row] = await database.sql<{ id: string; sealed: Uint8Array }[]>`
    select id, sealed_key as sealed from drex_wallets where address = ${wallet}`
  const signer = managedSigner(sealer, row!.sealed, sealContext(row!.id, wallet))
  const demand = async (method: string, ...params: readonly unknown[]): Promise<unknown> => {
    const outcome = await chain.request(method, params)
    if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`)
    return outcome.result
  }
  const first = Number(await demand('eth_getTransactionCount', wallet, 'latest'))
  const hashes: Hex[] = []
  for (const [i, { to, data }] of calls.entries()) {
    const { raw } = await signer.signTransaction({
      chainId: chain.chainId,
      nonce: first + i,
      gasLimit: 200_000n,
      to,
      value: 0n,
      fees: { kind: 'legacy', gasPrice: 0n },
      data: data as Hex,
    })
    hashes.push((await demand('eth_sendRawTransaction', raw)) as Hex)
  }
  return hashes
}
