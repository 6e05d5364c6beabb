import { CodecError } from '#codecs/bytes'
import {
  type DerElement,
  readDer,
  readDerChildren,
  readDerText,
  readObjectIdentifier,
} from './der.ts'

// name = [rdn *("," rdn)]   rdn = pair *("+" pair)   pair = type "=" value
// Read by hand for the reason in der.ts. Sources: RFC 4514 and RFC 2253 (";" as separator, blanks around separators,
// quoted values, "OID." before a dotted type). Comparison: RFC 5280, 7.1: case and runs of blanks do not count.

/** Longest name read. Real ones have about one hundred characters. */
export const nameCharsMax = 1024

const keywords: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'SERIALNUMBER',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'STREET',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.12': 'T',
  '2.5.4.42': 'GIVENNAME',
  '2.5.4.97': 'ORGANIZATIONIDENTIFIER',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'EMAILADDRESS',
}
const types: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(keywords).map(([oid, keyword]) => [keyword, oid])),
  S: '2.5.4.8',
  TITLE: '2.5.4.12',
  E: '1.2.840.113549.1.9.1',
  EMAIL: '1.2.840.113549.1.9.1',
}

type Pair = { readonly type: string; readonly value: string }

/** Canonical text of a name: equal texts mean the same name, in either order of components. */
export type CanonicalName = string & { readonly canonical: unique symbol }

const separator = '\u0001'

const canonicalPair = ({ type, value }: Pair): string =>
  `${type}=${value.trim().replace(/\s+/g, ' ').toLowerCase()}`

/**
 * RFC 2253 writes the last component first and X.509 encodes it first; writers do either. Both
 * directions of a list have the same canonical text.
 */
const canonicalise = (rdns: readonly (readonly Pair[])[]): CanonicalName => {
  const texts = rdns.map((pairs) => pairs.map(canonicalPair).sort().join('+'))
  const directions = [texts.join(separator), texts.toReversed().join(separator)]
  return directions.sort()[0] as CanonicalName
}

const typeOf = (text: string, at: number): string => {
  const name = text.trim().toUpperCase()
  const oid = types[name] ?? name.replace(/^OID\./, '')
  if (!/^\d+(\.\d+)+$/.test(oid)) {
    throw new CodecError('name_type', at, 'attribute type of the name is not known')
  }
  return oid
}

/** Reads one name; a cursor over its characters. */
class NameReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Pair[][] {
    const rdns: Pair[][] = [[]]
    for (;;) {
      rdns.at(-1)!.push(this.#pair())
      const separator = this.#text[this.#at++]
      if (separator === undefined) return rdns
      if (separator !== '+') rdns.push([])
    }
  }

  #fail(message: string): never {
    throw new CodecError('name_syntax', this.#at, message)
  }

