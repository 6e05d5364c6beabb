import { CodecError } from '#codecs/bytes'
import { type PixKeyKind, pixKeyKind } from './pix-key.ts'
import {
  type BrCodeTape,
  brcodeBytesMax,
  childOf,
  createTape,
  endOf,
  idOf,
  indexBrCode,
  type LengthUnit,
  noParent,
  offsetOf,
  parentOf,
  pathOf,
  startOf,
} from './tape.ts'
import {
  countCharacters,
  decodeUtf8,
  isAddress,
  isAlphanumeric,
  isAmount,
  isDigits,
  isPrintable,
} from './text.ts'

/** The globally unique identifier (GUI) of Pix templates; case is not significant. */
export const pixGui = 'br.gov.bcb.pix'
/** Value of 62-05 without a txid. */
export const noTxid = '***'
export const nameCharsMax = 25
export const cityCharsMax = 15
export const postalCodeCharsMax = 10
export const amountCharsMax = 13
export const txidCharsMax = 25
/** Keys and addresses. */
export const pixValueCharsMax = 77

/** A fault that a reader should know of but need not refuse. */
type BrCodeWarning = {
  readonly rule: 'lengths_in_characters' | 'dynamic_txid' | 'unknown_key_form'
  readonly path: string
  readonly offset: number
}

/**
 * `static`: the code holds the key. `dynamic`: it holds the address of the charge.
 * `authorization`: only a recurrence to authorise (Pix Automático), nothing to pay now.
 */
type PixCodeKind = 'static' | 'dynamic' | 'authorization'

/**
 * The Pix reading of a code.
 *
 * @property template - the id, 26 to 51, of the template that holds it
 * @property keyKind - undefined when the key has no known form or its check digits differ
 * @property withdrawalProvider - ISPB of who provides the cash of a Pix Saque; in static codes only
 * @property url - address of the charge, without scheme
 * @property recurrenceUrl - address of the recurrence; present in composite codes only
 * @property singleUse - 01 is `12`: the code can be paid once
 * @property txid - undefined if the code has `***` or none
 */
type PixReading = {
  readonly kind: PixCodeKind
  readonly composite: boolean
  readonly template: number
  readonly key: string | undefined
  readonly keyKind: PixKeyKind | undefined
  readonly info: string | undefined
  readonly withdrawalProvider: string | undefined
  readonly url: string | undefined
  readonly recurrenceUrl: string | undefined
  readonly singleUse: boolean
  readonly txid: string | undefined
}

/**
 * The content of a code.
 *
 * @property amount - decimal string as written, such as `10.00`
 * @property pix - undefined if no template is Pix's
 */
export type BrCode = {
  readonly lengthUnit: LengthUnit
  readonly merchantCategoryCode: string
  readonly currency: string
  readonly amount: string | undefined
  readonly country: string
  readonly merchantName: string
  readonly merchantCity: string
  readonly postalCode: string | undefined
  readonly pix: PixReading | undefined
  readonly warnings: readonly BrCodeWarning[]
}

/** A payload on the tape. `ascii` is its text if all is ASCII: then offsets are also string indices. */
export type Indexed = { readonly tape: BrCodeTape; readonly ascii: string | undefined }

const encoder = new TextEncoder()
/** Root objects EMV requires besides 00 and 63. */
const mandatory = [52, 53, 58, 59, 60] as const

/**
 * Puts a payload on a tape of its own.
 *
 * @throws CodecError `brcode_utf8`, and those of `indexBrCode`
 */
export const indexPayload = (payload: string | Uint8Array): Indexed => {
  const isText = typeof payload === 'string'
  const text = isText ? payload : decode(payload)
  const bytes = isText ? encode(payload) : payload
  const size = bytes.length
  const tape = createTape()
  // Each character outside ASCII takes more bytes in UTF-8 than units in UTF-16.
  const ascii = text.length === size
  indexBrCode(tape, bytes, size, ascii)
  return { tape, ascii: ascii ? text : undefined }
}

/** Cuts a text that is too long, just enough to stay over the limit. */
const encode = (text: string): Uint8Array => encoder.encode(text.slice(0, brcodeBytesMax + 1))

const decode = (bytes: Uint8Array): string => {
  try {
    return decodeUtf8(bytes)
  } catch {
    throw new CodecError('brcode_utf8', 0, 'payload must be UTF-8', { path: '' })
  }
}

export const textOf = ({ tape, ascii }: Indexed, index: number): string => {
  const start = startOf(tape, index)
  const end = endOf(tape, index)
  return ascii === undefined
    ? decodeUtf8(tape.bytes.subarray(start, end))
    : ascii.substring(start, end)
}

/**
 * Reads and checks a payload: frame, CRC, the EMV fields, and, if a template is Pix's, every rule of the BR Code
 * manual. Reports the first broken rule.
 *
 * EMV lets root objects stand in any order between 00 and 63; Pix codes must be in ascending order.
 *
 * @param payload - text, or UTF-8 bytes
 * @throws CodecError with `context.path`, the tag path, such as `26.01`; codes: those of
 *   `indexBrCode`, `brcode_utf8`, `brcode_missing`, `brcode_value`, `brcode_order`,
 *   `brcode_pix_template`
 * @example parseBrCode('00020126…63041D3D').pix?.key // '123e4567-e12b-12d1-a456-426655440000'
 */
