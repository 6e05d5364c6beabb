import { CodecError } from '#codecs/bytes'
import { crc16 } from './crc16.ts'
import { PIX_KEY_CHARS_MAX, parsePixKey } from './pix-key.ts'
import {
  AMOUNT_CHARS_MAX,
  CITY_CHARS_MAX,
  NAME_CHARS_MAX,
  NO_TXID,
  PIX_GUI,
  PIX_VALUE_CHARS_MAX,
  POSTAL_CODE_CHARS_MAX,
  TXID_CHARS_MAX,
} from './read.ts'
import { BRCODE_BYTES_MAX } from './tape.ts'

/**
 * What every code carries.
 *
 * @property merchantName - 1 to 25 characters; lengths are written in bytes of UTF-8
 * @property merchantCity - 1 to 15 characters
 * @property amount - decimal string in reais, such as `10.00`
 * @property postalCode - at most 10 characters
 * @property merchantCategoryCode - four digits; `0000` when left out
 */
export type BrCodeMerchant = {
  readonly merchantName: string
  readonly merchantCity: string
  readonly amount?: string | undefined
  readonly postalCode?: string | undefined
  readonly merchantCategoryCode?: string | undefined
}

/**
 * @property key - a Pix key, check digits included
 * @property info - text for the payer; key and info share the 99 bytes of the template
 * @property txid - 1 to 25 letters and digits; `***` is written when left out
 * @property singleUse - writes 01 = 12; 01 is left out otherwise
 */
export type StaticBrCode = BrCodeMerchant & {
  readonly key: string
  readonly info?: string | undefined
  readonly txid?: string | undefined
  readonly singleUse?: boolean | undefined
}

/**
 * @property url - where the charge is: no scheme, at most 77 characters
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

const PIX_GUI_OBJECT = `0014${PIX_GUI}`
/** A Pix template with nothing but its identifier: nothing to pay now. */
const NO_PAYMENT = `26${PIX_GUI_OBJECT.length}${PIX_GUI_OBJECT}`
const DIGITS_4 = /^[0-9]{4}$/
const AMOUNT = /^[0-9]+(?:\.[0-9]{1,2})?$/
/** Host, optional port, path. */
const ADDRESS = /^(?![^/]*:\/\/)[!-.0-~]+\/[!-~]+$/
const CONTROL = /\p{Cc}/u
const TEMPLATE_BYTES_MAX = 99
const TXID_DYNAMIC_CHARS_MIN = 26
const TXID_DYNAMIC_CHARS_MAX = 35
const ENCODER = new TextEncoder()
const SCRATCH = new Uint8Array(BRCODE_BYTES_MAX)
const TWO_DIGITS = Array.from({ length: 100 }, (_, i) => (i < 10 ? `0${i}` : `${i}`))
const HEX = Array.from({ length: 256 }, (_, i) => i.toString(16).toUpperCase().padStart(2, '0'))

/**
 * Writes a static code: the payer's institution reads the key from it.
 *
 * @throws CodecError `brcode_build` (context.path names the object), `brcode_size`, or `pix_key_*`
 * @example buildStaticBrCode({ key: 'a@b.br', merchantName: 'Ana', merchantCity: 'RECIFE' })
 */
export function buildStaticBrCode(code: StaticBrCode): string {
  return write(code, keyTemplate(code.key, code.info), code.txid, code.singleUse === true, '')
}

/**
 * Writes a dynamic code: the payer's institution fetches the charge from the address. Its txid is in
 * the charge, never in the code (`checkTxid` checks one).
 *
 * @throws CodecError as `buildStaticBrCode`
 */
export function buildDynamicBrCode(code: DynamicBrCode): string {
  return write(code, urlTemplate('26', code.url), undefined, code.singleUse !== false, '')
}

/**
 * Writes a composite code.
 *
 * @throws CodecError as `buildStaticBrCode`; also when both `key` and `url` are given, or `info` or
 *   `txid` without `key`
 */
export function buildCompositeBrCode(code: CompositeBrCode): string {
  const { key, url, info, txid } = code
  if (key !== undefined && url !== undefined) throw broken('26', 'give a key or a url, not both')
  if (key === undefined && info !== undefined) throw broken('26.02', 'info needs a key')
  if (key === undefined && txid !== undefined) throw broken('62.05', 'txid needs a key')
  const payment =
    key !== undefined
      ? keyTemplate(key, info)
      : url !== undefined
        ? urlTemplate('26', url)
        : NO_PAYMENT
  const singleUse = code.singleUse ?? url !== undefined
  return write(code, payment, txid, singleUse, urlTemplate('80', code.recurrenceUrl))
}

/**
 * Checks the txid of a charge.
 *
 * @throws CodecError `brcode_build`
 */
