/**
 * Decodes what contracts tell, in a time that its length bounds. An offset may point anywhere, also a thousand times at
 * the same bytes, so that what is read is counted.
 */
import type { BytesLike, Interface, ParamType } from 'ethers'
import { checksumAddress } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'

/** Words read for each word that is there. Honest encoders write each once, and some let equal ones share a place. */
const readsMax = 2
const wordBytes = 32

/** @returns the class of interfaces that encode as those of ethers do, and decode by this module */
const loadInterface = async (): Promise<typeof Interface> => {
  const { AbiCoder, getBytes, Interface, ParamType, Result } = await import('ethers')
  class BoundedCoder extends AbiCoder {
    override decode(types: readonly (string | ParamType)[], data: BytesLike, isLoose?: boolean) {
      const members = types.map((type) => ParamType.from(type))
      const values = decodeMembers(members, getBytes(data), isLoose === true)
      return Result.fromItems(
        values,
        members.map(({ name }) => name || null),
      )
    }
  }
  const coder = new BoundedCoder()
  return class extends Interface {
    override getAbiCoder() {
      return coder
    }
  }
}

let loaded: Promise<typeof Interface> | undefined

/** `ethers` is loaded on first use, so that a gateway that only moves currency never pays for it. */
export const boundedInterface = (): Promise<typeof Interface> => (loaded ??= loadInterface())

/** @param isLoose whether the last bytes may be without their padding, as early Solidity wrote events */
const decodeMembers = (
  types: readonly ParamType[],
  data: Uint8Array,
  isLoose: boolean,
): unknown[] => {
  const words = Math.ceil(data.length / wordBytes)
  const source = { bytes: Buffer.from(data), isLoose, left: readsMax * (words + 1) }
  return readMembers(source, types.map(layoutOf), 0)
}

type Source = {
  readonly bytes: Buffer
  readonly isLoose: boolean
  /** Words that may be read yet. */
  left: number
}

type Layout = {
  /** Bytes that it has at its place: an offset's, if it is elsewhere. */
  readonly size: number
  /** Whether its place holds an offset. */
  readonly isElsewhere: boolean
  readonly read: (source: Source, at: number) => unknown
}

const layoutOf = (type: ParamType): Layout => {
  if (type.arrayChildren !== null)
    return arrayLayout(layoutOf(type.arrayChildren), type.arrayLength)
  if (type.components !== null) return tupleLayout(type.components.map(layoutOf))
  const read = readerOf(type.type)
  return { size: wordBytes, isElsewhere: type.type === 'string' || type.type === 'bytes', read }
}

/** @param length null or -1 if its data tell it */
const arrayLayout = (child: Layout, length: number | null): Layout => {
  if (length === null || length < 0) {
    const read = (source: Source, at: number) => {
      spend(source, 1)
      return readItems(source, child, readSize(source, at), at + wordBytes)
    }
    return { size: wordBytes, isElsewhere: true, read }
  }
  const read = (source: Source, at: number) => {
    if (length === 0) spend(source, 1)
    return readItems(source, child, length, at)
  }
  const { isElsewhere } = child
  return { size: isElsewhere ? wordBytes : length * child.size, isElsewhere, read }
}

const tupleLayout = (members: readonly Layout[]): Layout => {
  const isElsewhere = members.some((each) => each.isElsewhere)
  const read = (source: Source, at: number) => {
    if (members.length === 0) spend(source, 1)
    return readMembers(source, members, at)
  }
  const size = isElsewhere ? wordBytes : members.reduce((sum, each) => sum + each.size, 0)
  return { size, isElsewhere, read }
}

const readMembers = (source: Source, members: readonly Layout[], base: number): unknown[] => {
  let at = base
  return members.map((member) => {
    const value = readAt(source, member, base, at)
    at += member.size
    return value
  })
}

const readItems = (source: Source, child: Layout, count: number, base: number): unknown[] => {
  const values: unknown[] = []
  for (let i = 0; i < count; i++) values.push(readAt(source, child, base, base + i * child.size))
  return values
}

/** Offsets count from the beginning of what they are part of. */
const readAt = (source: Source, layout: Layout, base: number, at: number): unknown =>
  layout.read(source, layout.isElsewhere ? base + readSize(source, at) : at)

/** An empty value costs one word, too: a list may claim to hold a billion of them. */
const spend = (source: Source, words: number): void => {
  source.left -= words
  if (source.left < 0) throw new RangeError('more is read than is there')
}

const take = ({ bytes, isLoose }: Source, at: number, length: number): Buffer => {
  const padded = Math.ceil(length / wordBytes) * wordBytes
  if (at + (isLoose ? length : padded) > bytes.length) throw new RangeError('data out of bounds')
  return bytes.subarray(at, at + length)
}

const readWord = (source: Source, at: number): bigint =>
  BigInt(`0x${take(source, at, wordBytes).toString('hex')}`)

/** An offset or a length. */
const readSize = (source: Source, at: number): number => {
  const size = readWord(source, at)
  if (size > BigInt(source.bytes.length)) throw new RangeError('data out of bounds')
  return Number(size)
}

const readerOf = (type: string): Layout['read'] => {
  if (type === 'string' || type === 'bytes') {
    return (source, at) => {
      const length = readSize(source, at)
      spend(source, 1 + Math.ceil(length / wordBytes))
      const bytes = take(source, at + wordBytes, length)
      return type === 'string' ? text.decode(bytes) : `0x${bytes.toString('hex')}`
    }
  }
  const integer = /^(u?)int(\d+)$/.exec(type)
  const fixed = /^bytes(\d+)$/.exec(type)
  const bits = Number(integer?.[2])
  return (source, at) => {
    spend(source, 1)
    if (fixed !== null) return `0x${take(source, at, Number(fixed[1])).toString('hex')}`
    const word = readWord(source, at)
    if (integer !== null) return (integer[1] === 'u' ? BigInt.asUintN : BigInt.asIntN)(bits, word)
    if (type === 'bool') return word !== 0n
    if (type === 'address') return readAddress(word)
    throw new TypeError(`no values of ${type} are read`)
  }
}

const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const readAddress = (word: bigint): string => {
  const digits = word.toString(16).padStart(40, '0')
  if (digits.length > 40) throw new RangeError('more than an address')
  return checksumAddress(`0x${digits}` as Hex)
}