export const parseBrCode = (payload: string | Uint8Array): BrCode => {
  const indexed = indexPayload(payload)
  const { tape } = indexed
  const template = findPixTemplate(tape, 26, 51)
  const isPix = template !== noParent
  if (isPix) checkOrder(tape)
  checkCommon(tape, isPix)
  const warnings: BrCodeWarning[] = []
  if (tape.lengthUnit === 'characters') {
    warnings.push({ rule: 'lengths_in_characters', path: '', offset: 0 })
  }
  return {
    lengthUnit: tape.lengthUnit,
    merchantCategoryCode: textOf(indexed, tape.roots[52]!),
    currency: isPix ? '986' : textOf(indexed, tape.roots[53]!),
    amount: optionalText(indexed, tape.roots[54]!),
    country: isPix ? 'BR' : textOf(indexed, tape.roots[58]!),
    merchantName: textOf(indexed, tape.roots[59]!),
    merchantCity: textOf(indexed, tape.roots[60]!),
    postalCode: optionalText(indexed, tape.roots[61]!),
    pix: isPix ? readPix(indexed, template, warnings) : undefined,
    warnings,
  }
}

const optionalText = (indexed: Indexed, index: number): string | undefined =>
  index === noParent ? undefined : textOf(indexed, index)

const checkCommon = (tape: BrCodeTape, isPix: boolean): void => {
  const { bytes, roots, size } = tape
  if (!isPix && roots.subarray(2, 52).every((index) => index === noParent)) {
    throw new CodecError('brcode_missing', size, 'no merchant account in 02 to 51', { path: '26' })
  }
  for (let i = 0; i < mandatory.length; i++) {
    const id = mandatory[i]!
    if (roots[id] === noParent) {
      const message = 'a mandatory object is missing'
      throw new CodecError('brcode_missing', size, message, { path: `${id}` })
    }
  }
  checkDigits(tape, 52, 4, 'merchant category code must be four digits')
  checkDigits(tape, 53, 3, 'currency must be three digits')
  checkText(tape, 58, 2)
  if (isPix && !holds(tape, roots[53]!, '986')) throw badValue(tape, 53, 'currency must be 986')
  if (isPix && !holds(tape, roots[58]!, 'BR')) throw badValue(tape, 58, 'country must be BR')
  if (roots[54] !== noParent) {
    const start = startOf(tape, roots[54]!)
    const end = endOf(tape, roots[54]!)
    if (end - start > amountCharsMax || !isAmount(bytes, start, end)) {
      throw badValue(tape, 54, 'amount must be digits with at most two decimals after a point')
    }
  }
  checkText(tape, 59, nameCharsMax)
  checkText(tape, 60, cityCharsMax)
  if (roots[61] !== noParent) checkText(tape, 61, postalCodeCharsMax)
}

/** 00, then ascending; 80 to 99 come before 63, which is last by the frame. */
const checkOrder = (tape: BrCodeTape): void => {
  const index = tape.disordered
  if (index === noParent) return
  throw new CodecError('brcode_order', offsetOf(tape, index), 'ids must ascend, with 63 last', {
    path: pathOf(tape, index),
  })
}

/** The index of the only root template in this range of ids whose GUI is Pix's, or -1. */
const findPixTemplate = (tape: BrCodeTape, first: number, last: number): number => {
  let found = noParent
  for (let at = 0; at < tape.templateCount; at++) {
    const i = tape.templates[at]!
    const id = idOf(tape, i)
    if (id < first || id > last) continue
    const gui = childOf(tape, i, 0)
    if (gui === noParent || !holds(tape, gui, pixGui)) continue
    if (found !== noParent) {
      throw new CodecError('brcode_pix_template', offsetOf(tape, i), 'Pix has two templates', {
        path: pathOf(tape, i),
      })
    }
    found = i
  }
  return found
}

/** True when the value is this text; ASCII letters match in either case where `text` is lower. */
const holds = (tape: BrCodeTape, index: number, text: string): boolean => {
  const start = startOf(tape, index)
  if (endOf(tape, index) - start !== text.length) return false
  for (let i = 0; i < text.length; i++) {
    const want = text.charCodeAt(i)
    const got = tape.bytes[start + i]!
    if (got !== want && !(want >= 97 && (got | 0x20) === want)) return false
  }
  return true
}