  #pair(): Pair {
    const equals = this.#text.indexOf('=', this.#at)
    if (equals < 0) this.#fail('name has a component without "="')
    const type = typeOf(this.#text.slice(this.#at, equals), this.#at)
    this.#at = equals + 1
    while (this.#text[this.#at] === ' ') this.#at++
    if (this.#text[this.#at] === '"') return { type, value: this.#quoted() }
    if (this.#text[this.#at] === '#') return { type, value: this.#encoded() }
    return { type, value: this.#plain() }
  }

  #escape(): string {
    const next = this.#text[this.#at] ?? this.#fail('name ends in an escape')
    if (!/[0-9A-Fa-f]/.test(next)) {
      this.#at++
      return next
    }
    // A run of \XX is the UTF-8 form of some characters.
    const run = /^[0-9A-Fa-f]{2}(\\[0-9A-Fa-f]{2})*/.exec(this.#text.slice(this.#at))
    if (run === null) this.#fail('name holds half an escape')
    this.#at += run[0].length
    return new TextDecoder().decode(Uint8Array.fromHex(run[0].replaceAll('\\', '')))
  }

  #quoted(): string {
    let value = ''
    this.#at++
    for (;;) {
      const char = this.#text[this.#at++] ?? this.#fail('name has an open quotation')
      if (char === '"') break
      value += char === '\\' ? this.#escape() : char
    }
    while (this.#text[this.#at] === ' ') this.#at++
    if (!/^([,;+]|$)/.test(this.#text[this.#at] ?? '')) this.#fail('text follows a quotation')
    return value
  }

  #encoded(): string {
    const hex = /^#([0-9A-Fa-f]{2})+/.exec(this.#text.slice(this.#at))?.[0]
    if (hex === undefined) this.#fail('name holds an empty encoded value')
    this.#at += hex.length
    while (this.#text[this.#at] === ' ') this.#at++
    const bytes = Uint8Array.fromHex(hex.slice(1))
    return readDerText(bytes, readDer(bytes, 0, bytes.length)) ?? hex
  }

  #plain(): string {
    let value = ''
    for (;;) {
      const char = this.#text[this.#at]
      if (char === undefined || char === ',' || char === ';' || char === '+') return value
      if (char === '"') this.#fail('name holds a special character')
      this.#at++
      value += char === '\\' ? this.#escape() : char
    }
  }
}

/**
 * Reads a name as RFC 2253 or 4514 writes it, in any spacing, order of components and spelling of
 * attribute types, into a text that is equal for equal names.
 *
 * @throws CodecError `name_length`, `name_syntax`, `name_type`
 * @example parseName('CN=AC Teste,O=ICP-Brasil') === parseName('o=icp-brasil, cn=AC  Teste') // true
 */
export const parseName = (text: string): CanonicalName => {
  if (text.length > nameCharsMax) {
    throw new CodecError('name_length', nameCharsMax, 'name is too long', {
      length: text.length,
      lengthMax: nameCharsMax,
    })
  }
  return canonicalise(new NameReader(text.trim()).read())
}

const context0 = 0xa0
const integer = 0x02

/** The issuer's components in the order of their encoding. */
const readIssuer = (certificate: Uint8Array): Pair[][] => {
  const outer = readDer(certificate, 0, certificate.length)
  const tbs = readDer(certificate, outer.from, outer.to)
  const fields = readDerChildren(certificate, tbs)
  // TBSCertificate: [0] version (absent in v1), serialNumber, signature, issuer, …
  const first = fields[0]?.tag === context0 ? 1 : 0
  const issuer = fields[first + 2]
  if (fields[first]?.tag !== integer || issuer === undefined) {
    throw new CodecError('der', outer.from, 'the bytes are not a certificate')
  }
  return readDerChildren(certificate, issuer).map((set) =>
    readDerChildren(certificate, set).map((pair) => readPair(certificate, pair)),
  )
}

const readPair = (bytes: Uint8Array, element: DerElement): Pair => {
  const [type, value] = readDerChildren(bytes, element)
  const text = value === undefined ? undefined : readDerText(bytes, value)
  if (type === undefined || text === undefined) {
    throw new CodecError('der', element.from, 'a component of the name holds no text')
  }
  return { type: readObjectIdentifier(bytes, type), value: text }
}

/** RFC 2253, 2.4. */
const escapeValue = (value: string): string =>
  value
    .replace(/[,+"\\<>;=]/g, (char) => `\\${char}`)
    .replace(/^[# ]/, (char) => `\\${char}`)
    .replace(/(?<!\\) $/, '\\ ')

/**
 * The issuer of an X.509 certificate as `X509IssuerName` holds it: RFC 2253 order, comma and blank
 * between components.
 *
 * @param certificate - DER
 * @throws CodecError `der`
 */
export const issuerText = (certificate: Uint8Array): string =>
  readIssuer(certificate)
    .toReversed()
    .map((pairs) =>
      pairs.map(({ type, value }) => `${keywords[type] ?? type}=${escapeValue(value)}`).join('+'),
    )
    .join(', ')

/**
 * The issuer of a certificate in the form that {@link parseName} gives.
 *
 * @param certificate - DER
 * @throws CodecError `der`
 */
export const canonicalIssuer = (certificate: Uint8Array): CanonicalName =>
  canonicalise(readIssuer(certificate))
