import fc from 'fast-check'
import { crc16 } from '#codecs/brcode'
import { CodecError } from '#codecs/bytes'

/** Published examples of the central bank, with their CRC. */
export const official = {
  static:
    '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
  dynamic:
    '00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4',
  authorization:
    '00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002630462C9',
  chargeAndRecurrence:
    '00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa35319489063047741',
  dueChargeAndRecurrence:
    '00020101021226810014br.gov.bcb.pix2559pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e75204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/3ffa640fa4f14080adccb949fa2dc0d06304A441',
} as const

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The payload with the CRC it should have; `text` ends before `6304`. */
export const sealed = (text: string): string => {
  const open = `${text}6304`
  return open + crc16(bytesOf(open)).toString(16).toUpperCase().padStart(4, '0')
}

/** One data object, its length counted in bytes. */
export const tlv = (id: string, value: string): string =>
  id + String(bytesOf(value).length).padStart(2, '0') + value

/** The code, tag path and offset of the error; anything but a CodecError goes through. */
export const refusal = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof CodecError) {
      return `${error.code} ${error.context['path'] ?? ''} @${error.offset}`
    }
    throw error
  }
  return 'accepted'
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789']
const lowerAlnum = [...'abcdefghijklmnopqrstuvwxyz0123456789']
const string = (units: readonly string[], minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...units), minLength, maxLength })

const checkDigits = (base: string, weightMax: number): string => {
  let text = base
  for (let round = 0; round < 2; round++) {
    let sum = 0
    for (let i = 0; i < text.length; i++) {
      const weight = ((text.length - 1 - i) % (weightMax - 1)) + 2
      sum += (text.charCodeAt(i) - 48) * weight
    }
    const rest = sum % 11
    text += rest < 2 ? '0' : String(11 - rest)
  }
  return text
}

const digits = [...'0123456789']
const notRepeated = (text: string) => new Set(text).size > 1

export const cpf = string(digits, 9, 9)
  .filter(notRepeated)
  .map((base) => checkDigits(base, 11))
export const cnpj = string([...digits, ...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'], 12, 12)
  .filter(notRepeated)
  .map((base) => checkDigits(base, 9))
export const phone = fc
  .tuple(fc.constantFrom('11', '21', '61', '99'), string(digits, 8, 8))
  .map(([area, rest]) => `+55${area}9${rest}`)
export const email = fc
  .tuple(string(lowerAlnum, 1, 20), string(lowerAlnum, 1, 20))
  .map(([user, host]) => `${user}@${host}.com.br`)
export const evp = fc.uuid()
export const pixKey = fc.oneof(cpf, cnpj, phone, email, evp)

export const amount = fc
  .bigInt({ min: 1n, max: 999_999_999_999n })
  .map((cents) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`)
export const txid = string(letters, 1, 25)
export const asciiText = (charsMax: number) =>
  string([...letters, ' ', '.', '-'], 1, charsMax)
    .map((text) => text.trim())
    .filter((text) => text.length > 0)
/** Printable text of any script whose UTF-8 fits. */
export const anyText = (bytesMax: number) =>
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: bytesMax })
    .filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text))
    .filter((text) => bytesOf(text).length <= bytesMax)
export const address = fc
  .tuple(string(lowerAlnum, 1, 20), string(lowerAlnum, 1, 40))
  .map(([host, path]) => `${host}.example.com/${path}`)