export function checkTxid(txid: string, kind: 'static' | 'dynamic'): void {
  const isStatic = kind === 'static'
  const charsMin = isStatic ? 1 : TXID_DYNAMIC_CHARS_MIN
  const charsMax = isStatic ? TXID_CHARS_MAX : TXID_DYNAMIC_CHARS_MAX
  if (txid.length < charsMin || txid.length > charsMax || !isAlphanumericText(txid)) {
    throw broken('62.05', `txid must be ${charsMin} to ${charsMax} letters and digits`)
  }
}

function write(
  merchant: BrCodeMerchant,
  payment: string,
  txid: string | undefined,
  singleUse: boolean,
  recurrence: string,
): string {
  const { amount, merchantCategoryCode, postalCode } = merchant
  if (
    amount !== undefined &&
    (amount.length === 0 || amount.length > AMOUNT_CHARS_MAX || !AMOUNT.test(amount))
  ) {
    const form = 'digits, a point and two decimals'
    throw broken('54', `amount must be ${form}, at most ${AMOUNT_CHARS_MAX} characters`)
  }
  if (merchantCategoryCode !== undefined && !DIGITS_4.test(merchantCategoryCode)) {
    throw broken('52', 'merchant category code must be four digits')
  }
  if (txid !== undefined) checkTxid(txid, 'static')
  const label = txid ?? NO_TXID
  const payload =
    (singleUse ? '000201010212' : '000201') +
    payment +
    (merchantCategoryCode === undefined ? '52040000' : `5204${merchantCategoryCode}`) +
    '5303986' +
    (amount === undefined ? '' : `54${TWO_DIGITS[amount.length]}${amount}`) +
    '5802BR' +
    textObject('59', merchant.merchantName, NAME_CHARS_MAX) +
    textObject('60', merchant.merchantCity, CITY_CHARS_MAX) +
    (postalCode === undefined ? '' : textObject('61', postalCode, POSTAL_CODE_CHARS_MAX)) +
    `62${TWO_DIGITS[label.length + 4]}05${TWO_DIGITS[label.length]}${label}${recurrence}6304`
  const { read, written } = ENCODER.encodeInto(payload, SCRATCH)
  if (read < payload.length || written + 4 > BRCODE_BYTES_MAX) {
    const message = `payload has more than ${BRCODE_BYTES_MAX} bytes`
    throw new CodecError('brcode_size', BRCODE_BYTES_MAX, message, { path: '' })
  }
  const crc = crc16(SCRATCH, 0, written)
  return payload + HEX[crc >> 8]! + HEX[crc & 0xff]!
}

function keyTemplate(key: string, info: string | undefined): string {
  if (key.length > PIX_KEY_CHARS_MAX) {
    throw broken('26.01', `key has more than ${PIX_KEY_CHARS_MAX} characters`)
  }
  parsePixKey(key)
  const keyLength = PIX_GUI_OBJECT.length + 4 + key.length
  if (info === undefined) {
    return `26${TWO_DIGITS[keyLength]}${PIX_GUI_OBJECT}01${TWO_DIGITS[key.length]}${key}`
  }
  const infoLength = printableLength(info)
  if (infoLength < 1) throw broken('26.02', 'info must be printable text')
  const length = keyLength + 4 + infoLength
  if (length > TEMPLATE_BYTES_MAX) {
    throw broken('26', `key and info have ${length} bytes together, ${TEMPLATE_BYTES_MAX} at most`)
  }
  const head = `26${TWO_DIGITS[length]}${PIX_GUI_OBJECT}01${TWO_DIGITS[key.length]}${key}`
  return `${head}02${TWO_DIGITS[infoLength]}${info}`
}

function urlTemplate(id: '26' | '80', url: string): string {
  if (url.length > PIX_VALUE_CHARS_MAX || !ADDRESS.test(url)) {
    const form = `host and path without scheme, at most ${PIX_VALUE_CHARS_MAX} characters`
    throw broken(`${id}.25`, `url must be ${form}`)
  }
  const length = PIX_GUI_OBJECT.length + 4 + url.length
  return `${id}${TWO_DIGITS[length]}${PIX_GUI_OBJECT}25${TWO_DIGITS[url.length]}${url}`
}

/** Lengths are written in bytes, so the limit holds in bytes too. */
function textObject(id: string, text: string, charsMax: number): string {
  const length = text.length > charsMax ? -1 : printableLength(text)
  if (length < 1 || length > charsMax) {
    throw broken(id, `must be printable text of 1 to ${charsMax} bytes of UTF-8`)
  }
  return id + TWO_DIGITS[length] + text
}

/** A loop: half the time of a regular expression on texts this short. */
function isAlphanumericText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const lower = code | 0x20
    if ((code - 48) >>> 0 > 9 && (code > 0x7a || lower < 97 || lower > 122)) return false
  }
  return true
}

/** Bytes of UTF-8 the text takes, or -1 when it holds a control character or half a character. */
function printableLength(text: string): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7e) {
      return CONTROL.test(text) || !text.isWellFormed() ? -1 : ENCODER.encode(text).length
    }
    if (unit < 0x20) return -1
  }
  return text.length
}

function broken(path: string, message: string): CodecError {
  return new CodecError('brcode_build', 0, message, { path })
}