const readPix = (indexed: Indexed, template: number, warnings: BrCodeWarning[]): PixReading => {
  const { tape } = indexed
  const recurrence = findPixTemplate(tape, 80, 99)
  const keyAt = childOf(tape, template, 1)
  const urlAt = childOf(tape, template, 25)
  const recurrenceAt = recurrence === noParent ? noParent : childOf(tape, recurrence, 25)
  if (keyAt !== noParent && urlAt !== noParent) {
    throw pixError(tape, template, 'a Pix template holds a key or an address, not both')
  }
  if (recurrence !== noParent && recurrenceAt === noParent) {
    throw pixError(tape, recurrence, 'a recurrence template needs an address in 25')
  }
  if (keyAt === noParent && urlAt === noParent && recurrenceAt === noParent) {
    throw pixError(tape, template, 'a Pix template needs a key in 01 or an address in 25')
  }
  const key = keyAt === noParent ? undefined : textOf(indexed, keyAt)
  const keyKind = key === undefined ? undefined : pixKeyKind(key)
  if (key !== undefined && keyKind === undefined) warnOfKey(tape, keyAt, warnings)
  const isDynamic = urlAt !== noParent
  return {
    kind: isDynamic ? 'dynamic' : key !== undefined ? 'static' : 'authorization',
    composite: recurrenceAt !== noParent,
    template: idOf(tape, template),
    key,
    keyKind,
    info: readInfo(indexed, childOf(tape, template, 2)),
    withdrawalProvider: optionalText(indexed, childOf(tape, template, 3)),
    url: isDynamic ? readAddress(indexed, urlAt) : undefined,
    recurrenceUrl: recurrenceAt === noParent ? undefined : readAddress(indexed, recurrenceAt),
    singleUse: readSingleUse(tape),
    txid: readTxid(indexed, isDynamic, warnings),
  }
}

/** Warns of a key of unknown kind, which must still be printable text. */
const warnOfKey = (tape: BrCodeTape, index: number, warnings: BrCodeWarning[]): void => {
  const start = startOf(tape, index)
  const end = endOf(tape, index)
  if (end - start > pixValueCharsMax || !isPrintable(tape.bytes, start, end)) {
    throw pixError(tape, index, `key must be printable, at most ${pixValueCharsMax} bytes`)
  }
  warnings.push({ rule: 'unknown_key_form', path: pathOf(tape, index), offset: start })
}

const readAddress = (indexed: Indexed, index: number): string => {
  const { tape } = indexed
  const start = startOf(tape, index)
  const end = endOf(tape, index)
  if (end - start > pixValueCharsMax || !isAddress(tape.bytes, start, end)) {
    const form = 'host and path without scheme'
    throw pixError(tape, index, `address must be ${form}, at most ${pixValueCharsMax} characters`)
  }
  return textOf(indexed, index)
}

const readInfo = (indexed: Indexed, index: number): string | undefined => {
  if (index === noParent) return undefined
  const { tape } = indexed
  if (!isPrintable(tape.bytes, startOf(tape, index), endOf(tape, index))) {
    throw pixError(tape, index, 'must be printable text')
  }
  return textOf(indexed, index)
}

const readSingleUse = (tape: BrCodeTape): boolean => {
  const index = tape.roots[1]!
  if (index === noParent || holds(tape, index, '11')) return false
  if (holds(tape, index, '12')) return true
  throw badValue(tape, 1, 'point of initiation must be 11 or 12')
}

const readTxid = (
  indexed: Indexed,
  isDynamic: boolean,
  warnings: BrCodeWarning[],
): string | undefined => {
  const { tape } = indexed
  const additional = tape.roots[62]!
  const index = additional === noParent ? noParent : childOf(tape, additional, 5)
  if (index === noParent || holds(tape, index, noTxid)) return undefined
  const start = startOf(tape, index)
  const end = endOf(tape, index)
  if (end - start > txidCharsMax || !isAlphanumeric(tape.bytes, start, end)) {
    const message = `txid must be 1 to ${txidCharsMax} letters and digits, or ${noTxid}`
    throw pixError(tape, index, message)
  }
  if (isDynamic) warnings.push({ rule: 'dynamic_txid', path: '62.05', offset: start })
  return textOf(indexed, index)
}

const checkDigits = (tape: BrCodeTape, id: number, count: number, message: string): void => {
  const index = tape.roots[id]!
  const start = startOf(tape, index)
  const end = endOf(tape, index)
  if (end - start !== count || !isDigits(tape.bytes, start, end)) throw badValue(tape, id, message)
}

const checkText = (tape: BrCodeTape, id: number, charsMax: number): void => {
  const { bytes } = tape
  const start = startOf(tape, tape.roots[id]!)
  const end = endOf(tape, tape.roots[id]!)
  const fits = end - start <= charsMax || countCharacters(bytes, start, end) <= charsMax
  if (!fits || !isPrintable(bytes, start, end)) {
    throw badValue(tape, id, `must be 1 to ${charsMax} printable characters`)
  }
}

const badValue = (tape: BrCodeTape, id: number, message: string): CodecError =>
  valueError('brcode_value', tape, tape.roots[id]!, message)

const pixError = (tape: BrCodeTape, index: number, message: string): CodecError => {
  const isTemplate = parentOf(tape, index) === noParent
  return valueError(isTemplate ? 'brcode_pix_template' : 'brcode_value', tape, index, message)
}

const valueError = (code: string, tape: BrCodeTape, index: number, message: string): CodecError =>
  new CodecError(code, startOf(tape, index), message, {
    path: pathOf(tape, index),
    length: endOf(tape, index) - startOf(tape, index),
  })
