import { type Finding, findNumbers, hasLongRun, type SensitiveKind } from './digits.ts'
import { isOpaque, nameKind, withoutIdentifiers } from './identifier.ts'

const formattedCpf = /(?<![0-9A-Za-z])\d{3}\.\d{3}\.\d{3}-\d{2}(?![0-9A-Za-z])/g
const formattedCnpj =
  /(?<![0-9A-Za-z])[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2}(?![0-9A-Za-z])/g
const formattedHint = /\.\d{3}-\d\d|\/[0-9A-Z]{4}-\d\d/
const hidden = '***'

const numbersIn = (text: string): readonly Finding[] =>
  hasLongRun(text) ? findNumbers(withoutIdentifiers(text)) : []

/** The kind of thing in the text that must not be shown or kept, if any; a card number counts before all others. */
export const findSensitive = (text: string): SensitiveKind | undefined => {
  const numbers = numbersIn(text)
  if (numbers.length > 0) {
    return numbers.some(({ kind }) => kind === 'card number') ? 'card number' : 'document'
  }
  if (holdsCredential(text)) return 'credential'
  if (!formattedHint.test(text)) return undefined
  return text.search(formattedCpf) >= 0 || text.search(formattedCnpj) >= 0 ? 'document' : undefined
}

/**
 * The same for a value that a caller chose to name something with, and that we would keep as it is: an
 * `Idempotency-Key`, an `X-Request-Id`, a token. The random values of the usual generators (UUID, ULID, 32, 40 or 64
 * hexadecimal digits) never pass for a card number.
 */
export const findInIdentifier = (value: string): SensitiveKind | undefined =>
  isOpaque(value) ? undefined : findSensitive(value)

/**
 * The text with what must not be shown replaced: card numbers wherever they stand among other digits, CPF and CNPJ, API
 * keys and other credentials, private keys, passwords of URLs. UUIDs and identifiers of payments and chains stay.
 */
export const scrub = (text: string): string => {
  const rest = withoutCredentials(withoutNumbers(text))
  return formattedHint.test(rest)
    ? rest.replaceAll(formattedCpf, '[document]').replaceAll(formattedCnpj, '[document]')
    : rest
}

/**
 * The text without card numbers and credentials; what it says of persons stays. For answers: a caller that sent a wrong
 * CPF may read it there, while nobody gets back a secret from the wrong field, because answers are kept and forwarded.
 */
export const withoutSecrets = (text: string): string =>
  withoutCredentials(withoutNumbers(text, ({ kind }) => kind === 'card number'))

const withoutNumbers = (
  text: string,
  isHidden: (finding: Finding) => boolean = () => true,
): string => {
  const found = numbersIn(text).filter(isHidden)
  if (found.length === 0) return text
  let out = ''
  let copied = 0
  for (const { start, end, kind } of found) {
    out += `${text.slice(copied, start)}[${kind}]`
    copied = end
  }
  return out + text.slice(copied)
}

/**
 * A JSON value with each of its texts and numbers scrubbed: fields known to hold identifiers are left as they are,
 * those known to hold secrets are hidden whole, all others are searched.
 */
export const scrubFields = (value: unknown, name = ''): unknown => {
  if (value === null || typeof value === 'boolean') return value
  const kind = name === '' ? undefined : nameKind(name)
  if (kind === 'secret') return hidden
  if (typeof value === 'string') return kind === 'identifier' ? value : scrub(value)
  if (typeof value === 'number') return kind === 'identifier' ? value : scrubNumber(value)
  if (Array.isArray(value)) return value.map((item) => scrubFields(item, name))
  if (typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [scrub(key), scrubFields(item, key)]),
  )
}

/** A JSON value whose texts and numbers are as of {@link withoutSecrets}. */
export const valueWithoutSecrets = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutSecrets(value)
  if (typeof value === 'number') {
    const shown = withoutSecrets(String(value))
    return shown === String(value) ? value : shown
  }
  if (Array.isArray(value)) return value.map(valueWithoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [withoutSecrets(key), valueWithoutSecrets(item)]),
  )
}

const scrubNumber = (value: number): number | string => {
  const text = String(value)
  const shown = scrub(text)
  return shown === text ? value : shown
}

/**
 * Besides numbers, we search a line for a part of every form and name that is not shown, and for escapes, whose digits
 * would hide a number that follows them.
 */
