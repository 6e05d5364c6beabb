import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type Forge from 'node-forge'
import { describeCertificate } from '#src/platform/security/index.ts'
import type { CertificateName, CertificateRecord, CertificateType } from './domain.ts'
import { isEncrypted, openKey } from './encrypted-key.ts'
import { forge } from './forge.ts'
import { type PemBlock, PemError } from './pem.ts'

/** One rule that a certificate breaks. */
export type CertificateProblem = {
  readonly rule: 'key_match' | 'key_kind' | 'key_usage' | 'validity' | 'chain'
  readonly message: string
}

export const keyMatchMessage = 'the private key is not the certificate\u2019s'

const rsaBits = 2048
/** Signatures of payment messages and the security header have the size of such a key, and of no other. */
const rsaOnly: readonly CertificateType[] = ['PIA', 'SPB', 'MES']
const keyUsageOid = '2.5.29.15'
/** RFC 5280, 4.2.1.3: bit 0 is the highest of the first octet. */
const keyUsageBits = { digitalSignature: 0x80, keyEncipherment: 0x20 } as const

type Usage = keyof typeof keyUsageBits

const requiredUsage: Readonly<Record<CertificateType, readonly Usage[]>> = {
  PIA: ['digitalSignature'],
  PIC: ['digitalSignature'],
  QRC: ['digitalSignature'],
  SPB: ['digitalSignature', 'keyEncipherment'],
  MES: ['digitalSignature', 'keyEncipherment'],
}

/**
 * First octet of the keyUsage extension; undefined if there is none, which allows every use. X509Certificate does not
 * show it and forge's certificates know no EC keys, so we walk forge's ASN.1; @peculiar/asn1-x509 would spare 20 lines
 * and take 28 ms to load.
 */
const keyUsageOctet = (certificate: X509Certificate): number | undefined => {
  const { asn1 } = forge()
  const wanted = asn1.oidToDer(keyUsageOid).getBytes()
  const parts = (node: Forge.asn1.Asn1 | undefined): readonly Forge.asn1.Asn1[] =>
    Array.isArray(node?.value) ? node.value : []
  const root = asn1.fromDer(certificate.raw.toString('latin1'))
  const extensions = parts(parts(root)[0]).find(
    ({ tagClass, type }) => tagClass === asn1.Class.CONTEXT_SPECIFIC && Number(type) === 3,
  )
  for (const extension of parts(parts(extensions)[0])) {
    const [oid, ...rest] = parts(extension)
    const value = rest.at(-1)?.value
    if (oid?.value !== wanted || typeof value !== 'string') continue
    // BIT STRING: tag, length, unused bits, octets.
    return value.charCodeAt(3)
  }
  return undefined
}

/** Why the key of a certificate cannot do what the certificate is for. */
export const keyKindProblem = (
  type: CertificateType,
  { publicKey }: X509Certificate,
): string | undefined => {
  const { asymmetricKeyType: kind, asymmetricKeyDetails: details } = publicKey
  const bits = kind === 'rsa' ? (details?.modulusLength ?? 0) : 0
  if (rsaOnly.includes(type)) {
    return bits === rsaBits ? undefined : `the key of ${type} must be RSA of ${rsaBits} bits`
  }
  return bits >= rsaBits || kind === 'ec'
    ? undefined
    : `the key must be RSA of ${rsaBits} bits or EC`
}

const checkKey = (
  type: CertificateType,
  certificate: X509Certificate,
  key: KeyObject | undefined,
): CertificateProblem[] => {
  const problems: CertificateProblem[] = []
  const message = keyKindProblem(type, certificate)
  if (message !== undefined) problems.push({ rule: 'key_kind', message })
  if (key !== undefined && !certificate.checkPrivateKey(key)) {
    problems.push({ rule: 'key_match', message: keyMatchMessage })
  }
  return problems
}

/** The uses that the certificate allows its key; all of them if it names none. */
export const keyUsageOf = (
  certificate: X509Certificate,
): { readonly signs: boolean; readonly encrypts: boolean } => {
  const octet = keyUsageOctet(certificate)
  const allows = (usage: Usage): boolean =>
    octet === undefined || (octet & keyUsageBits[usage]) !== 0
  return { signs: allows('digitalSignature'), encrypts: allows('keyEncipherment') }
}

const checkUsage = (certificate: X509Certificate, type: CertificateType): CertificateProblem[] => {
  const octet = keyUsageOctet(certificate)
  if (octet === undefined) return []
  return requiredUsage[type]
    .filter((usage) => (octet & keyUsageBits[usage]) === 0)
    .map((usage) => ({ rule: 'key_usage', message: `${type} needs the key usage ${usage}` }))
}

