import { z } from 'zod'
import { type Route, type RouteContract, route } from '#src/platform/http/index.ts'
import type { Decoded } from '../contracts/decoding.ts'
import type { Contract } from '../contracts/store.ts'
import { networkErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'
import {
  type ChainTransactions,
  type ExplainedLog,
  type ExplainedTransaction,
  logsMax,
} from '../transactions.ts'
import { networkQuery, networkSchema, transactionHash } from './shared.ts'

const params = z.object({ hash: transactionHash })
/** Bytes of a call or of a log that are shown. */
const shownBytesMax = 4_096

const contractSchema = z
  .object({ contract_id: z.string(), label: z.string() })
  .nullable()
  .meta({ description: 'Null: none that you have registered or deployed' })

const args = z.record(z.string(), z.unknown()).nullable().meta({
  description:
    'Arguments by name; whole numbers as decimal strings. Null: no known ABI explains it',
})

const bytes = z.string().meta({ description: `At most the first ${shownBytesMax} bytes` })

const schema = z
  .object({
    tx_hash: z.string(),
    network: networkSchema,
    status: z.enum(['pending', 'mined', 'confirmed', 'reverted']),
    from: z.string().nullable().meta({ description: 'Who signed it; null: of an unknown form' }),
    to: z.string().nullable().meta({ description: 'Null: it deploys a contract' }),
    nonce: z.int(),
    value_wei: z.string(),
    block_number: z.int().nullable(),
    block_hash: z.string().nullable(),
    confirmations: z.int(),
    gas_used: z.int().nullable(),
    proven: z.boolean().nullable().meta({
      description: 'Whether the block’s hash proves what is told; null where it is not asked for',
    }),
    contract: contractSchema,
    function: z.string().nullable(),
    args,
    input: bytes,
    input_bytes: z.int(),
    logs: z.array(
      z.object({
        log_index: z.int(),
        address: z.string(),
        contract: contractSchema,
        event: z.string().nullable(),
        args,
        topics: z.array(z.string()),
        data: bytes,
        data_bytes: z.int(),
      }),
    ),
    logs_count: z.int().meta({ description: `All of them; at most ${logsMax} are shown` }),
  })
  .meta({ id: 'ChainTransaction' })

const document = {
  at: 'GET /v1/drex/transactions/{hash}',
  asksOthers: true,
  scope: 'drex:read',
  operation: 'getChainTransaction',
  summary: 'A transaction as the chain has it: the call and its events, decoded',
  description:
    'Asked of a node, whoever made it, if a wallet or contract of yours has a part in it: signed it, is called by it, or is named by one of its events. Calls and events are explained by the ABIs that you have registered, and by those of the templates.',
  params,
  exampleFrom: { hash: 'listTransfers?status=confirmed#/transfers/0/tx_hash' },
  query: networkQuery,
  responses: { 200: { description: 'The transaction', schema } },
  errors: [...networkErrors],
} as const satisfies RouteContract

export const transactionRoute = (transactions: ChainTransactions): Route =>
  route(document, async ({ params, query: { network }, caller }) =>
    Response.json(show(await transactions.read(params.hash, network, caller))),
  )

const show = (explained: ExplainedTransaction): z.infer<typeof schema> => {
  const { chain, transaction, sender, receipt, call, contract, logs } = explained
  return {
    tx_hash: transaction.hash,
    network: chain.network.id,
    status: statusOf(explained),
    from: sender === undefined ? null : checksumAddress(sender),
    to: transaction.to === null ? null : checksumAddress(transaction.to),
    nonce: transaction.nonce,
    value_wei: transaction.value.toString(),
    block_number: receipt?.blockNumber ?? null,
    block_hash: receipt?.blockHash ?? null,
    confirmations: explained.confirmations,
    gas_used: receipt?.gasUsed ?? null,
    proven: explained.isProven ?? null,
    contract: showContract(contract),
    function: call?.signature ?? null,
    args: call?.args ?? null,
    input: cut(transaction.input),
    input_bytes: bytesOf(transaction.input),
    logs: logs.map(showLog),
    logs_count: receipt?.logs.length ?? 0,
  }
}

const statusOf = ({ chain, receipt, confirmations }: ExplainedTransaction) => {
  if (receipt === undefined) return 'pending'
  if (!receipt.succeeded) return 'reverted'
  return confirmations >= chain.network.confirmations ? 'confirmed' : 'mined'
}

const showContract = (contract: Contract | undefined) =>
  contract === undefined ? null : { contract_id: contract.id, label: contract.label }

const showLog = ({ log, contract, decoded }: ExplainedLog) => ({
  log_index: log.logIndex,
  address: checksumAddress(log.address),
  contract: showContract(contract),
  ...showDecoded(decoded),
  topics: [...log.topics],
  data: cut(log.data),
  data_bytes: bytesOf(log.data),
})

const showDecoded = (decoded: Decoded | undefined) => ({
  event: decoded?.signature ?? null,
  args: decoded === undefined ? null : { ...decoded.args },
})

const bytesOf = (hex: Hex): number => hex.length / 2 - 1

const cut = (hex: Hex): string => hex.slice(0, 2 + shownBytesMax * 2)
