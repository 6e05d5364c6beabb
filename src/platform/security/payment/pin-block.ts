import { aesBlockBytes, aesEcb, desBlockBytes, desEcb, xor } from './ciphers.ts'

/** ISO 9564-1: formats 0 and 3 use DES and the card number, 1 uses DES without it, 4 uses AES. */
export type PinFormat = '0' | '1' | '3' | '4'

/** A PIN block that cannot be opened or may not be made. Says nothing of the PIN. */
export class PinBlockError extends Error {
  override readonly name = 'PinBlockError'
}

const pinDigitsMin = 4
const pinDigitsMax = 12
/** The longest PIN that we look for in clear: a block of a longer one has fewer fixed digits. */
const clearDigitsMax = 6
/** Twelve digits and the check digit. */
const accountPanMin = 13

/** Bytes of an encrypted block: format 4 does not fit into DE 52 of most dialects. */
const pinBlockBytes = (format: PinFormat): number =>
  format === '4' ? aesBlockBytes : desBlockBytes

const nibbleAt = (bytes: Uint8Array, at: number): number =>
  at % 2 === 0 ? bytes[at >> 1]! >> 4 : bytes[at >> 1]! & 15

const fromNibbles = (nibbles: readonly number[]): Uint8Array =>
  Uint8Array.from(
    { length: nibbles.length / 2 },
    (_, at) => (nibbles[at * 2]! << 4) | nibbles[at * 2 + 1]!,
  )

/** The twelve digits before the check digit. @param pan ASCII digits */
const accountBlock = (pan: Uint8Array): Uint8Array => {
  if (pan.length < accountPanMin) throw new PinBlockError('the card number is too short')
  return fromNibbles([0, 0, 0, 0, ...Array.from(pan.subarray(-13, -1), (digit) => digit & 15)])
}

/** The card number of format 4. @param pan 12 to 19 ASCII digits */
const panBlock = (pan: Uint8Array): Uint8Array => {
  if (pan.length < 12 || pan.length > 19)
    throw new PinBlockError('the card number has 12 to 19 digits')
  const digits = Array.from(pan, (digit) => digit & 15)
  return fromNibbles([pan.length - 12, ...digits, ...new Array(31 - digits.length).fill(0)])
}

type Random = (bytes: number) => Uint8Array

/** The PIN with its length and filling, before the card number. */
const plainBlock = (format: PinFormat, pin: readonly number[], random: Random): Uint8Array => {
  const nibbles = [Number(format), pin.length, ...pin]
  const noise = random(desBlockBytes * 2)
  // Format 3 is filled with A to F, format 1 with anything.
  const fillings: Readonly<Record<PinFormat, (at: number) => number>> = {
    '0': () => 15,
    '1': (at) => noise[at]! & 15,
    '3': (at) => 10 + (noise[at]! % 6),
    '4': () => 10,
  }
  const fill = fillings[format]
  for (let at = nibbles.length; at < 16; at++) nibbles.push(fill(at))
  const block = fromNibbles(nibbles)
  return format === '4' ? Uint8Array.from([...block, ...noise.subarray(0, desBlockBytes)]) : block
}

/** Reads and checks a block without the card number. @throws PinBlockError */
const pinOf = (format: PinFormat, block: Uint8Array): readonly number[] => {
  const length = nibbleAt(block, 1)
  if (nibbleAt(block, 0) !== Number(format) || length < pinDigitsMin || length > pinDigitsMax) {
    throw new PinBlockError('no PIN block of its format')
  }
  const pin = Array.from({ length }, (_, at) => nibbleAt(block, at + 2))
  const filling = Array.from({ length: 14 - length }, (_, at) => nibbleAt(block, at + 2 + length))
  const isFilled: Readonly<Record<PinFormat, (nibble: number) => boolean>> = {
    '0': (nibble) => nibble === 15,
    '1': () => true,
    '3': (nibble) => nibble >= 10,
    '4': (nibble) => nibble === 10,
  }
  if (pin.every((digit) => digit <= 9) && filling.every(isFilled[format])) return pin
  throw new PinBlockError('no PIN block of its format')
}

const open = (format: PinFormat, key: Uint8Array, block: Uint8Array, pan: Uint8Array) => {
  if (block.length !== pinBlockBytes(format))
    throw new PinBlockError('a PIN block of another length')
  if (format === '4') {
    const middle = xor(aesEcb(key, block, 'decrypt'), panBlock(pan))
    return pinOf(format, aesEcb(key, middle, 'decrypt'))
  }
  const clear = desEcb(key, block, 'decrypt')
  return pinOf(format, format === '1' ? clear : xor(clear, accountBlock(pan)))
}

const doesRead = (format: PinFormat, block: Uint8Array): boolean => {
  try {
    return pinOf(format, block).length <= clearDigitsMax
  } catch (error) {
    if (error instanceof PinBlockError) return false
    throw error
  }
}

/**
 * Whether a block of DES shows a PIN of 4 to 6 digits as it is, in format 0, 2 or 3. An encrypted block looks like that
 * in two of ten million cases.
 *
 * @param pan ASCII digits
 */
export const isClearPinBlock = (block: Uint8Array, pan: Uint8Array): boolean => {
  const [first = 0, ...others] = block
  // Format 2 has another first digit, and no card number.
  const unbound = first >> 4 === 2 ? Uint8Array.of(first & 15, ...others) : block
  const bound = pan.length < accountPanMin ? unbound : xor(block, accountBlock(pan))
  return doesRead('0', unbound) || doesRead('0', bound) || doesRead('3', bound)
}

/** @throws PinBlockError */
export const sealPin = (
  format: PinFormat,
  key: Uint8Array,
  pin: readonly number[],
  pan: Uint8Array,
  random: Random,
): Uint8Array => {
  const plain = plainBlock(format, pin, random)
  if (format === '4') {
    return aesEcb(key, xor(aesEcb(key, plain, 'encrypt'), panBlock(pan)), 'encrypt')
  }
  return desEcb(key, format === '1' ? plain : xor(plain, accountBlock(pan)), 'encrypt')
}

/** An encrypted block, its key in clear, and its format. */
type Side = { readonly format: PinFormat; readonly key: Uint8Array }

/**
 * The same PIN of the same card under another key, in another format. It never becomes format 1, which would free the
 * PIN from its card.
 *
 * @param pan ASCII digits
 * @throws PinBlockError
 */
export const translatePin = (
  block: Uint8Array,
  from: Side,
  to: Side,
  pan: Uint8Array,
  random: Random,
): Uint8Array => {
  if (to.format === '1') throw new PinBlockError('no PIN goes into format 1')
  return sealPin(to.format, to.key, open(from.format, from.key, block, pan), pan, random)
}
