/** Reads what the contracts of agreements told, and holds it against what the tokens themselves told. */
import type { Interface } from 'ethers'
import { readAbi } from '../contracts/abi.ts'
import { shown } from '../engine/transaction.ts'
import type { Hex } from '../evm/hex.ts'
import { addressWord, amountWord } from '../evm/token-call.ts'
import { movedTo } from '../evm/transfer-log.ts'
import type { Log, Receipt } from '../rpc/methods.ts'
import { loadArtifact } from '../templates/index.ts'
import type { About, Agreement } from './store.ts'
import type { DeliveryTerms, LienTerms } from './terms.ts'

/** keccak256 of `TransferSingle(address,address,address,uint256,uint256)`. */
const transferSingleTopic: Hex =
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'

const names = {
  delivery: ['TradeSettled', 'TradeCancelled'],
  lien: ['Pledged', 'Released', 'Expired', 'Extended'],
} as const

type Decoded = { readonly name: string; readonly args: Readonly<Record<string, string>> }

export type Reader = {
  /** First topics of all that is read. */
  readonly topics: readonly Hex[]
  /** What {@link concerned} finds the agreements by that it may be of. */
  readonly about: (log: Log) => About
  /** @returns undefined if it is nothing of this agreement */
  readonly decode: (agreement: Agreement, log: Log) => Decoded | undefined
}

export const createReader = async (): Promise<Reader> => {
  const abis = {
    delivery: await readAbi((await loadArtifact('bond_delivery')).abi),
    lien: await readAbi((await loadArtifact('lien')).abi),
  }
  const topicsOf = (kind: keyof typeof names): readonly Hex[] =>
    names[kind].map((name) => abis[kind].getEvent(name)!.topicHash as Hex)
  const topics = { delivery: topicsOf('delivery'), lien: topicsOf('lien') }
  return {
    topics: [...topics.delivery, ...topics.lien],
    about: ({ address, topics: [topic, number] }) => ({
      contract: address,
      number:
        number !== undefined && topics.delivery.includes(topic!) ? String(BigInt(number)) : '',
    }),
    decode(agreement, log) {
      const { kind, contract } = agreement
      const [topic] = log.topics
      if (log.address !== contract || topic === undefined || !topics[kind].includes(topic)) {
        return undefined
      }
      const decoded = parse(abis[kind], log)
      if (decoded === undefined || kind === 'lien') return decoded
      return isOf(agreement.terms, decoded) ? decoded : undefined
    },
  }
}

const parse = (abi: Interface, { topics, data }: Log): Decoded | undefined => {
  try {
    const parsed = abi.parseLog({ topics: [...topics], data })
    if (parsed === null) return undefined
    const values = parsed.args.toArray().map((each) => shown(String(each).toLowerCase()))
    const entries = parsed.fragment.inputs.map(({ name }, i) => [name, values[i]!] as const)
    return { name: parsed.name, args: Object.fromEntries(entries) }
  } catch {
    return undefined
  }
}

/** Numbers are anybody’s: another’s operation may have had ours before. */
const isOf = (terms: DeliveryTerms, { name, args }: Decoded): boolean =>
  args['operationId'] === terms.number &&
  (name !== 'TradeSettled' ||
    (args['sender'] === terms.seller &&
      args['receiver'] === terms.buyer &&
      args['id'] === terms.bondId &&
      args['amount'] === terms.amount &&
      args['price'] === terms.price))

/**
 * @param log the event
 * @returns what the tokens tell instead; undefined if they tell the same
 */
export const mismatchOf = (
  agreement: Agreement,
  decoded: Decoded,
  log: Log,
  { logs }: Receipt,
): string | undefined => {
  const { name } = decoded
  const own = toldWith(logs, log, name === 'Pledged')
  if (agreement.kind === 'delivery') {
    return name === 'TradeSettled' ? halvesMissing(agreement.terms, own) : undefined
  }
  const { contract, terms } = agreement
  return contract === undefined ? undefined : lienMismatch(terms, contract, decoded, own)
}

/**
 * The logs that belong to this event: up to the next event of the contract, which does one such thing at a time.
 * Whoever calls it may move the same tokens in the same transaction, too.
 * @param isAfter whether the contract tells of it after the tokens have moved
 */
const toldWith = (
  logs: readonly Log[],
  { address, topics, logIndex }: Log,
  isAfter: boolean,
): readonly Log[] => {
  const same = logs
    .filter((each) => each.address === address && each.topics[0] === topics[0])
    .map((each) => each.logIndex)
  const [from, to] = isAfter
    ? [Math.max(-1, ...same.filter((each) => each < logIndex)), logIndex]
    : [logIndex, Math.min(Infinity, ...same.filter((each) => each > logIndex))]
  return logs.filter((each) => each.logIndex > from && each.logIndex < to)
}

/** @returns the sum that moved, if neither it nor any movement alone is what was to move */
const otherThan = (
  wanted: bigint,
  logs: readonly Log[],
  way: { readonly token: Hex; readonly from: Hex; readonly to: Hex },
): bigint | undefined => {
  const isThere = logs.some((log) => movedTo([log], way) === wanted)
  const sum = movedTo(logs, way)
  return isThere || sum === wanted ? undefined : sum
}

const halvesMissing = (
  { money, buyer, seller, price, bond, bondId, amount }: DeliveryTerms,
  logs: readonly Log[],
): string | undefined => {
  const paid = otherThan(BigInt(price), logs, { token: money, from: buyer, to: seller })
  if (paid !== undefined) {
    return `The money’s events tell of ${paid} of its smallest units paid, instead of ${price}.`
  }
  const words = `0x${amountWord(BigInt(bondId))}${amountWord(BigInt(amount))}`
  const isDelivered = logs.some(
    ({ address, topics, data }) =>
      address === bond &&
      topics[0] === transferSingleTopic &&
      topics[2] === `0x${addressWord(seller)}` &&
      topics[3] === `0x${addressWord(buyer)}` &&
      data === words,
  )
  return isDelivered ? undefined : 'The bond’s events tell of no delivery.'
}

const lienMismatch = (
  { token, owner }: LienTerms,
  contract: Hex,
  { name, args }: Decoded,
  logs: readonly Log[],
): string | undefined => {
  if (name === 'Extended') return undefined
  const [from, to] = name === 'Pledged' ? [owner, contract] : [contract, owner]
  const wanted = args['amount'] ?? '0'
  const moved = otherThan(BigInt(wanted), logs, { token, from, to })
  return moved === undefined
    ? undefined
    : `The token’s events tell of ${moved} of its smallest units moved, instead of ${wanted}.`
}
