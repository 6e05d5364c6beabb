import { CodecError } from '#codecs/bytes'

// Parsed by hand: the smallest library, asn1js, takes 11 ms of CPU and 7 MB at each start, @peculiar/x509 72 ms
// and 20 MB; `X509Certificate.issuer` uses OpenSSL's names of types, which do not lead back to object identifiers.

/** One DER element: tag, and where its content lies. */
export type DerElement = { readonly tag: number; readonly from: number; readonly to: number }

const lengthOctetsMax = 4

/**
 * Reads the header of the DER element at `at`.
 *
 * @throws CodecError `der` if the element is truncated or its length has another form
 */
export const readDer = (bytes: Uint8Array, at: number, end: number): DerElement => {
  const fail = (): never => {
    throw new CodecError('der', at, 'the certificate is not well-formed DER')
  }
  if (at + 2 > end) fail()
  const tag = bytes[at]!
  let length = bytes[at + 1]!
  let from = at + 2
  if (length >= 0x80) {
    const octets = length & 0x7f
    if (octets === 0 || octets > lengthOctetsMax || from + octets > end) fail()
    length = 0
    for (let i = 0; i < octets; i++) length = length * 256 + bytes[from + i]!
    from += octets
  }
  if (from + length > end) fail()
  return { tag, from, to: from + length }
}

/** The elements inside another. */
export const readDerChildren = (bytes: Uint8Array, parent: DerElement): readonly DerElement[] => {
  const children: DerElement[] = []
  for (let at = parent.from; at < parent.to; ) {
    const child = readDer(bytes, at, parent.to)
    children.push(child)
    at = child.to
  }
  return children
}

/** Dotted text of an object identifier's content. */
export const readObjectIdentifier = (bytes: Uint8Array, element: DerElement): string => {
  const arcs: number[] = []
  let arc = 0
  for (let at = element.from; at < element.to; at++) {
    arc = arc * 128 + (bytes[at]! & 0x7f)
    if (bytes[at]! < 0x80) {
      if (arcs.length === 0) arcs.push(Math.min(2, Math.floor(arc / 40)))
      arcs.push(arcs.length === 1 && arcs[0] !== undefined ? arc - arcs[0] * 40 : arc)
      arc = 0
    }
  }
  return arcs.join('.')
}

const utf8String = 0x0c
const bmpString = 0x1e
const latinStrings: ReadonlySet<number> = new Set([0x12, 0x13, 0x14, 0x16, 0x1a])

/** Text of a directory string; undefined for a type that holds none. */
export const readDerText = (bytes: Uint8Array, element: DerElement): string | undefined => {
  const content = bytes.subarray(element.from, element.to)
  if (element.tag === utf8String) return new TextDecoder().decode(content)
  if (element.tag === bmpString) return new TextDecoder('utf-16be').decode(content)
  if (latinStrings.has(element.tag)) return new TextDecoder('latin1').decode(content)
  return undefined
}
