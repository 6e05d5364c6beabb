import { createPrivateKey, X509Certificate } from 'node:crypto'
import type Forge from 'node-forge'
import { forge } from './forge.ts'

/** Largest file read; real ones hold a key and a few certificates in under 16 KiB. */
export const PKCS12_BYTES_MAX = 256 * 1024
/** Most rounds of key derivation; common files have 2 000 to 600 000. */
export const PKCS12_ITERATIONS_MAX = 1_000_000
const DEPTH_MAX = 24

/** Why a PKCS#12 file gives nothing. */
export type Pkcs12Failure =
  | 'too_large'
  | 'damaged'
  | 'wrong_password'
  | 'password_not_ascii'
  | 'iterations_exceeded'
  | 'no_certificate'
  | 'several_keys'

export class Pkcs12Error extends Error {
  override readonly name = 'Pkcs12Error'
  readonly reason: Pkcs12Failure

  constructor(reason: Pkcs12Failure) {
    super(PKCS12_MESSAGES[reason])
    this.reason = reason
  }
}

const PKCS12_MESSAGES: Readonly<Record<Pkcs12Failure, string>> = {
  too_large: `the file is over ${PKCS12_BYTES_MAX} bytes`,
  damaged: 'the file is damaged or is not PKCS#12',
  wrong_password: 'the password is wrong',
  password_not_ascii: 'files of this kind are only read with an ASCII password',
  iterations_exceeded: `the file asks for over ${PKCS12_ITERATIONS_MAX} rounds of key derivation`,
  no_certificate: 'the file holds no certificate',
  several_keys: 'the file holds several private keys',
}

/** @property certificates - in the order of the file */
export type Pkcs12Content = {
  /** PKCS#8, DER. */
  readonly key: Uint8Array | undefined
  readonly certificates: readonly X509Certificate[]
}

type Asn1 = Forge.asn1.Asn1

function fromBinary(binary: string): Uint8Array {
  return new Uint8Array(Buffer.from(binary, 'latin1'))
}

function children(node: Asn1): readonly Asn1[] {
  return Array.isArray(node.value) ? node.value : []
}

/** What an octet string holds, when it is DER itself. */
function nested(node: Asn1): Asn1 | undefined {
  if (typeof node.value !== 'string' || !node.value.startsWith('\x30')) return undefined
  try {
    return forge().asn1.fromDer(node.value)
  } catch {
    return undefined
  }
}

/** Refuses `SEQUENCE { salt OCTET STRING, iterations INTEGER, … }` with too many rounds. */
function checkIterations(node: Asn1, depth = 0): void {
  if (depth > DEPTH_MAX) throw new Pkcs12Error('damaged')
  const parts = children(node)
  for (const [i, part] of parts.entries()) {
    const isCount =
      part.type === forge().asn1.Type.INTEGER &&
      parts[i - 1]?.type === forge().asn1.Type.OCTETSTRING
    if (isCount && typeof part.value === 'string') {
      const rounds = Number.parseInt(forge().util.bytesToHex(part.value) || '0', 16)
      if (rounds > PKCS12_ITERATIONS_MAX) throw new Pkcs12Error('iterations_exceeded')
    }
    checkIterations(part, depth + 1)
  }
  const inner = nested(node)
  if (inner !== undefined) checkIterations(inner, depth + 1)
}

function parse(bytes: Uint8Array): Asn1 {
  try {
    return forge().asn1.fromDer(Buffer.from(bytes).toString('latin1'))
  } catch {
    throw new Pkcs12Error('damaged')
  }
}

/** The same file with one of its contents and no integrity check. */
function onlyContent(version: Asn1, content: Asn1): Asn1 {
  const { asn1, pki, util } = forge()
  const { Class, Type } = asn1
  const safe = asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, [content])
  const octets = asn1.toDer(safe).getBytes()
  return asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, [
    version,
    asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, [
      asn1.create(
        Class.UNIVERSAL,
        Type.OID,
        false,
        asn1.oidToDer(pki.oids['data'] ?? '').getBytes(),
      ),
      asn1.create(Class.CONTEXT_SPECIFIC, 0, true, [
        asn1.create(Class.UNIVERSAL, Type.OCTETSTRING, false, util.createBuffer(octets).getBytes()),
      ]),
    ]),
  ])
}