const lineHint =
  /trl_|whs(?:ec|k)_|private|master|bearer|basic|:\/\/|pass|pwd|secret|api[_-]?key|token|authorization|cookie|"pan"|card|"cv|"pin|track|\.\d{3}-\d\d|\/[0-9A-Z]{4}-\d\d|\\u/i

/** One line of JSON, as `scrubFields`; a line that cannot hold anything secret is returned as it is. */
export const scrubLine = (line: string): string => {
  if (!lineHint.test(line) && !mayHoldUser(line) && numbersIn(line).length === 0) return line
  try {
    return `${JSON.stringify(scrubFields(JSON.parse(line)))}\n`
  } catch {
    return scrub(line)
  }
}

/** A form of secret, and what is written in its place. */
type CredentialForm = { readonly form: RegExp; readonly shown: string }

/** The ends of secrets' names; anything may stand before them, as in `client_secret` and `PGPASSWORD`. */
const secretName =
  'passw(?:ord|d)|passphrase|pwd|secret|(?:api|private|master)[_-]?key|(?:access|refresh|session|auth|id)[_-]?token'

const credentialForms: readonly CredentialForm[] = [
  {
    // A key that was cut off counts to the end of the text.
    form: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
    shown: '[private key]',
  },
  { form: /\btrl_(live|test)_([0-9A-Za-z]{1,32})_[0-9A-Za-z]+/g, shown: 'trl_$1_$2_***' },
  { form: /\bwhs(ec|k)_(?!\*)[A-Za-z0-9+/=_-]+/g, shown: 'whs$1_***' },
  { form: /\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]+/gi, shown: '$1$2***' },
  {
    // The password of a URL, with unescaped `/` and `@` in it too; `host:port/…@` is none.
    form: /(:\/\/[^\s/:@"'<>]*):(?!\d{1,5}[/?#])(?!\*\*\*@)[^\s"'<>]{1,1000}@/g,
    shown: '$1:***@',
  },
  {
    // The same without a scheme: `user:password@host`.
    form: /(?<![\w.%+-])([\w.%+-]{1,64}):(?!\*\*\*@)[^\s:/@?#"'<>]{1,256}@(?=[\w[])/g,
    shown: '$1:***@',
  },
  {
    form: new RegExp(
      `(${secretName})(\\s*=\\s*)(?!\\*\\*\\*|\\[private)(?:'[^']*'?|[^\\s&;"',]+)`,
      'gi',
    ),
    shown: '$1$2***',
  },
  {
    // In a text that is JSON, or JSON within JSON: up to a quote that is escaped as the first one, else to the end.
    form: new RegExp(
      `(${secretName})(\\\\{0,7}["']\\s*:\\s*)(\\\\{0,7}["'])(?!\\*\\*\\*|\\[private)(?:[\\s\\S]*?(?<!\\\\)\\3|[\\s\\S]*$)`,
      'gi',
    ),
    shown: '$1$2$3***$3',
  },
  {
    // Security codes and PINs, in a text that is itself JSON or a form.
    form: /\b(cvv2?|cvc2?|pin)(\\*["']?\s*[:=]\s*\\*["']?)\d{3,12}\b/gi,
    shown: '$1$2***',
  },
]

const hint = /trl_|whs(?:ec|k)_|private key|bearer|basic|:\/\/|\bcv[vc]|\bpin\b/i
const nameHint = new RegExp(secretName, 'i')
const userHint = /:[^\s/:@?#"'<>]{1,256}@/

const mayHoldUser = (text: string): boolean => text.includes('@') && userHint.test(text)

/** A secret has a name only where something is assigned, and a member of JSON has its name in quotes. */
const mayHoldNamed = (text: string): boolean =>
  (text.includes('=') || text.includes('"') || text.includes("'")) && nameHint.test(text)

/** False: no credential can be in the text, and most texts end here. */
const mayHoldCredential = (text: string): boolean =>
  hint.test(text) || mayHoldNamed(text) || mayHoldUser(text)

const holdsCredential = (text: string): boolean =>
  mayHoldCredential(text) && credentialForms.some(({ form }) => text.search(form) >= 0)

const withoutCredentials = (text: string): string =>
  mayHoldCredential(text)
    ? credentialForms.reduce((rest, { form, shown }) => rest.replaceAll(form, shown), text)
    : text
