/** Subscriptions to what contracts tell. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import { ApiError, type Caller, httpErrors, refusedValue } from '#src/platform/http/index.ts'
import { type Chains, reaching } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import { ArgumentError, type EventFilter, encodeEventFilter, readAbi } from '../contracts/abi.ts'
import type { Contracts } from '../contracts/service.ts'
import { type Creation, madeBy } from '../creation.ts'
import { commonHead } from '../engine/blocks.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { newId } from '../ids.ts'
import * as store from './store.ts'

/** How many streams one account may have. */
export const streamsMax = 100

type Wanted = {
  readonly address: Hex
  readonly network: NetworkId | undefined
  readonly event: string
  readonly where: Readonly<Record<string, unknown>>
  /** The first block that is read; the next one to come when absent. */
  readonly fromBlock: number | undefined
}

type Contract = Pick<Wanted, 'address' | 'network'>

export const createStreams = (deps: {
  readonly sql: Client
  readonly chains: Chains
  readonly contracts: Contracts
}) => {
  const { sql, chains, contracts } = deps
  return {
    async create(
      { address, network, event, where, fromBlock }: Wanted,
      caller: Caller,
    ): Promise<Creation<store.Stream>> {
      const contract = await contracts.get(address, network, caller)
      const filter = filterOf(await readAbi(contract.abi), event, where)
      const chain = chains.require(contract.network as NetworkId, caller.environment)
      const head = await reaching(chain, () =>
        fromBlock === undefined
          ? commonHead(chain.rpc, chain.nodesNeeded)
          : chain.rpc.call('eth_blockNumber'),
      )
      if (fromBlock !== undefined && fromBlock > head + 1) {
        const message = `must not be after the next block, ${head + 1}`
        throw refusedValue([{ pointer: '/from_block', rule: 'maximum', message }])
      }
      const stream: store.Stream = {
        ...madeBy(caller),
        id: newId('str'),
        contractId: contract.id,
        network: contract.network,
        address,
        event: filter.signature,
        filter: where,
        topics: filter.topics,
        position: { number: fromBlock === undefined ? head : fromBlock - 1, hash: undefined },
        anchors: [],
      }
      return {
        async write(tx) {
          if (await store.insertStream(tx, stream, streamsMax)) return stream
          throw new ApiError(
            drexErrors.too_many_streams,
            `The account has ${streamsMax} streams, as many as it may.`,
          )
        },
      }
    },
    async list(
      { address, network }: Contract,
      caller: Caller,
      beforeId: string | undefined,
      limit: number,
    ) {
      const { id: contractId } = await contracts.get(address, network, caller)
      const of = { contractId, account: caller.owner }
      return store.streamsOfContract(sql, of, beforeId, limit)
    },
    /** @throws ApiError `not_found` */
    async remove(
      { address, network, id }: Contract & { readonly id: string },
      caller: Caller,
      also: (sql: Transaction) => Promise<void>,
    ) {
      const { id: contractId } = await contracts.get(address, network, caller)
      const isGone = await sql.begin(async (tx) => {
        const gone = await store.deleteStream(tx, { id, contractId, account: caller.owner })
        if (gone) await also(tx)
        return gone
      })
      if (!isGone) throw new ApiError(httpErrors.not_found, 'The contract has no such stream.')
    },
  }
}

export type Streams = ReturnType<typeof createStreams>

const filterOf = (
  abi: Awaited<ReturnType<typeof readAbi>>,
  event: string,
  where: Wanted['where'],
): EventFilter => {
  try {
    return encodeEventFilter(abi, event, where)
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error
    throw refusedValue(error.violations)
  }
}
