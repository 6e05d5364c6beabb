import { hash, verify, X509Certificate } from 'node:crypto'
import type { XmlDocument } from '#codecs/xml'
import {
  type CanonicalName,
  canonicalIssuer,
  parseName,
  Scratch,
  type VerifyPorts,
  verifyEnvelope,
  verifyWhole,
} from '#codecs/xmldsig'
import { describeCertificate } from '#src/platform/security/index.ts'

/** A certificate that received messages may be signed with. */
type TrustedCertificate = {
  readonly valid: boolean
  readonly verify: (signedInfo: Uint8Array, signature: Uint8Array) => boolean
  /** SHA-256 of the DER, hexadecimal. */
  readonly fingerprint: string
}

export type MessageVerifier = ReturnType<typeof createMessageVerifier>

type Entry = {
  readonly issuer: CanonicalName
  readonly notBefore: Date
  readonly notAfter: Date
  readonly fingerprint: string
  readonly verify: TrustedCertificate['verify']
}

/** How many spellings of issuers we remember: real traffic has a handful. */
const spellingsMax = 256

const entryOf = (pem: string): [serial: string, entry: Entry] => {
  const certificate = new X509Certificate(pem)
  const { publicKey } = certificate
  const { serial, ...described } = describeCertificate(certificate)
  const entry: Entry = {
    ...described,
    issuer: canonicalIssuer(new Uint8Array(certificate.raw)),
    verify: (bytes, signature) => verify('sha256', bytes, publicKey, signature),
  }
  return [serial, entry]
}

/** By serial; two authorities may give the same serial. */
const indexOf = (certificates: readonly string[]): ReadonlyMap<string, readonly Entry[]> => {
  const index = new Map<string, Entry[]>()
  for (const pem of certificates) {
    const [serial, entry] = entryOf(pem)
    index.set(serial, [...(index.get(serial) ?? []), entry])
  }
  return index
}

/** Canonical names by spelling, so that we parse a name once and not once per message. */
const createSpellings = (): ((text: string) => CanonicalName | undefined) => {
  const known = new Map<string, CanonicalName | undefined>()
  return (text) => {
    if (known.has(text)) return known.get(text)
    let name: CanonicalName | undefined
    try {
      name = parseName(text)
    } catch {
      // This is no name at all, so no certificate has it.
    }
    if (known.size >= spellingsMax) known.clear()
    known.set(text, name)
    return name
  }
}

/**
 * Verifies received messages against our own certificates.
 *
 * @param certificates - PEM, one certificate each
 * @param now - a certificate must be valid when we verify a message, so this is asked each time
 */
export const createMessageVerifier = (
  certificates: readonly string[],
  now: () => Date = () => new Date(),
) => {
  let current = certificates
  let index = indexOf(current)
  const nameOf = createSpellings()
  const ports: VerifyPorts<TrustedCertificate> = {
    scratch: new Scratch(),
    sha256: (bytes) => hash('sha256', bytes, 'buffer'),
    findCertificate: (issuer, serial) => {
      const candidates = index.get(serial)
      const name = candidates === undefined ? undefined : nameOf(issuer)
      const found = candidates?.find((entry) => entry.issuer === name)
      if (found === undefined) return undefined
      const moment = now()
      const valid = moment >= found.notBefore && moment <= found.notAfter
      return { valid, verify: found.verify, fingerprint: found.fingerprint }
    },
  }
  return {
    verify: (document: XmlDocument) => verifyEnvelope(document, ports),
    /** The same of a document that is signed whole. */
    verifyWhole: (document: XmlDocument) => verifyWhole(document, ports),
    /** Verifies against these certificates, in PEM, from now on, and no longer against the old ones. */
    replace: (next: readonly string[]): void => {
      index = indexOf(next)
      current = next
    },
    /** The certificates it verifies against now, in PEM: the same array until they are replaced. */
    certificates: () => current,
  }
}
