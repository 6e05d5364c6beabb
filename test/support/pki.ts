import { generateKeyPairSync, randomBytes } from 'node:crypto'
import forge from 'node-forge'

export type IssuedPair = {
  readonly cert: string
  readonly key: string
  /** Decimal. */
  readonly serial: string
}

type IssueOptions = {
  /** Whoever signs; absent: self-signed. */
  readonly issuer?: IssuedPair
  readonly authority?: boolean
  readonly notBefore?: Date
  readonly notAfter?: Date
  readonly hosts?: readonly string[]
  readonly keyUsage?: Readonly<Record<string, boolean>>
  readonly organization?: string
  /** The bits of the RSA key; 2048 by default. */
  readonly bits?: number
}

const dayMs = 86_400_000

const subjectAltNames = (hosts: readonly string[]) => {
  const altNames = hosts.map((host) =>
    /^[\d.]+$/.test(host) ? { type: 7, ip: host } : { type: 2, value: host },
  )
  return { name: 'subjectAltName', altNames }
}

/** Issues an RSA certificate for tests, with the components the national PKI uses. */
export const issueCertificate = (commonName: string, options: IssueOptions = {}): IssuedPair => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: options.bits ?? 2048,
  })
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(
    publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  )
  // Positive and of one length, so that its encoding is minimal.
  certificate.serialNumber = `4${randomBytes(15).toString('hex')}`.padStart(32, '0')
  certificate.validity.notBefore = options.notBefore ?? new Date(Date.now() - dayMs)
  certificate.validity.notAfter = options.notAfter ?? new Date(Date.now() + 365 * dayMs)
  const names = [
    { name: 'countryName', value: 'BR' },
    { name: 'organizationName', value: options.organization ?? 'ICP-Brasil' },
    { shortName: 'OU', value: 'CSPB-4' },
    { name: 'commonName', value: commonName },
  ]
  const { issuer } = options
  certificate.setSubject(names)
  certificate.setIssuer(
    issuer === undefined ? names : forge.pki.certificateFromPem(issuer.cert).subject.attributes,
  )
  certificate.setExtensions([
    { name: 'basicConstraints', cA: options.authority === true, critical: true },
    options.keyUsage !== undefined
      ? { name: 'keyUsage', critical: true, ...options.keyUsage }
      : options.authority === true
        ? { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true }
        : { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    ...(options.hosts === undefined ? [] : [subjectAltNames(options.hosts)]),
  ])
  certificate.sign(forge.pki.privateKeyFromPem(issuer?.key ?? key), forge.md.sha256.create())
  return {
    cert: forge.pki.certificateToPem(certificate),
    key,
    serial: BigInt(`0x${certificate.serialNumber}`).toString(),
  }
}
