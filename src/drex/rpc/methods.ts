/**
 * What each method may answer, checked before anything else sees it. A node is another program, and what it says may
 * come from a stranger's contract: an answer of another form is `malformed`, and is no answer.
 */
import type { Header } from '../evm/header.ts'
import type { Hex } from '../evm/hex.ts'
import { RpcFailure } from './errors.ts'

type Reader<T> = (value: unknown, place: string) => T

export type Log = {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly logIndex: number
  /** Its block has left the chain. */
  readonly removed: boolean
}

export type Receipt = {
  readonly transactionHash: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly succeeded: boolean
  readonly gasUsed: number
  readonly logs: readonly Log[]
  /** EIP-2718; 0 where the node tells none. */
  readonly type: number
  readonly cumulativeGasUsed: number | undefined
  readonly logsBloom: Hex | undefined
}

/** A transaction within a block that was asked for with its transactions. */
type BlockTransaction = {
  readonly hash: Hex
  readonly from: Hex
  readonly nonce: number
  /** Undefined if it is of a form that is not known here. */
  readonly signed: SignedTransaction | undefined
}

/** A transaction with its signature. */
export type SignedTransaction = {
  readonly hash: Hex
  readonly type: number
  readonly nonce: number
  readonly gas: bigint
  readonly to: Hex | null
  readonly value: bigint
  readonly input: Hex
  readonly chainId: bigint | undefined
  readonly gasPrice: bigint | undefined
  readonly maxFeePerGas: bigint | undefined
  readonly maxPriorityFeePerGas: bigint | undefined
  readonly accessList: readonly { readonly address: Hex; readonly storageKeys: readonly Hex[] }[]
  readonly maxFeePerBlobGas: bigint | undefined
  readonly blobVersionedHashes: readonly Hex[] | undefined
  readonly authorizationList: readonly Authorization[] | undefined
  readonly v: bigint
  readonly r: bigint
  readonly s: bigint
}

/** EIP-7702. */
type Authorization = {
  readonly chainId: bigint
  readonly address: Hex
  readonly nonce: bigint
  readonly yParity: bigint
  readonly r: bigint
  readonly s: bigint
}

export type Block = {
  readonly hash: Hex
  readonly parentHash: Hex
  readonly number: number
  readonly timestamp: Hex
  readonly baseFeePerGas: bigint | undefined
  readonly logsBloom: Hex | undefined
  readonly transactions: readonly (Hex | BlockTransaction)[]
  /** All that the block's hash is made of; undefined if the node leaves something out. */
  readonly header: Header | undefined
}

const malformed = (place: string): never => {
  throw new RpcFailure('malformed', `the node’s answer is malformed at ${place}`)
}

const hexForm = /^0x[0-9a-f]+$/i
const wordBits = 256n

const bigQuantity: Reader<bigint> = (value, place) => {
  if (typeof value !== 'string' || value.length > 66 || !hexForm.test(value))
    return malformed(place)
  const number = BigInt(value)
  return number >> wordBits === 0n ? number : malformed(place)
}

/** A block number, nonce, index or amount of gas: far below 2^53 on every chain. */
const count: Reader<number> = (value, place) => {
  const number = Number(bigQuantity(value, place))
  return number <= Number.MAX_SAFE_INTEGER ? number : malformed(place)
}

const gas: Reader<bigint> = (value, place) => BigInt(count(value, place))

const data: Reader<Hex> = (value, place) =>
  typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-f]*$/i.test(value)
    ? (value.toLowerCase() as Hex)
    : malformed(place)

const sized =
  (bytes: number): Reader<Hex> =>
  (value, place) => {
    const hex = data(value, place)
    return hex.length === 2 + bytes * 2 ? hex : malformed(place)
  }

const hash = sized(32)
const address = sized(20)

const fields: Reader<Readonly<Record<string, unknown>>> = (value, place) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : malformed(place)

const listOf =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value, place) =>
    Array.isArray(value) ? value.map((each, i) => read(each, `${place}[${i}]`)) : malformed(place)

