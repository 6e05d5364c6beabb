/** What we know of a token: its decimals, read from its contract once and kept. */
import type { Client } from '#src/platform/database/index.ts'
import { ApiError, refusedValue } from '#src/platform/http/index.ts'
import { type Chain, reaching } from '../chains.ts'
import { decimalsMax, unitsOf } from '../domain.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { encodeDecimals } from '../evm/token-call.ts'
import { RpcFailure } from '../rpc/errors.ts'
import * as store from './store.ts'

export type Tokens = {
  /**
   * Asks the contract at the first use in this process, and compares with what was kept at the first use ever. While no
   * node answers, what was kept counts.
   *
   * @throws ApiError `token_unusable` if the contract tells none, or others than before; `network_unreachable`
   */
  readonly decimalsOf: (chain: Chain, token: Hex) => Promise<number>
  /** What its contract tells now, not kept: undefined if it is no token, `untold` if no node answers. */
  readonly toldDecimals: (chain: Chain, token: Hex) => Promise<number | undefined | 'untold'>
  /** What it told when it was first used as a token here; undefined if it never was. */
  readonly keptDecimals: (chain: Chain, address: Hex) => Promise<number | undefined>
  /**
   * An amount in the token's smallest unit.
   *
   * @param field the request's field, as a JSON pointer without its slash
   * @throws ApiError `validation_failed` if the amount has more fraction digits than the token
   */
  readonly unitsOf: (chain: Chain, token: Hex, amount: string, field: string) => Promise<bigint>
}

const keptMax = 10_000
const uintWord = /^0x[0-9a-fA-F]{64}$/

export const createTokens = (sql: Client): Tokens => {
  const checked = new Map<string, number>()
  const decimalsOf = async (chain: Chain, token: Hex): Promise<number> => {
    const name = `${chain.network.id}:${token}`
    const known = checked.get(name)
    if (known !== undefined) return known
    const found = await check(sql, chain, token)
    if (found.isChecked) {
      if (checked.size >= keptMax) checked.delete(checked.keys().next().value!)
      checked.set(name, found.decimals)
    }
    return found.decimals
  }
  return {
    decimalsOf,
    async toldDecimals(chain, token) {
      const read = await readDecimals(chain, token)
      return read instanceof RpcFailure ? 'untold' : read
    },
    keptDecimals: ({ network }, address) => store.pinnedDecimals(sql, network.id, address),
    async unitsOf(chain, token, amount, field) {
      const decimals = await decimalsOf(chain, token)
      const units = unitsOf(amount, decimals)
      if (units !== undefined) return units
      const message = `has more fraction digits than the token, which has ${decimals}`
      throw refusedValue([{ pointer: `/${field}`, rule: 'decimals', message, got: amount }])
    },
  }
}

const check = async (sql: Client, chain: Chain, token: Hex) => {
  const network = chain.network.id
  const read = await readDecimals(chain, token)
  if (read instanceof RpcFailure) {
    const decimals = await store.pinnedDecimals(sql, network, token)
    if (decimals === undefined) {
      return reaching(chain, async () => {
        throw read
      })
    }
    return { decimals, isChecked: false }
  }
  if (read === undefined) throw unusable(chain, token, 'does not tell its decimals')
  const { isEphemeral } = chain.network
  const kept = await store.pinDecimals(sql, {
    network,
    address: token,
    decimals: read,
    isReplacing: isEphemeral,
  })
  if (kept !== read) throw unusable(chain, token, `had ${kept} decimals and now tells ${read}`)
  return { decimals: read, isChecked: true }
}

/** @returns undefined if the contract tells none; the failure if no node answers */
const readDecimals = async (
  { rpc }: Chain,
  token: Hex,
): Promise<number | undefined | RpcFailure> => {
  try {
    const result = await rpc.call('eth_call', { to: token, data: encodeDecimals() }, 'latest')
    // An address without code answers with nothing.
    if (typeof result !== 'string' || !uintWord.test(result)) return undefined
    const decimals = BigInt(result)
    return decimals <= BigInt(decimalsMax) ? Number(decimals) : undefined
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error
    return error.kind === 'reverted' ? undefined : error
  }
}

const unusable = (chain: Chain, token: Hex, what: string): ApiError =>
  new ApiError(drexErrors.token_unusable, `The token ${token} of ${chain.network.id} ${what}.`, {
    details: { network: chain.network.id, token },
  })
