import { createCipheriv, createPrivateKey, pbkdf2Sync, randomBytes } from 'node:crypto'
import forge from 'node-forge'
import type { IssuedPair } from './pki.ts'

// PKCS#12 files written by hand, with any number of rounds at any place. Derivations are the
// runtime's own, so that files with very many rounds are made in time.

type Asn1 = forge.asn1.Asn1

const { asn1, pki } = forge
const { Class, Type } = asn1

const sequence = (...parts: readonly Asn1[]) =>
  asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, [...parts])
const explicit = (tag: number, part: Asn1) => asn1.create(Class.CONTEXT_SPECIFIC, tag, true, [part])
const octets = (content: string) => asn1.create(Class.UNIVERSAL, Type.OCTETSTRING, false, content)
const integer = (value: number) => {
  const hex = value.toString(16)
  const whole = hex.length % 2 === 0 ? hex : `0${hex}`
  const positive = Number.parseInt(whole.slice(0, 2), 16) > 0x7f ? `00${whole}` : whole
  return asn1.create(Class.UNIVERSAL, Type.INTEGER, false, forge.util.hexToBytes(positive))
}
const oid = (name: string) =>
  asn1.create(Class.UNIVERSAL, Type.OID, false, asn1.oidToDer(pki.oids[name] ?? name).getBytes())
const der = (node: Asn1) => asn1.toDer(node).getBytes()
const nothing = () => asn1.create(Class.UNIVERSAL, Type.NULL, false, '')

/** An octet string in segments of `length`, as BER allows. */
const segmented = (content: string, length: number) =>
  asn1.create(
    Class.UNIVERSAL,
    Type.OCTETSTRING,
    true,
    Array.from({ length: Math.ceil(content.length / length) }, (_, i) =>
      octets(content.slice(i * length, (i + 1) * length)),
    ),
  )

/** AES-256 under PBKDF2 with SHA-256: algorithm and encrypted octets. */
const encrypted = (content: string, password: string, rounds: number): [Asn1, string] => {
  const [salt, iv] = [randomBytes(16), randomBytes(16)]
  const key = pbkdf2Sync(password, salt, rounds, 32, 'sha256')
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const text = Buffer.concat([cipher.update(Buffer.from(content, 'latin1')), cipher.final()])
  const derivation = sequence(
    oid('pkcs5PBKDF2'),
    sequence(
      octets(salt.toString('latin1')),
      integer(rounds),
      sequence(oid('hmacWithSHA256'), nothing()),
    ),
  )
  const scheme = sequence(oid('aes256-CBC'), octets(iv.toString('latin1')))
  return [sequence(oid('pkcs5PBES2'), sequence(derivation, scheme)), text.toString('latin1')]
}

const pkcs8Of = (pem: string) =>
  createPrivateKey(pem).export({ format: 'der', type: 'pkcs8' }).toString('latin1')

const certificateBag = (pem: string) =>
  sequence(
    oid('certBag'),
    explicit(
      0,
      sequence(
        oid('x509Certificate'),
        explicit(0, octets(der(pki.certificateToAsn1(pki.certificateFromPem(pem))))),
      ),
    ),
  )

const keyBag = (pem: string, password: string, rounds: number): Asn1 => {
  const [algorithm, content] = encrypted(pkcs8Of(pem), password, rounds)
  return sequence(oid('pkcs8ShroudedKeyBag'), explicit(0, sequence(algorithm, octets(content))))
}

const encryptedContent = (content: string, password: string, rounds: number): Asn1 => {
  const [algorithm, text] = encrypted(content, password, rounds)
  const implicit = asn1.create(Class.CONTEXT_SPECIFIC, 0, false, text)
  return sequence(
    oid('encryptedData'),
    explicit(0, sequence(integer(0), sequence(oid('data'), algorithm, implicit))),
  )
}

/** @property segmentBytes - the content in a segmented octet string */
export type Pkcs12Layout = {
  /** The rounds of the key's own encryption. */
  readonly keyRounds: number
  /** The rounds of the encryption around key and certificate; absent: not encrypted. */
  readonly outerRounds?: number
  readonly segmentBytes?: number
}

/** A file of key and certificate, without an integrity check. */
export const makePkcs12 = (
  pair: IssuedPair,
  password: string,
  layout: Pkcs12Layout,
): Uint8Array => {
  const bags = der(
    sequence(keyBag(pair.key, password, layout.keyRounds), certificateBag(pair.cert)),
  )
  const { outerRounds, segmentBytes } = layout
  const content =
    outerRounds === undefined
      ? sequence(oid('data'), explicit(0, octets(bags)))
      : encryptedContent(bags, password, outerRounds)
  const safe = der(sequence(content))
  const data = segmentBytes === undefined ? octets(safe) : segmented(safe, segmentBytes)
  const file = sequence(integer(3), sequence(oid('data'), explicit(0, data)))
  return new Uint8Array(Buffer.from(der(file), 'latin1'))
}
