import { CodecError } from '#codecs/bytes'
import { crc16 } from './crc16.ts'
import { parsePixKey, pixKeyCharsMax } from './pix-key.ts'
import {
  amountCharsMax,
  cityCharsMax,
  nameCharsMax,
  noTxid,
  pixGui,
  pixValueCharsMax,
  postalCodeCharsMax,
  txidCharsMax,
} from './read.ts'
import { brcodeBytesMax } from './tape.ts'

/**
 * The fields of every code.
 *
 * @property merchantName - 1 to 25 characters; lengths are written in bytes of UTF-8
 * @property merchantCity - 1 to 15 characters
 * @property amount - decimal string in reais, such as `10.00`, above zero
 * @property postalCode - at most 10 characters
 * @property merchantCategoryCode - four digits; `0000` by default
 */
type BrCodeMerchant = {
  readonly merchantName: string
  readonly merchantCity: string
  readonly amount?: string | undefined
  readonly postalCode?: string | undefined
  readonly merchantCategoryCode?: string | undefined
}

/**
 * @property key - a Pix key, check digits included
 * @property info - text for the payer; key and info together fit the 99 bytes of the template
 * @property txid - 1 to 25 letters and digits; `***` by default
 * @property singleUse - writes 01 = 12; 01 is left out otherwise
 */
export type StaticBrCode = BrCodeMerchant & {
  readonly key: string
  readonly info?: string | undefined
  readonly txid?: string | undefined
  readonly singleUse?: boolean | undefined
}

/**
 * @property url - address of the charge: no scheme, at most 77 characters
 * @property singleUse - 01 = 12, the default; false leaves 01 out
 */
export type DynamicBrCode = BrCodeMerchant & {
  readonly url: string
  readonly singleUse?: boolean | undefined
}

/**
 * A code that also, or only, asks to authorise a recurrence (Pix Automático): with `key` the payment
 * is static, with `url` dynamic, with neither there is none.
 */
export type CompositeBrCode = BrCodeMerchant & {
  readonly recurrenceUrl: string
  readonly key?: string | undefined
  readonly url?: string | undefined
  readonly info?: string | undefined
  readonly txid?: string | undefined
  readonly singleUse?: boolean | undefined
}

const pixGuiObject = `0014${pixGui}`
/** A Pix template with only its identifier: there is nothing to pay now. */
const noPayment = `26${pixGuiObject.length}${pixGuiObject}`
const digits4 = /^[0-9]{4}$/
const amountForm = /^[0-9]+(?:\.[0-9]{1,2})?$/
const zeros = /^[0.]+$/
/** Host, optional port, path. */
const address = /^(?![^/]*:\/\/)[!-.0-~]+\/[!-~]+$/
const control = /\p{Cc}/u
const templateBytesMax = 99
const txidDynamicCharsMin = 26
const txidDynamicCharsMax = 35
const encoder = new TextEncoder()
const twoDigits = Array.from({ length: 100 }, (_, i) => (i < 10 ? `0${i}` : `${i}`))
const hex = Array.from({ length: 256 }, (_, i) => i.toString(16).toUpperCase().padStart(2, '0'))

/**
 * Writes a static code: the payer's institution reads the key from it.
 *
 * @throws CodecError `brcode_build` (context.path names the object), `brcode_size`, or `pix_key_*`
 * @example buildStaticBrCode({ key: 'a@b.br', merchantName: 'Ana', merchantCity: 'RECIFE' })
 */
export const buildStaticBrCode = (code: StaticBrCode): string =>
  write(code, keyTemplate(code.key, code.info), code.txid, code.singleUse === true, '')

/**
 * Writes a dynamic code: the payer's institution fetches the charge from the address. Its txid is in
 * the charge, never in the code (`checkTxid` checks one).
 *
 * @throws CodecError as `buildStaticBrCode`
 */
export const buildDynamicBrCode = (code: DynamicBrCode): string =>
  write(code, urlTemplate('26', code.url), undefined, code.singleUse !== false, '')

/**
 * Writes a composite code.
 *
 * @throws CodecError as `buildStaticBrCode`; also if both `key` and `url` are given, or `info` or `txid` without `key`
 */
export const buildCompositeBrCode = (code: CompositeBrCode): string => {
  const { key, url, info, txid } = code
  if (key !== undefined && url !== undefined) throw broken('26', 'give a key or a url, not both')
  if (key === undefined && info !== undefined) throw broken('26.02', 'info needs a key')
  if (key === undefined && txid !== undefined) throw broken('62.05', 'txid needs a key')
  const payment =
    key !== undefined
      ? keyTemplate(key, info)
      : url !== undefined
        ? urlTemplate('26', url)
        : noPayment
  const singleUse = code.singleUse ?? url !== undefined
  return write(code, payment, txid, singleUse, urlTemplate('80', code.recurrenceUrl))
}

/**
 * Checks the txid of a charge.
 *
 * @throws CodecError `brcode_build`
 */