const orNull =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value, place) =>
    value === null ? null : read(value, place)

const optional = <T>(read: Reader<T>, value: unknown, place: string): T | undefined =>
  value === undefined || value === null ? undefined : read(value, place)

const log: Reader<Log> = (value, place) => {
  const each = fields(value, place)
  const topics = listOf(hash)(each['topics'], `${place}.topics`)
  const { removed = false } = each
  if (topics.length > 4 || typeof removed !== 'boolean') return malformed(place)
  return {
    topics,
    removed,
    address: address(each['address'], `${place}.address`),
    data: data(each['data'], `${place}.data`),
    blockNumber: count(each['blockNumber'], `${place}.blockNumber`),
    blockHash: hash(each['blockHash'], `${place}.blockHash`),
    transactionHash: hash(each['transactionHash'], `${place}.transactionHash`),
    logIndex: count(each['logIndex'], `${place}.logIndex`),
  }
}

const receipt: Reader<Receipt> = (value, place) => {
  const each = fields(value, place)
  const status = each['status']
  // Without a status nothing is known: it is neither success nor revert.
  if (status !== '0x1' && status !== '0x0') return malformed(`${place}.status`)
  return {
    transactionHash: hash(each['transactionHash'], `${place}.transactionHash`),
    blockNumber: count(each['blockNumber'], `${place}.blockNumber`),
    blockHash: hash(each['blockHash'], `${place}.blockHash`),
    succeeded: status === '0x1',
    gasUsed: count(each['gasUsed'], `${place}.gasUsed`),
    logs: listOf(log)(each['logs'], `${place}.logs`),
    type: optional(count, each['type'], `${place}.type`) ?? 0,
    cumulativeGasUsed: optional(count, each['cumulativeGasUsed'], `${place}.cumulativeGasUsed`),
    logsBloom: optional(sized(256), each['logsBloom'], `${place}.logsBloom`),
  }
}

const blockTransaction: Reader<Hex | BlockTransaction> = (value, place) => {
  if (typeof value === 'string') return hash(value, place)
  const each = fields(value, place)
  return {
    hash: hash(each['hash'], `${place}.hash`),
    from: address(each['from'], `${place}.from`),
    nonce: count(each['nonce'], `${place}.nonce`),
    signed: orUndefined(signedTransaction, value, place),
  }
}

/** For what some networks have in forms of their own. */
const orUndefined = <T>(read: Reader<T>, value: unknown, place: string): T | undefined => {
  try {
    return read(value, place)
  } catch (error) {
    if (error instanceof RpcFailure) return undefined
    throw error
  }
}

const authorization: Reader<Authorization> = (value, place) => {
  const each = fields(value, place)
  const big = (name: string) => bigQuantity(each[name], `${place}.${name}`)
  return {
    chainId: big('chainId'),
    address: address(each['address'], `${place}.address`),
    nonce: big('nonce'),
    yParity: big('yParity'),
    r: big('r'),
    s: big('s'),
  }
}

const accessEntry: Reader<SignedTransaction['accessList'][number]> = (value, place) => {
  const each = fields(value, place)
  return {
    address: address(each['address'], `${place}.address`),
    storageKeys: listOf(hash)(each['storageKeys'], `${place}.storageKeys`),
  }
}

const signedTransaction: Reader<SignedTransaction> = (value, place) => {
  const each = fields(value, place)
  const big = (name: string) => bigQuantity(each[name], `${place}.${name}`)
  const maybe = (name: string) => optional(bigQuantity, each[name], `${place}.${name}`)
  return {
    hash: hash(each['hash'], `${place}.hash`),
    type: optional(count, each['type'], `${place}.type`) ?? 0,
    nonce: count(each['nonce'], `${place}.nonce`),
    gas: big('gas'),
    to: orNull(address)(each['to'] ?? null, `${place}.to`),
    value: big('value'),
    input: data(each['input'], `${place}.input`),
    chainId: maybe('chainId'),
    gasPrice: maybe('gasPrice'),
    maxFeePerGas: maybe('maxFeePerGas'),
    maxPriorityFeePerGas: maybe('maxPriorityFeePerGas'),
    accessList: optional(listOf(accessEntry), each['accessList'], `${place}.accessList`) ?? [],
    maxFeePerBlobGas: maybe('maxFeePerBlobGas'),
    blobVersionedHashes: optional(
      listOf(hash),
      each['blobVersionedHashes'],
      `${place}.blobVersionedHashes`,
    ),
    authorizationList: optional(
      listOf(authorization),
      each['authorizationList'],
      `${place}.authorizationList`,
    ),
    v: big('v'),
    r: big('r'),
    s: big('s'),
  }
}

