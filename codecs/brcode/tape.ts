import { CodecError } from '#codecs/bytes'
import { crc16 } from './crc16.ts'

// payload = "00" "02" "01" *object "63" "04" 4HEXDIG
// object  = id length value        id = 2DIGIT, length = 2DIGIT ("01" to "99")
// value   = 1*octet | 1*object     objects in 26 to 51, 62, 64, 80 to 99, and in 62 under 50 to 99
// EMV QR Code Specification, Merchant-Presented Mode, section 3.

/** Longest payload, in bytes. Same source. */
export const brcodeBytesMax = 512

/** A payload of that size cannot hold more objects: each takes four bytes beside the objects in it. */
const objectsMax = Math.floor(brcodeBytesMax / 4)
/** Ids 26 to 51 and 80 to 99. */
const accountsMax = 46
/** Integers per object on the tape: id, offset of the id, start and end of the value, parent. */
const stride = 5
export const noParent = -1

/** How a producer counted the lengths: EMV says bytes; some count characters. */
const lengthUnits = ['bytes', 'characters'] as const
export type LengthUnit = (typeof lengthUnits)[number]

/**
 * The places of all data objects, in wire order, a template before its children.
 *
 * The caller reuses the tape: reading another payload overwrites it.
 *
 * @property bytes - holds the payload in its first `size` bytes
 * @property disordered - index of the first root object whose id is below its predecessor's, or -1
 * @property templates - indices of the first `templateCount` root templates 26 to 51 and 80 to 99
 * @property entries - per object: id, offset of its id, start and end of its value, parent's index
 * @property roots - by id: index of the root object with this id, -1 when absent
 */
export type BrCodeTape = {
  bytes: Uint8Array
  size: number
  lengthUnit: LengthUnit
  count: number
  disordered: number
  templateCount: number
  readonly templates: Int16Array
  readonly entries: Int32Array
  readonly roots: Int16Array
}

export const createTape = (): BrCodeTape => ({
  bytes: new Uint8Array(0),
  size: 0,
  lengthUnit: 'bytes',
  count: 0,
  disordered: noParent,
  templateCount: 0,
  templates: new Int16Array(accountsMax),
  entries: new Int32Array(objectsMax * stride),
  roots: new Int16Array(100),
})

export const idOf = (tape: BrCodeTape, index: number): number => tape.entries[index * stride]!
export const offsetOf = (tape: BrCodeTape, index: number): number =>
  tape.entries[index * stride + 1]!
export const startOf = (tape: BrCodeTape, index: number): number =>
  tape.entries[index * stride + 2]!
export const endOf = (tape: BrCodeTape, index: number): number => tape.entries[index * stride + 3]!
export const parentOf = (tape: BrCodeTape, index: number): number =>
  tape.entries[index * stride + 4]!

/** The child of `parent` with this id, or -1. */
export const childOf = (tape: BrCodeTape, parent: number, id: number): number => {
  const { entries, count } = tape
  const end = entries[parent * stride + 3]!
  for (let i = parent + 1; i < count && entries[i * stride + 1]! < end; i++) {
    if (entries[i * stride]! === id && entries[i * stride + 4]! === parent) return i
  }
  return noParent
}

/** The ids from the root to this object: `26.01`. */
export const pathOf = (tape: BrCodeTape, index: number): string => {
  const own = idText(idOf(tape, index))
  const parent = parentOf(tape, index)
  return parent === noParent ? own : `${pathOf(tape, parent)}.${own}`
}

export const idText = (id: number): string => (id < 10 ? `0${id}` : `${id}`)

/** Templates at the root: merchant accounts, additional data, other language, unreserved. */
const isRootTemplate = (id: number): boolean =>
  (id >= 26 && id <= 51) || id === 62 || id === 64 || id >= 80

/**
 * Finds every object and checks the frame: version first, CRC last, lengths, duplicates, CRC value.
 * Does not check values.
 *
 * @param bytes - the payload in UTF-8, from the first byte
 * @param size - bytes of the payload
 * @param ascii - whether all bytes are below 0x80; if not, and the lengths are wrong as bytes, they are tried as
 * characters (Unicode code points)
 * @throws CodecError `brcode_size`, `brcode_id`, `brcode_length`, `brcode_truncated`,
 *   `brcode_duplicate`, `brcode_version`, `brcode_crc_missing`, `brcode_crc_format`, `brcode_crc`;
 *   `context.path` is the tag path
 */
export const indexBrCode = (
  tape: BrCodeTape,
  bytes: Uint8Array,
  size: number,
  ascii: boolean,
): void => {
  if (size === 0 || size > brcodeBytesMax) {
    throw new CodecError('brcode_size', 0, `payload must have 1 to ${brcodeBytesMax} bytes`, {
      path: '',
      length: size,
      lengthMax: brcodeBytesMax,
    })
  }
  tape.bytes = bytes
  tape.size = size
  index(tape, 'bytes', ascii)
  checkCrc(tape)
}

const index = (tape: BrCodeTape, unit: LengthUnit, ascii: boolean): void => {
  tape.lengthUnit = unit
  tape.count = 0
  tape.disordered = noParent
  tape.templateCount = 0
  tape.roots.fill(noParent)
  if (ascii || unit === 'characters') {
    indexRoot(tape)
    return
  }
  try {
    indexRoot(tape)
  } catch (error) {
    try {
      index(tape, 'characters', ascii)
    } catch {
      throw error
    }
  }
}

