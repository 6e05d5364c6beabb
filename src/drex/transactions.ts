/** Transactions as the chain has them, explained: who called what, and what the contracts told. */
import type { Interface } from 'ethers'
import type { Client } from '#src/platform/database/index.ts'
import { ApiError, type Caller, httpErrors } from '#src/platform/http/index.ts'
import { type Chain, type Chains, reaching } from './chains.ts'
import type { NetworkId } from './config.ts'
import { readAbi, templateAbis } from './contracts/abi.ts'
import { type Decoded, decodeCall, decodeLog } from './contracts/decoding.ts'
import { type Contract, contractsOfNetwork } from './contracts/store.ts'
import type { Hex } from './evm/hex.ts'
import { signatureOf } from './evm/signed-by.ts'
import { RpcFailure } from './rpc/errors.ts'
import type { Log, Receipt, SignedTransaction } from './rpc/methods.ts'
import { requireWallet } from './wallets/rights.ts'
import { ownAmong } from './wallets/store.ts'

export type ExplainedLog = {
  readonly log: Log
  readonly contract: Contract | undefined
  readonly decoded: Decoded | undefined
}

export type ExplainedTransaction = {
  readonly chain: Chain
  readonly transaction: SignedTransaction
  /** Undefined for a type of transaction whose signature is not known here. */
  readonly sender: Hex | undefined
  /** Undefined until it is mined. */
  readonly receipt: Receipt | undefined
  readonly confirmations: number
  /** Whether the block's hash proves the receipt; undefined where the network's settings ask for no proofs. */
  readonly isProven: boolean | undefined
  readonly contract: Contract | undefined
  readonly call: Decoded | undefined
  /** The first {@link logsMax}. */
  readonly logs: readonly ExplainedLog[]
}

/** Logs of one transaction that are explained. */
export const logsMax = 200
/** Bytes of a call or of a log that are decoded; contracts may take and tell as much as a block holds. */
const decodedBytesMax = 16_384

export const createTransactions = (sql: Client, chains: Chains) => ({
  /** @throws ApiError `restricted`; `not_found` also where nothing of the account's has a part in it */
  async read(
    hash: Hex,
    network: NetworkId | undefined,
    caller: Caller,
  ): Promise<ExplainedTransaction> {
    const chain = chains.require(network, caller.environment)
    const found = await reaching(chain, () => readChain(chain, hash))
    if (found === undefined) throw noneFor(hash)
    const { transaction, sender, receipt } = found
    const logs = (receipt?.logs ?? []).slice(0, logsMax)
    const contracts = await contractsOfNetwork(sql, chain.network.id, caller.owner, [
      ...new Set([...(transaction.to === null ? [] : [transaction.to]), ...logs.map(addressOf)]),
    ])
    const parties = [sender, transaction.to ?? undefined, ...(receipt?.logs ?? []).flatMap(named)]
    if (!(await hasPart(sql, caller, parties, contracts))) throw noneFor(hash)
    const explain = createExplainer(contracts)
    return {
      ...found,
      chain,
      contract: contractAt(contracts, transaction.to),
      call: await explain(transaction.to, decodeCall, transaction.input, transaction.input),
      logs: await Promise.all(
        logs.map(async (log) => ({
          log,
          contract: contractAt(contracts, log.address),
          decoded: await explain(log.address, decodeLog, log, log.data),
        })),
      ),
    }
  },
})

export type ChainTransactions = ReturnType<typeof createTransactions>

const noneFor = (hash: Hex): ApiError =>
  new ApiError(
    httpErrors.not_found,
    'The network has no transaction of this hash in which a wallet or contract of yours has a part.',
    { details: { field: 'hash', value: hash } },
  )

const readChain = async (chain: Chain, hash: Hex) => {
  const { rpc, network } = chain
  const transaction = await rpc.call('eth_getTransactionByHash', hash)
  if (transaction === null) return undefined
  if (transaction.hash !== hash) {
    throw new RpcFailure('malformed', 'the node told of another transaction')
  }
  const told = await rpc.call('eth_getTransactionReceipt', hash)
  const head = await rpc.call('eth_blockNumber')
  const proven = await provenOf(chain, told)
  const receipt = proven ?? told ?? undefined
  return {
    transaction,
    receipt,
    sender: (await signatureOf(transaction, network.chainId))?.sender,
    isProven: network.proofs && told !== null ? proven !== undefined : undefined,
    confirmations: receipt === undefined ? 0 : Math.max(0, head - receipt.blockNumber + 1),
  }
}

/** Reads the receipt again from its block, which proves what one node told. */
const provenOf = async (
  { network, prover }: Chain,
  told: Receipt | null,
): Promise<Receipt | undefined> => {
  if (!network.proofs || told === null) return undefined
  return (await prover.prove(told.blockHash))?.receipts.get(told.transactionHash)
}

const addressOf = ({ address }: Log): Hex => address

/** The contract itself, and every address among the topics, which are words of 32 bytes. */
const named = ({ address, topics }: Log): readonly Hex[] => [
  address,
  ...topics.flatMap((topic) =>
    topic.startsWith(`0x${'00'.repeat(12)}`) ? [`0x${topic.slice(26)}` as Hex] : [],
  ),
]

/**
 * A key that is for some wallets sees what one of them has a part in; any other also what its account's contracts have.
 *
 * @throws ApiError `restricted`
 */
const hasPart = async (
  sql: Client,
  caller: Caller,
  parties: readonly (Hex | undefined)[],
  contracts: readonly Contract[],
): Promise<boolean> => {
  const addresses = [...new Set(parties.filter((address) => address !== undefined))]
  const own = await ownAmong(sql, caller.owner, addresses)
  const isOfIts = own.length > 0 || contracts.some(({ account }) => account === caller.owner)
  if (isOfIts) requireWallet(caller, ...own)
  return isOfIts
}

const contractAt = (contracts: readonly Contract[], at: Hex | null): Contract | undefined =>
  contracts.find(({ address }) => address === at)

type Decode<T> = (abis: readonly Interface[], of: T) => Decoded | undefined

/** By the interface that the account knows of the address, or else by those of the templates. */
const createExplainer = (contracts: readonly Contract[]) => {
  const read = new Map<Hex | undefined, Promise<Interface>>(
    contracts.map(({ address, abi }) => [address, readAbi(abi)]),
  )
  return async <T>(at: Hex | null, decode: Decode<T>, of: T, data: Hex) => {
    if (at === null || data.length > 2 + decodedBytesMax * 2) return undefined
    const known = await read.get(at)
    return decode([...(known === undefined ? [] : [known]), ...(await templateAbis())], of)
  }
}