const header: Reader<Header> = (value, place) => {
  const each = fields(value, place)
  const word = (name: string) => hash(each[name], `${place}.${name}`)
  const big = (name: string) => bigQuantity(each[name], `${place}.${name}`)
  const maybeWord = (name: string) => optional(hash, each[name], `${place}.${name}`)
  const maybe = (name: string) => optional(bigQuantity, each[name], `${place}.${name}`)
  return {
    parentHash: word('parentHash'),
    sha3Uncles: word('sha3Uncles'),
    miner: address(each['miner'], `${place}.miner`),
    stateRoot: word('stateRoot'),
    transactionsRoot: word('transactionsRoot'),
    receiptsRoot: word('receiptsRoot'),
    logsBloom: sized(256)(each['logsBloom'], `${place}.logsBloom`),
    difficulty: big('difficulty'),
    number: big('number'),
    gasLimit: big('gasLimit'),
    gasUsed: big('gasUsed'),
    timestamp: big('timestamp'),
    extraData: data(each['extraData'], `${place}.extraData`),
    mixHash: word('mixHash'),
    nonce: sized(8)(each['nonce'], `${place}.nonce`),
    baseFeePerGas: maybe('baseFeePerGas'),
    withdrawalsRoot: maybeWord('withdrawalsRoot'),
    blobGasUsed: maybe('blobGasUsed'),
    excessBlobGas: maybe('excessBlobGas'),
    parentBeaconBlockRoot: maybeWord('parentBeaconBlockRoot'),
    requestsHash: maybeWord('requestsHash'),
  }
}

const block: Reader<Block> = (value, place) => {
  const each = fields(value, place)
  return {
    hash: hash(each['hash'], `${place}.hash`),
    parentHash: hash(each['parentHash'], `${place}.parentHash`),
    number: count(each['number'], `${place}.number`),
    timestamp: `0x${count(each['timestamp'], `${place}.timestamp`).toString(16)}`,
    baseFeePerGas: optional(bigQuantity, each['baseFeePerGas'], `${place}.baseFeePerGas`),
    logsBloom: optional(sized(256), each['logsBloom'], `${place}.logsBloom`),
    transactions: listOf(blockTransaction)(each['transactions'], `${place}.transactions`),
    header: orUndefined(header, value, place),
  }
}

const readers = {
  eth_blockNumber: count,
  eth_call: data,
  eth_chainId: count,
  eth_estimateGas: gas,
  eth_gasPrice: bigQuantity,
  eth_getBalance: bigQuantity,
  eth_getBlockByHash: orNull(block),
  eth_getBlockByNumber: orNull(block),
  eth_getBlockReceipts: orNull(listOf(receipt)),
  eth_getCode: data,
  eth_getLogs: listOf(log),
  eth_getTransactionByHash: orNull(signedTransaction),
  eth_getTransactionCount: count,
  eth_getTransactionReceipt: orNull(receipt),
  eth_maxPriorityFeePerGas: bigQuantity,
  eth_sendRawTransaction: hash,
} as const satisfies Readonly<Record<string, Reader<unknown>>>

export type Method = keyof typeof readers
export type ResultOf<M extends Method> = ReturnType<(typeof readers)[M]>

/** @throws RpcFailure `malformed` */
export const readResult = <M extends Method>(method: M, value: unknown): ResultOf<M> =>
  readers[method](value, method) as ResultOf<M>
