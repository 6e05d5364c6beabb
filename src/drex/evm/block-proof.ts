/**
 * What a block's header proves: its transactions and their receipts, by the roots of the tries that hold them. A node
 * that alters, leaves out, adds or exchanges one has another root to tell, and so another hash of the block.
 */

import type { Block, Receipt, SignedTransaction } from '../rpc/methods.ts'
import { isHeaderOf, isSealedBy } from './header.ts'
import { bytesToHex, type Hex, hexToBytes } from './hex.ts'
import { keccak256 } from './keccak.ts'
import { type RlpItem, rlpEncode, rlpInteger } from './rlp.ts'
import { listRoot } from './trie.ts'

export type ProvenBlock = {
  readonly number: number
  readonly hash: Hex
  /** The receipts of all transactions of the block, by hash and in the block's order. */
  readonly receipts: ReadonlyMap<Hex, Receipt>
}

/**
 * @param validators two thirds of whom must have sealed it; empty where nobody's seals are asked for. The first block has
 *   none: each node's is compared with the network's.
 * @returns whether what is told of the block is what its hash says; false also for a header of an unknown form
 */
export const isBlockProven = (
  { header, hash, number, parentHash }: Block,
  validators: readonly Hex[],
): boolean =>
  header !== undefined &&
  Number(header.number) === number &&
  header.parentHash === parentHash &&
  isHeaderOf(header, hash) &&
  (validators.length === 0 || number === 0 || isSealedBy(header, validators))

/**
 * @param block with its transactions
 * @param receipts of all of them, in their order
 * @param validators as of {@link isBlockProven}
 * @returns undefined if anything is not what the block's hash says
 */
export const proveBlock = (
  block: Block,
  receipts: readonly Receipt[],
  validators: readonly Hex[],
): ProvenBlock | undefined => {
  const { header, hash, number, transactions } = block
  if (header === undefined || !isBlockProven(block, validators)) return undefined
  const signed = transactions.map((each) => (typeof each === 'string' ? undefined : each.signed))
  const raws = signed.map((each) => (each === undefined ? undefined : encodeTransaction(each)))
  if (receipts.length !== raws.length) return undefined
  const known = raws.filter((raw) => raw !== undefined)
  if (known.length < raws.length || listRoot(known) !== header.transactionsRoot) return undefined
  const encoded = receipts.map(encodeReceipt).filter((each) => each !== undefined)
  if (encoded.length < receipts.length || listRoot(encoded) !== header.receiptsRoot) {
    return undefined
  }
  return { number, hash, receipts: placed({ number, hash }, known, receipts) }
}

/** Only what is within the tries is proven: the rest of each receipt follows from its place. */
const placed = (
  { number, hash }: { readonly number: number; readonly hash: Hex },
  raws: readonly Uint8Array[],
  receipts: readonly Receipt[],
): ReadonlyMap<Hex, Receipt> => {
  const byHash = new Map<Hex, Receipt>()
  let logIndex = 0
  let cumulative = 0
  for (const [i, raw] of raws.entries()) {
    const receipt = receipts[i]!
    const transactionHash = bytesToHex(keccak256(raw))
    const place = { blockNumber: number, blockHash: hash, transactionHash }
    const logs = receipt.logs.map((log) => ({
      ...log,
      ...place,
      removed: false,
      logIndex: logIndex++,
    }))
    const total = receipt.cumulativeGasUsed ?? cumulative
    byHash.set(transactionHash, { ...receipt, ...place, logs, gasUsed: total - cumulative })
    cumulative = total
  }
  return byHash
}

/** As the trie of receipts holds it (EIP-658, EIP-2718). */
const encodeReceipt = (receipt: Receipt): Uint8Array | undefined => {
  const { type, succeeded, cumulativeGasUsed, logsBloom, logs } = receipt
  if (cumulativeGasUsed === undefined || logsBloom === undefined) return undefined
  return typed(type, [
    rlpInteger(succeeded ? 1 : 0),
    rlpInteger(cumulativeGasUsed),
    hexToBytes(logsBloom),
    logs.map(({ address, topics, data }) => [
      hexToBytes(address),
      topics.map(hexToBytes),
      hexToBytes(data),
    ]),
  ])
}

/** @returns undefined for a type that is not known here, or one that lacks a field of its type */
const encodeTransaction = (transaction: SignedTransaction): Uint8Array | undefined => {
  const { type, nonce, gas, to, value, input, gasPrice } = transaction
  const call = [
    to === null ? new Uint8Array(0) : hexToBytes(to),
    rlpInteger(value),
    hexToBytes(input),
  ]
  const signature = [transaction.v, transaction.r, transaction.s].map(rlpInteger)
  if (type === 0) {
    if (gasPrice === undefined) return undefined
    return typed(0, [...[nonce, gasPrice, gas].map(rlpInteger), ...call, ...signature])
  }
  const fees = type === 1 ? gasPricesOf([gasPrice]) : feesOf(transaction)
  const { chainId } = transaction
  const tail = tailOf(transaction)
  if (fees === undefined || tail === undefined || chainId === undefined) return undefined
  const accessList = transaction.accessList.map(({ address, storageKeys }) => [
    hexToBytes(address),
    storageKeys.map(hexToBytes),
  ])
  const head = [chainId, nonce, ...fees, gas].map(rlpInteger)
  return typed(type, [...head, ...call, accessList, ...tail, ...signature])
}

const gasPricesOf = (prices: readonly (bigint | undefined)[]): readonly bigint[] | undefined => {
  const told = prices.filter((each) => each !== undefined)
  return told.length === prices.length ? told : undefined
}

const feesOf = ({ maxPriorityFeePerGas, maxFeePerGas }: SignedTransaction) =>
  gasPricesOf([maxPriorityFeePerGas, maxFeePerGas])

/** What a type has between its access list and its signature: EIP-2930, EIP-1559, EIP-4844, EIP-7702. */
const tailOf = (transaction: SignedTransaction): readonly RlpItem[] | undefined => {
  const { maxFeePerBlobGas, blobVersionedHashes, authorizationList } = transaction
  switch (transaction.type) {
    case 1:
    case 2:
      return []
    case 3:
      if (maxFeePerBlobGas === undefined || blobVersionedHashes === undefined) return undefined
      return [rlpInteger(maxFeePerBlobGas), blobVersionedHashes.map(hexToBytes)]
    case 4:
      if (authorizationList === undefined) return undefined
      return [
        authorizationList.map(({ chainId, address, nonce, yParity, r, s }) => [
          rlpInteger(chainId),
          hexToBytes(address),
          ...[nonce, yParity, r, s].map(rlpInteger),
        ]),
      ]
    default:
      return undefined
  }
}

const typed = (type: number, fields: readonly RlpItem[]): Uint8Array => {
  const encoded = rlpEncode(fields)
  if (type === 0) return encoded
  const whole = new Uint8Array(encoded.length + 1)
  whole[0] = type
  whole.set(encoded, 1)
  return whole
}
