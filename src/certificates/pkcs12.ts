import { createPrivateKey } from 'node:crypto'
import type Forge from 'node-forge'
import { forge } from './forge.ts'
import { withRoundsMax } from './pkcs12-rounds.ts'

/** Largest file read; real ones hold a key and a few certificates in under 16 KiB. */
export const pkcs12BytesMax = 256 * 1024
/** Most rounds of key derivation in a whole file; common files have 6 000 to 2 000 000. */
export const pkcs12RoundsMax = 2_000_000
/** Longest that one file may take; the rounds of most take under a second. */
export const pkcs12TimeoutMs = 30_000

/** Why a PKCS#12 file cannot be read. */
export type Pkcs12Failure =
  | 'too_large'
  | 'damaged'
  | 'wrong_password'
  | 'rounds_exceeded'
  | 'timed_out'
  | 'no_certificate'
  | 'several_keys'

export class Pkcs12Error extends Error {
  override readonly name = 'Pkcs12Error'
  readonly reason: Pkcs12Failure

  constructor(reason: Pkcs12Failure) {
    super(pkcs12Messages[reason])
    this.reason = reason
  }
}

const pkcs12Messages: Readonly<Record<Pkcs12Failure, string>> = {
  too_large: `the file is over ${pkcs12BytesMax} bytes`,
  damaged: 'the file is damaged or is not PKCS#12',
  wrong_password: 'the password is wrong',
  rounds_exceeded: `the file asks for over ${pkcs12RoundsMax} rounds of key derivation in all`,
  timed_out: `reading the file takes over ${pkcs12TimeoutMs / 1000} seconds`,
  no_certificate: 'the file holds no certificate',
  several_keys: 'the file holds several private keys',
}

/** @property certificates - DER, in the order of the file */
export type Pkcs12Content = {
  /** PKCS#8, DER. */
  readonly key: Uint8Array | undefined
  readonly certificates: readonly Uint8Array[]
}

type Asn1 = Forge.asn1.Asn1

const fromBinary = (binary: string): Uint8Array => new Uint8Array(Buffer.from(binary, 'latin1'))

const children = (node: Asn1): readonly Asn1[] => (Array.isArray(node.value) ? node.value : [])

const nested = (node: Asn1): Asn1 | undefined => {
  if (typeof node.value !== 'string' || !node.value.startsWith('\x30')) return undefined
  try {
    return forge().asn1.fromDer(node.value)
  } catch {
    return undefined
  }
}

const parse = (bytes: Uint8Array): Asn1 => {
  try {
    return forge().asn1.fromDer(Buffer.from(bytes).toString('latin1'))
  } catch {
    throw new Pkcs12Error('damaged')
  }
}

/** The same file with one of its contents and no integrity check. */
const onlyContent = (version: Asn1, content: Asn1): Asn1 => {
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
 * Whether the password opens at least one encrypted part. If so, a failed integrity check means a damaged file;
 * otherwise it means a wrong password. forge does not say which part failed or why, and pkijs 4.0 cannot open 3DES and
 * RC2-40, which most files of the authorities use: so we try each part by itself.
 */
const passwordOpensAPart = (pfx: Asn1, password: string): boolean => {
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
    } catch (error) {
      if (error instanceof Pkcs12Error) throw error
      return false
    }
  })
}

const open = (pfx: Asn1, password: string): Forge.pkcs12.Pkcs12Pfx => {
  try {
    return forge().pkcs12.pkcs12FromAsn1(pfx, false, password)
  } catch (error) {
    if (error instanceof Pkcs12Error) throw error
    const text = error instanceof Error ? error.message : ''
    const passwordFits = passwordOpensAPart(pfx, password)
    if (!passwordFits && /MAC|decrypt|password/i.test(text)) throw new Pkcs12Error('wrong_password')
    throw new Pkcs12Error('damaged')
  }
}

/** The private key in a bag, of any algorithm: PKCS#8, DER. */
const keyOf = (bag: Forge.pkcs12.Bag): Uint8Array => {
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

/** The certificate's DER, unchanged from the file. */
const certificateOf = (bag: Forge.pkcs12.Bag): Uint8Array => {
  const asn1 = bag.cert == null ? bag.asn1 : forge().pki.certificateToAsn1(bag.cert)
  return fromBinary(forge().asn1.toDer(asn1).getBytes())
}

/**
 * Reads a PKCS#12 (PFX) file: 3DES, RC2-40 and AES (PBES2), with or without an integrity check.
 * It blocks while the rounds run, so use it in a separate thread (`createPkcs12Opener`).
 *
 * @throws Pkcs12Error
 */
export const readPkcs12 = (bytes: Uint8Array, password: string): Pkcs12Content => {
  if (bytes.length > pkcs12BytesMax) throw new Pkcs12Error('too_large')
  const pfx = parse(bytes)
  const { oids } = forge().pki
  const opened = withRoundsMax(
    forge(),
    pkcs12RoundsMax,
    () => new Pkcs12Error('rounds_exceeded'),
    () => open(pfx, password),
  )
  const bags = opened.safeContents.flatMap(({ safeBags }) => safeBags)
  const keys = bags.filter(
    ({ type }) => type === oids['keyBag'] || type === oids['pkcs8ShroudedKeyBag'],
  )
  const certificates = bags.filter(({ type }) => type === oids['certBag']).map(certificateOf)
  if (certificates.length === 0) throw new Pkcs12Error('no_certificate')
  if (keys.length > 1) throw new Pkcs12Error('several_keys')
  const [key] = keys
  return { key: key === undefined ? undefined : keyOf(key), certificates }
}