export const checkTxid = (txid: string, kind: 'static' | 'dynamic'): void => {
  const isStatic = kind === 'static'
  const charsMin = isStatic ? 1 : txidDynamicCharsMin
  const charsMax = isStatic ? txidCharsMax : txidDynamicCharsMax
  if (txid.length < charsMin || txid.length > charsMax || !isAlphanumericText(txid)) {
    throw broken('62.05', `txid must be ${charsMin} to ${charsMax} letters and digits`)
  }
}

const write = (
  merchant: BrCodeMerchant,
  payment: string,
  txid: string | undefined,
  singleUse: boolean,
  recurrence: string,
): string => {
  const { amount, merchantCategoryCode, postalCode } = merchant
  if (
    amount !== undefined &&
    (amount.length === 0 || amount.length > amountCharsMax || !amountForm.test(amount))
  ) {
    const form = 'digits, a point and two decimals'
    throw broken('54', `amount must be ${form}, at most ${amountCharsMax} characters`)
  }
  // EMV, table 3.5: if the payer chooses the amount, the field is absent, never zero.
  if (amount !== undefined && zeros.test(amount)) throw broken('54', 'amount must be above zero')
  if (merchantCategoryCode !== undefined && !digits4.test(merchantCategoryCode)) {
    throw broken('52', 'merchant category code must be four digits')
  }
  if (txid !== undefined) checkTxid(txid, 'static')
  const label = txid ?? noTxid
  const payload =
    (singleUse ? '000201010212' : '000201') +
    payment +
    (merchantCategoryCode === undefined ? '52040000' : `5204${merchantCategoryCode}`) +
    '5303986' +
    (amount === undefined ? '' : `54${twoDigits[amount.length]}${amount}`) +
    '5802BR' +
    textObject('59', merchant.merchantName, nameCharsMax) +
    textObject('60', merchant.merchantCity, cityCharsMax) +
    (postalCode === undefined ? '' : textObject('61', postalCode, postalCodeCharsMax)) +
    `62${twoDigits[label.length + 4]}05${twoDigits[label.length]}${label}${recurrence}6304`
  const bytes = encoder.encode(payload)
  if (bytes.length + 4 > brcodeBytesMax) {
    const message = `payload has more than ${brcodeBytesMax} bytes`
    throw new CodecError('brcode_size', brcodeBytesMax, message, { path: '' })
  }
  const crc = crc16(bytes, 0, bytes.length)
  return payload + hex[crc >> 8]! + hex[crc & 0xff]!
}

const keyTemplate = (key: string, info: string | undefined): string => {
  if (key.length > pixKeyCharsMax) {
    throw broken('26.01', `key has more than ${pixKeyCharsMax} characters`)
  }
  parsePixKey(key)
  const keyLength = pixGuiObject.length + 4 + key.length
  if (info === undefined) {
    return `26${twoDigits[keyLength]}${pixGuiObject}01${twoDigits[key.length]}${key}`
  }
  const infoLength = printableLength(info)
  if (infoLength < 1) throw broken('26.02', 'info must be printable text')
  const length = keyLength + 4 + infoLength
  if (length > templateBytesMax) {
    throw broken('26', `key and info have ${length} bytes together, ${templateBytesMax} at most`)
  }
  const head = `26${twoDigits[length]}${pixGuiObject}01${twoDigits[key.length]}${key}`
  return `${head}02${twoDigits[infoLength]}${info}`
}

const urlTemplate = (id: '26' | '80', url: string): string => {
  if (url.length > pixValueCharsMax || !address.test(url)) {
    const form = `host and path without scheme, at most ${pixValueCharsMax} characters`
    throw broken(`${id}.25`, `url must be ${form}`)
  }
  const length = pixGuiObject.length + 4 + url.length
  return `${id}${twoDigits[length]}${pixGuiObject}25${twoDigits[url.length]}${url}`
}

/** Lengths are written in bytes, so the limit holds in bytes too. */
const textObject = (id: string, text: string, charsMax: number): string => {
  const length = text.length > charsMax ? -1 : printableLength(text)
  if (length < 1 || length > charsMax) {
    throw broken(id, `must be printable text of 1 to ${charsMax} bytes of UTF-8`)
  }
  return id + twoDigits[length] + text
}

/** A loop takes half the time of a regular expression on texts this short. */
const isAlphanumericText = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const lower = code | 0x20
    if ((code - 48) >>> 0 > 9 && (code > 0x7a || lower < 97 || lower > 122)) return false
  }
  return true
}

/** Bytes of the text in UTF-8, or -1 if it holds a control character or half a character. */
const printableLength = (text: string): number => {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7e) {
      return control.test(text) || !text.isWellFormed() ? -1 : encoder.encode(text).length
    }
    if (unit < 0x20) return -1
  }
  return text.length
}

const broken = (path: string, message: string): CodecError =>
  new CodecError('brcode_build', 0, message, { path })