const checkChain = (
  certificate: X509Certificate,
  chain: readonly X509Certificate[],
): CertificateProblem[] => {
  const problems: CertificateProblem[] = []
  let below = certificate
  for (const issuer of chain) {
    if (!issuer.ca || !below.checkIssued(issuer) || !below.verify(issuer.publicKey)) {
      problems.push({
        rule: 'chain',
        message: `${commonName(below)} was not issued by ${commonName(issuer)}`,
      })
    }
    below = issuer
  }
  return problems
}

const commonName = (certificate: X509Certificate): string =>
  /(?:^|\n)CN=(.*)/.exec(certificate.subject)?.[1] ?? 'a certificate'

/** Every rule that certificate, key and chain break for the purpose, now. */
export const checkCertificate = (
  type: CertificateType,
  certificate: X509Certificate,
  key: KeyObject | undefined,
  chain: readonly X509Certificate[],
  now: Date,
): readonly CertificateProblem[] => {
  const expired = now > describeCertificate(certificate).notAfter
  return [
    ...checkKey(type, certificate, key),
    ...checkUsage(certificate, type),
    ...checkChain(certificate, chain),
    ...(expired ? [{ rule: 'validity', message: 'the certificate has expired' } as const] : []),
  ]
}

/**
 * The certificate that the key belongs to (without a key, the one that issued no other), and its issuers in order. The
 * file may have them in any order.
 */
export const orderChain = (
  certificates: readonly X509Certificate[],
  key: KeyObject | undefined,
): { readonly leaf: X509Certificate | undefined; readonly chain: readonly X509Certificate[] } => {
  // Compares names only: checkCertificate checks the issuer's signature.
  const isIssuer = (candidate: X509Certificate, below: X509Certificate) =>
    candidate !== below && below.issuer === candidate.subject
  const issuedNone = (candidate: X509Certificate) =>
    !certificates.some((other) => isIssuer(candidate, other))
  const leaf =
    key === undefined
      ? certificates.find(issuedNone)
      : (certificates.find((candidate) => candidate.checkPrivateKey(key)) ??
        certificates.find(issuedNone))
  const chain: X509Certificate[] = []
  const left = new Set(certificates)
  for (let below = leaf; below !== undefined; ) {
    left.delete(below)
    const last: X509Certificate = below
    const issuer = [...left].find((candidate) => isIssuer(candidate, last))
    if (issuer !== undefined) chain.push(issuer)
    below = issuer
  }
  return { leaf, chain }
}

/** A name in one line, nearest component first, in the order of RFC 2253. */
const oneLine = (name: string): string => name.split('\n').reverse().join(', ')

/** The stored form of a certificate. */
export const recordOf = (
  name: CertificateName,
  certificate: X509Certificate,
  chain: readonly X509Certificate[],
  hasKey: boolean,
): CertificateRecord => ({
  ...name,
  subject: oneLine(certificate.subject),
  issuer: oneLine(certificate.issuer),
  ...describeCertificate(certificate),
  hasKey,
  certificate: certificate.toString(),
  chain: chain.map(String),
})

const keyLabels: readonly string[] = [
  'PRIVATE KEY',
  'RSA PRIVATE KEY',
  'EC PRIVATE KEY',
  'ENCRYPTED PRIVATE KEY',
]

/**
 * The private key among the blocks of a PEM text; undefined if there is none.
 *
 * @throws PemError for several keys
 * @throws EncryptedKeyError for a key that the password does not open
 * @throws Error for a key that cannot be read
 */
export const readKey = (
  blocks: readonly PemBlock[],
  password?: string | undefined,
): KeyObject | undefined => {
  const [block, ...others] = blocks.filter(({ label }) => keyLabels.includes(label))
  if (block === undefined) return undefined
  if (others.length > 0) throw new PemError('there are several private keys')
  return isEncrypted(block) ? openKey(block, password) : createPrivateKey(block.text)
}

/**
 * Reads a certificate, PEM or DER, and its public key at once: the runtime would read the key only on first use.
 *
 * @throws Error if certificate or key cannot be read
 */
export const readCertificate = (content: string | Uint8Array): X509Certificate => {
  const certificate = new X509Certificate(content)
  if (certificate.publicKey.type !== 'public') throw new Error('the certificate has no public key')
  return certificate
}

/**
 * The certificates among the blocks of a PEM text, in its order.
 *
 * @throws Error if one of them cannot be read
 */
export const readCertificates = (blocks: readonly PemBlock[]): readonly X509Certificate[] =>
  blocks.filter(({ label }) => label === 'CERTIFICATE').map(({ text }) => readCertificate(text))
