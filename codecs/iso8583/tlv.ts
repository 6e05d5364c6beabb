import { CodecError } from '#codecs/bytes'
import { toHex } from './characters.ts'

/** One BER-TLV data object of ICC data: the tag as upper-case hexadecimal digits. No copy of the value. */
type Tlv = { readonly tag: string; readonly value: Uint8Array }

/** This byte may stand before, between and after data objects, and means nothing. */
const filler = 0
const tagBytesMax = 3
const lengthBytesMax = 2
/** How many templates may be inside each other. */
export const templatesMax = 4

/**
 * Data objects in their order, unknown ones too. EMV Book 3, annex B.
 *
 * @throws CodecError `tlv_truncated`, `tlv_tag`, `tlv_length`
 */
export const parseTlv = (bytes: Uint8Array): Tlv[] => {
  const found: Tlv[] = []
  let at = 0
  while (at < bytes.length) {
    if (bytes[at] === filler) {
      at++
      continue
    }
    const tagStart = at
    at = tagEnd(bytes, at)
    const tag = toHex(bytes.subarray(tagStart, at))
    const first = bytes[at]
    if (first === undefined) refuse('tlv_truncated', at, 'the data ends before a length')
    at++
    let length = first
    if (first >= 0x80) {
      const count = first & 0x7f
      if (count === 0 || count > lengthBytesMax) refuse('tlv_length', at - 1, 'one or two bytes')
      if (at + count > bytes.length) refuse('tlv_truncated', at, 'the data ends within a length')
      length = 0
      for (let i = 0; i < count; i++) length = length * 256 + bytes[at++]!
    }
    if (at + length > bytes.length) refuse('tlv_truncated', at, 'the data ends within a value')
    found.push({ tag, value: bytes.subarray(at, at + length) })
    at += length
  }
  return found
}

/** Whether the value of the object is data objects itself: the object is a template. */
export const isTemplate = (tag: string): boolean =>
  (Number.parseInt(tag.slice(0, 2), 16) & 0x20) !== 0

/**
 * The data objects that are not templates, in their order, with those inside templates.
 *
 * @throws CodecError as {@link parseTlv}, and `tlv_depth`
 */
export const parseTlvWithin = (bytes: Uint8Array, templatesLeft = templatesMax): Tlv[] =>
  parseTlv(bytes).flatMap((object) => {
    if (!isTemplate(object.tag)) return [object]
    if (templatesLeft === 0) refuse('tlv_depth', 0, `at most ${templatesMax} templates`)
    return parseTlvWithin(object.value, templatesLeft - 1)
  })

const tagEnd = (bytes: Uint8Array, start: number): number => {
  let at = start + 1
  if ((bytes[start]! & 0x1f) !== 0x1f) return at
  for (;;) {
    const byte = bytes[at]
    if (byte === undefined) refuse('tlv_truncated', at, 'the data ends within a tag')
    at++
    if (at - start > tagBytesMax) refuse('tlv_tag', start, `at most ${tagBytesMax} bytes`)
    if ((byte & 0x80) === 0) return at
  }
}

/** Writes data objects with the shortest lengths. Tags must be whole bytes of hexadecimal digits, and begin with another than 00. */
export const writeTlv = (objects: readonly Tlv[]): Uint8Array => {
  const parts: number[] = []
  for (const { tag, value } of objects) {
    if (!/^(?!00)([0-9A-Fa-f]{2}){1,3}$/.test(tag)) {
      refuse('tlv_tag', parts.length, 'one to three bytes, of which the first is not 00')
    }
    for (let i = 0; i < tag.length; i += 2) parts.push(Number.parseInt(tag.slice(i, i + 2), 16))
    const { length } = value
    if (length > 0xffff) refuse('tlv_length', parts.length, 'at most 65535')
    if (length > 0xff) parts.push(0x82, length >> 8, length & 255)
    else if (length > 0x7f) parts.push(0x81, length)
    else parts.push(length)
    for (const byte of value) parts.push(byte)
  }
  return Uint8Array.from(parts)
}

function refuse(code: string, offset: number, rule: string): never {
  throw new CodecError(code, offset, `field 55: ${rule}`, { field: '55', rule })
}
