import type { MacAlgorithm, PinFormat } from '#src/platform/security/index.ts'
import { type KeyUse, type ModuleKey, SecurityModuleError } from './types.ts'

/**
 * Host commands as payShield modules take them: a length of two bytes, a header that the answer repeats, the command's
 * two letters and its body; the answer has the next letter, an error code of two digits, and a body.
 */

/** The header: four characters that tell an answer's command. */
export const headerChars = 4
const codeChars = 2
const errorChars = 2
/** No error. */
const done = '00'

/** A command without its header. `secret` tells nothing to logs: bodies are never shown. */
export type Command = { readonly code: string; readonly body: Uint8Array }

const latin1 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'))

const command = (code: string, ...parts: readonly (string | Uint8Array)[]): Command => ({
  code,
  body: Buffer.concat(parts.map((part) => (typeof part === 'string' ? latin1(part) : part))),
})

/** Under a variant master key of one to three lengths, or a key block. */
const keyForm = /^(?:[0-9A-F]{16}|[UX][0-9A-F]{32}|[TY][0-9A-F]{48}|S[0-9A-Z]{16,512})$/

/** @throws SecurityModuleError for text that is no key, which would change the command */
const keyText = (key: ModuleKey): string => {
  const text = key.reveal()
  if (!keyForm.test(text)) throw new SecurityModuleError('refused', 'key')
  return text
}

const keyTypes: Readonly<Record<KeyUse, string>> = { mac: '008', pin: '001' }
const typeOfBlocks = 'FFF'

/** Algorithm and padding of ISO 9797-1; 6 is CMAC, which pads by itself. */
const macCodes: Readonly<Record<MacAlgorithm, string>> = {
  'x9.9': '11',
  'x9.19': '31',
  'x9.19-80': '32',
  '3des-cbc': '11',
  'aes-cmac': '64',
}

const dataBytesMax = 0xffff

/** M6 of one block of binary data; the code is 16 digits. @throws SecurityModuleError */
export const macCommand = (key: ModuleKey, algorithm: MacAlgorithm, data: Uint8Array): Command => {
  const text = keyText(key)
  if (data.length > dataBytesMax) throw new SecurityModuleError('refused', 'length')
  const type = text.startsWith('S') ? typeOfBlocks : keyTypes.mac
  const length = data.length.toString(16).toUpperCase().padStart(4, '0')
  return command('M6', `001${macCodes[algorithm]}${type}${text}${length}`, data)
}

/** @throws SecurityModuleError `malformed` */
export const macIn = (body: string): Uint8Array => Uint8Array.fromHex(only(body, /^[0-9A-F]{16}$/))

const schemes: Readonly<Record<number, readonly [under: string, wanted: string]>> = {
  16: ['', 'Z'],
  32: ['X', 'U'],
  48: ['Y', 'T'],
}

/** A6, from under the zone key to under the module's own. @throws SecurityModuleError */
export const importCommand = (zone: ModuleKey, use: KeyUse, wrapped: string): Command => {
  const [under, wanted] = schemes[wrapped.length] ?? []
  if (under === undefined || wanted === undefined || !/^[0-9A-F]+$/.test(wrapped)) {
    throw new SecurityModuleError('refused', 'key')
  }
  return command('A6', keyTypes[use], keyText(zone), under, wrapped, wanted)
}

/** @throws SecurityModuleError `malformed` */
export const importedIn = (body: string): { readonly key: string; readonly checkValue: string } => {
  const form = /^([0-9A-F]{16}|U[0-9A-F]{32}|T[0-9A-F]{48})([0-9A-F]{6})$/
  const [, key = '', checkValue = ''] = form.exec(only(body, form)) ?? []
  return { key, checkValue }
}

const pinFormats: Readonly<Record<PinFormat, string | undefined>> = {
  '0': '01',
  '1': '05',
  '3': '47',
  // Sixteen bytes, and another form of the card number, which not every module has.
  '4': undefined,
}
const accountDigits = 12

/** CC, from one zone PIN key to another. @throws SecurityModuleError */
export const pinCommand = (
  block: Uint8Array,
  from: { readonly key: ModuleKey; readonly format: PinFormat },
  to: { readonly key: ModuleKey; readonly format: PinFormat },
  pan: Uint8Array,
): Command => {
  const [given, wanted] = [pinFormats[from.format], pinFormats[to.format]]
  if (given === undefined || wanted === undefined || to.format === '1' || block.length !== 8) {
    throw new SecurityModuleError('refused', 'PIN block')
  }
  const keys = keyText(from.key) + keyText(to.key)
  const hex = Buffer.from(block).toString('hex').toUpperCase()
  // Without its check digit.
  const account = pan.subarray(-1 - accountDigits, -1)
  if (account.length < accountDigits) throw new SecurityModuleError('refused', 'card number')
  return command('CC', keys, '12', hex, given, wanted, account)
}

/** @throws SecurityModuleError `malformed` */
export const pinBlockIn = (body: string): Uint8Array =>
  Uint8Array.fromHex(only(body, /^\d{2}[0-9A-F]{16}\d{2}$/).slice(2, 18))

/** NC: what it is. */
export const diagnosis: Command = command('NC')

/** @throws SecurityModuleError `malformed` */
export const diagnosisIn = (body: string): string => {
  const text = only(body, /^[0-9A-F]{16}[\x20-\x7e]{1,32}$/)
  return `master key check value ${text.slice(0, 6)}, firmware ${text.slice(16)}`
}

/**
 * The body of an answer, without its header.
 *
 * @throws SecurityModuleError `refused` with the module's code, `malformed`
 */
export const answerIn = (code: string, answer: string): string => {
  const next = code.charAt(0) + String.fromCharCode(code.charCodeAt(1) + 1)
  if (answer.slice(0, codeChars) !== next) throw new SecurityModuleError('malformed')
  const error = answer.slice(codeChars, codeChars + errorChars)
  if (!/^[0-9A-Z]{2}$/.test(error)) throw new SecurityModuleError('malformed')
  if (error !== done) throw new SecurityModuleError('refused', error)
  return answer.slice(codeChars + errorChars)
}

const only = (body: string, form: RegExp): string => {
  if (!form.test(body)) throw new SecurityModuleError('malformed')
  return body
}