/**
 * Whether the password opens at least one encrypted part. Then a failed integrity check means a
 * damaged file; else it means a wrong password.
 */
function passwordOpensAPart(pfx: Asn1, password: string): boolean {
  const [version, authSafe] = children(pfx)
  const octets = children(children(authSafe ?? pfx)[1] ?? pfx)[0]
  const safe = octets === undefined ? undefined : nested(octets)
  if (version === undefined || safe === undefined) return false
  const { oids } = forge().pki
  return children(safe).some((content) => {
    const type = children(content)[0]?.value
    const encrypted =
      type ===
      forge()
        .asn1.oidToDer(oids['encryptedData'] ?? '')
        .getBytes()
    try {
      const opened = forge().pkcs12.pkcs12FromAsn1(onlyContent(version, content), false, password)
      const bags = opened.safeContents.flatMap(({ safeBags }) => safeBags)
      return encrypted || bags.some(({ type: bag }) => bag === oids['pkcs8ShroudedKeyBag'])
    } catch {
      return false
    }
  })
}

function open(pfx: Asn1, password: string): Forge.pkcs12.Pkcs12Pfx {
  try {
    return forge().pkcs12.pkcs12FromAsn1(pfx, false, password)
  } catch (error) {
    const text = error instanceof Error ? error.message : ''
    // The password-based encryption of RFC 8018 takes UTF-8, which the library does not offer.
    if (!/^[\x20-\x7e]*$/.test(password) && !text.includes('MAC')) {
      throw new Pkcs12Error('password_not_ascii')
    }
    const passwordFits = passwordOpensAPart(pfx, password)
    if (!passwordFits && /MAC|decrypt|password/i.test(text)) throw new Pkcs12Error('wrong_password')
    throw new Pkcs12Error('damaged')
  }
}

/** A private key in a bag, whatever its algorithm: PKCS#8, DER. */
function keyOf(bag: Forge.pkcs12.Bag): Uint8Array {
  const asn1 =
    bag.key == null
      ? bag.asn1
      : forge().pki.wrapRsaPrivateKey(forge().pki.privateKeyToAsn1(bag.key))
  const der = Buffer.from(forge().asn1.toDer(asn1).getBytes(), 'latin1')
  try {
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    return new Uint8Array(key.export({ format: 'der', type: 'pkcs8' }))
  } catch {
    throw new Pkcs12Error('damaged')
  }
}

function certificateOf(bag: Forge.pkcs12.Bag): X509Certificate {
  const asn1 = bag.cert == null ? bag.asn1 : forge().pki.certificateToAsn1(bag.cert)
  try {
    return new X509Certificate(fromBinary(forge().asn1.toDer(asn1).getBytes()))
  } catch {
    throw new Pkcs12Error('damaged')
  }
}

/**
 * Reads a PKCS#12 (PFX) file: 3DES, RC2-40 and AES (PBES2), with or without an integrity check.
 *
 * @throws Pkcs12Error
 */
export function readPkcs12(bytes: Uint8Array, password: string): Pkcs12Content {
  if (bytes.length > PKCS12_BYTES_MAX) throw new Pkcs12Error('too_large')
  const pfx = parse(bytes)
  checkIterations(pfx)
  const { oids } = forge().pki
  const bags = open(pfx, password).safeContents.flatMap(({ safeBags }) => safeBags)
  const keys = bags.filter(
    ({ type }) => type === oids['keyBag'] || type === oids['pkcs8ShroudedKeyBag'],
  )
  const certificates = bags.filter(({ type }) => type === oids['certBag']).map(certificateOf)
  if (certificates.length === 0) throw new Pkcs12Error('no_certificate')
  if (keys.length > 1) throw new Pkcs12Error('several_keys')
  const [key] = keys
  return { key: key === undefined ? undefined : keyOf(key), certificates }
}