const indexRoot = (tape: BrCodeTape): void => {
  const { roots, entries, size } = tape
  const counted = tape.lengthUnit === 'bytes'
  let at = 0
  let previous = -1
  while (at < size) {
    const own = tape.count
    const stop = indexObject(tape, at, size, noParent, counted)
    const id = entries[own * stride]!
    if (roots[id] !== noParent) throw duplicate(tape, noParent, at, id)
    roots[id] = own
    if (id < previous && tape.disordered === noParent && id !== 63) tape.disordered = own
    previous = id
    if (isRootTemplate(id)) {
      indexTemplate(tape, own, counted)
      if (id !== 62 && id !== 64) tape.templates[tape.templateCount++] = own
    }
    at = stop
  }
  checkFrame(tape)
}

const indexTemplate = (tape: BrCodeTape, parent: number, counted: boolean): void => {
  const { entries } = tape
  const end = entries[parent * stride + 3]!
  let at = entries[parent * stride + 2]!
  while (at < end) {
    const own = tape.count
    const stop = indexObject(tape, at, end, parent, counted)
    const id = entries[own * stride]!
    checkSiblings(tape, parent, own, at, id)
    if (id >= 50 && parent === tape.roots[62]) indexTemplate(tape, own, counted)
    at = stop
  }
}

/** Puts the object at `at` on the tape and returns the offset behind it. */
const indexObject = (
  tape: BrCodeTape,
  at: number,
  end: number,
  parent: number,
  counted: boolean,
): number => {
  const { bytes, entries } = tape
  const id = twoDigits(bytes, at, end)
  if (id < 0) throw frameError('brcode_id', tape, parent, at, 'id must be two digits')
  const length = twoDigits(bytes, at + 2, end)
  if (length < 1) {
    throw frameError('brcode_length', tape, parent, at + 2, 'length must be 01 to 99', id)
  }
  const start = at + 4
  const stop = counted ? start + length : skip(bytes, start, end, length)
  if (stop > end) {
    const message = 'value ends after its template or payload'
    throw frameError('brcode_truncated', tape, parent, start, message, id)
  }
  const slot = tape.count++ * stride
  entries[slot] = id
  entries[slot + 1] = at
  entries[slot + 2] = start
  entries[slot + 3] = stop
  entries[slot + 4] = parent
  return stop
}

const checkSiblings = (
  tape: BrCodeTape,
  parent: number,
  own: number,
  at: number,
  id: number,
): void => {
  const { entries } = tape
  for (let i = parent + 1; i < own; i++) {
    if (entries[i * stride] === id && entries[i * stride + 4] === parent) {
      throw duplicate(tape, parent, at, id)
    }
  }
}

/** The number written in two digits, or -1. */
const twoDigits = (bytes: Uint8Array, at: number, end: number): number => {
  if (at + 2 > end) return -1
  const tens = bytes[at]! - 48
  const units = bytes[at + 1]! - 48
  return tens >>> 0 > 9 || units >>> 0 > 9 ? -1 : tens * 10 + units
}

/** The offset behind `count` UTF-8 characters; past `end` if there are fewer. */
const skip = (bytes: Uint8Array, from: number, end: number, count: number): number => {
  let at = from
  for (let left = count; left > 0; left--) {
    if (at >= end) return end + 1
    at++
    while (at < end && (bytes[at]! & 0xc0) === 0x80) at++
  }
  return at
}

const checkFrame = (tape: BrCodeTape): void => {
  const { bytes, size } = tape
  if (idOf(tape, 0) !== 0 || endOf(tape, 0) !== 6 || bytes[4] !== 48 || bytes[5] !== 49) {
    throw new CodecError('brcode_version', 0, 'payload must begin with 000201', { path: '00' })
  }
  const last = tape.count - 1
  const crcAt = size - 8
  if (tape.roots[63] !== last || offsetOf(tape, last) !== crcAt) {
    const found = tape.roots[63]!
    const at = found === noParent ? size : offsetOf(tape, found)
    throw new CodecError('brcode_crc_missing', at, 'the last object must be 6304 and the CRC', {
      path: '63',
    })
  }
}

const checkCrc = (tape: BrCodeTape): void => {
  const { bytes, size } = tape
  const at = size - 4
  let declared = 0
  for (let i = at; i < size; i++) {
    const digit = hexDigit(bytes[i]!)
    if (digit < 0) {
      const message = 'the CRC must be four upper-case hexadecimal digits'
      throw new CodecError('brcode_crc_format', i, message, { path: '63' })
    }
    declared = declared * 16 + digit
  }
  const computed = crc16(bytes, 0, at)
  if (declared !== computed) {
    throw new CodecError('brcode_crc', at, 'the CRC does not match the payload', {
      path: '63',
      declared,
      computed,
    })
  }
}

const hexDigit = (code: number): number => {
  if (code >= 48 && code <= 57) return code - 48
  return code >= 65 && code <= 70 ? code - 55 : -1
}

const frameError = (
  code: string,
  tape: BrCodeTape,
  parent: number,
  at: number,
  message: string,
  id?: number,
): CodecError => {
  const above = parent === noParent ? '' : pathOf(tape, parent)
  const own = id === undefined ? '' : idText(id)
  return new CodecError(code, at, message, {
    path: above === '' || own === '' ? above + own : `${above}.${own}`,
  })
}

const duplicate = (tape: BrCodeTape, parent: number, at: number, id: number): CodecError =>
  frameError('brcode_duplicate', tape, parent, at, 'id occurs twice at this level', id)
