import { CodecError } from '#codecs/bytes'
import { isCnpj, isCpf } from '#codecs/taxpayer'

/** The kinds of Pix key, as the key directory (DICT) names them in lower case. */
const pixKeyKinds = ['cpf', 'cnpj', 'phone', 'email', 'evp'] as const
export type PixKeyKind = (typeof pixKeyKinds)[number]

/** Longest Pix key: an e-mail address of 77 characters. */
export const pixKeyCharsMax = 77

/** Area codes in use (ANATEL numbering plan). */
const areaCodes = new Set(
  [
    '11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 49',
    '51 53 54 55 61 62 63 64 65 66 67 68 69 71 73 74 75 77 79 81 82 83 84 85 86 87 88 89',
    '91 92 93 94 95 96 97 98 99',
  ]
    .join(' ')
    .split(' '),
)

const evp = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const digits11 = /^[0-9]{11}$/
const cnpj = /^[0-9A-Z]{12}[0-9]{2}$/
const phone = /^\+[1-9][0-9]{1,14}$/
const phoneBrazil = /^\+55([0-9]{2})(9[0-9]{8}|[2-5][0-9]{7})$/
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const email = new RegExp(`^[a-z0-9.!#$&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*$`)

/**
 * The kind of a Pix key in the directory's canonical form, or undefined if it is not one: digits only for CPF,
 * `[0-9A-Z]{12}[0-9]{2}` for CNPJ, E.164 for phones, lower case for e-mail and EVP. Check digits and, for Brazilian
 * phones, the area code are verified.
 *
 * Source: DICT API, schema of keys; check digits: Receita Federal (alphanumeric CNPJ: IN 2.229/2024).
 */
export const pixKeyKind = (key: string): PixKeyKind | undefined => {
  const form = formOf(key)
  return form !== undefined && ruleBroken(form, key) === undefined ? form : undefined
}

/**
 * Checks a Pix key.
 *
 * @throws CodecError `pix_key_form` if no kind has this form, `pix_key_check_digits`,
 *   `pix_key_area_code` or `pix_key_length`; messages never hold the key
 * @example parsePixKey('12ABC34501DE35') // 'cnpj'
 */
export const parsePixKey = (key: string): PixKeyKind => {
  const form = formOf(key)
  if (form === undefined) {
    const message =
      'key must be a CPF or CNPJ without punctuation, +country number, e-mail or EVP in lower case'
    throw new CodecError('pix_key_form', 0, message, { length: key.length })
  }
  const broken = ruleBroken(form, key)
  if (broken !== undefined) {
    throw new CodecError(broken[0], 0, broken[1], { kind: form, length: key.length })
  }
  return form
}

const formOf = (key: string): PixKeyKind | undefined => {
  if (key.length === 36 && evp.test(key)) return 'evp'
  if (key.length === 11 && digits11.test(key)) return 'cpf'
  if (key.length === 14 && cnpj.test(key)) return 'cnpj'
  if (phone.test(key)) return 'phone'
  return key.length > 0 && email.test(key) ? 'email' : undefined
}

const ruleBroken = (kind: PixKeyKind, key: string): readonly [string, string] | undefined => {
  switch (kind) {
    case 'evp':
      return undefined
    case 'cpf':
      return isCpf(key) ? undefined : ['pix_key_check_digits', 'the check digits of the CPF differ']
    case 'cnpj':
      return isCnpj(key)
        ? undefined
        : ['pix_key_check_digits', 'the check digits of the CNPJ differ']
    case 'phone':
      return isPhone(key)
        ? undefined
        : ['pix_key_area_code', 'a number of +55 needs an area code in use and 8 or 9 digits']
    case 'email':
      return key.length <= pixKeyCharsMax
        ? undefined
        : ['pix_key_length', `an e-mail key has at most ${pixKeyCharsMax} characters`]
  }
}

const isPhone = (key: string): boolean => {
  if (!key.startsWith('+55')) return true
  const area = phoneBrazil.exec(key)?.[1]
  return area !== undefined && areaCodes.has(area)
}
