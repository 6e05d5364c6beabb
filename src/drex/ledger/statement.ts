/** A wallet's statement: what came and went, with the balance after each movement. */
import { type Client, inSnapshot } from '#src/platform/database/index.ts'
import { ApiError, refusedValue } from '#src/platform/http/index.ts'
import { type Chain, reaching } from '../chains.ts'
import { drexErrors } from '../errors.ts'
import { type Hex, wordLength } from '../evm/hex.ts'
import { encodeBalanceOf } from '../evm/token-call.ts'
import { RpcFailure } from '../rpc/errors.ts'
import type { Tokens } from '../tokens/service.ts'
import { signed } from './entries.ts'
import * as store from './statement-store.ts'
import { positionOf } from './store.ts'

type StatementRequest = Pick<
  store.StatementQuery,
  'wallet' | 'account' | 'from' | 'to' | 'after' | 'limit'
> & {
  /** One of the followed currencies; the network's own when undefined. */
  readonly token: Hex | undefined
}

/** Balances are in the token's smallest unit. */
export type Statement = {
  readonly token: Hex
  readonly decimals: number
  /** Up to where the chain was read. */
  readonly at: { readonly blockNumber: number; readonly blockHash: Hex }
  /** Balance before the first movement of the page. */
  readonly opening: bigint
  /** In order. */
  readonly movements: readonly (store.StatementRow & { readonly balance: bigint })[]
  /** The newest block at which the ledger was compared with the chain. */
  readonly checkedBlock: number | undefined
  /** By how much the chain's balance exceeded the ledger's then. */
  readonly difference: bigint
}

export const createStatements = (sql: Client, tokens: Tokens) => ({
  /**
   * @throws ApiError `validation_failed` for a currency that is not followed; `statement_not_ready` while the chain was
   * not read far enough; `network_unreachable`
   */
  async read(chain: Chain, request: StatementRequest): Promise<Statement> {
    const { network } = chain
    const token = request.token ?? network.token
    if (token !== network.token && !network.tokens.includes(token)) throw notFollowed(token)
    const decimals = await tokens.decimalsOf(chain, token)
    const query = { ...request, network: network.id, token }
    const seen = await inSnapshot(sql, async (tx) => {
      const position = await positionOf(tx, network.id)
      const holding = await store.holdingOf(tx, query)
      const rows = await store.statementPage(tx, query)
      const [first] = rows
      // Without movements, the balance is that after those before.
      const before =
        first === undefined
          ? await store.totalBefore(
              tx,
              query,
              request.after === undefined ? (request.from ?? request.to) : request.to,
            )
          : first.total - signed(first)
      return { position, holding, rows, before }
    })
    const { position, holding, rows, before } = seen
    if (position?.hash === undefined) throw notReady(chain, 'has not been read yet')
    const at = { blockNumber: position.number, blockHash: position.hash }
    const base =
      holding === undefined ? await balanceAt(chain, query, at.blockHash) : holding.opening
    if (base === undefined) {
      throw notReady(chain, `has been read up to block ${position.number} so far`)
    }
    return {
      token,
      decimals,
      at,
      opening: base + before,
      movements: rows.map((row) => ({ ...row, balance: base + row.total })),
      checkedBlock: holding === undefined ? at.blockNumber : holding.checkedBlock,
      difference: holding?.difference ?? 0n,
    }
  },
})

export type Statements = ReturnType<typeof createStatements>

/** The balance of a wallet without a movement since it was made known: only the chain knows it. */
const balanceAt = (
  chain: Chain,
  { token, wallet }: { readonly token: Hex; readonly wallet: Hex },
  blockHash: Hex,
): Promise<bigint> =>
  reaching(chain, async () => {
    const call = { to: token, data: encodeBalanceOf(wallet) }
    const answer = await chain.rpc.call('eth_call', call, { blockHash })
    if (answer.length !== wordLength)
      throw new RpcFailure('malformed', 'the token tells no balance')
    return BigInt(answer)
  })

const notFollowed = (token: Hex): ApiError =>
  refusedValue([
    {
      pointer: '/token',
      rule: 'followed',
      message: 'is not a currency whose movements are followed',
      got: token,
    },
  ])

const notReady = ({ network }: Chain, what: string): ApiError =>
  new ApiError(drexErrors.statement_not_ready, `The chain of ${network.id} ${what}.`, {
    details: { network: network.id },
  })
