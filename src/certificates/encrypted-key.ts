import { createPrivateKey, type KeyObject } from 'node:crypto'
import type Forge from 'node-forge'
import { forge } from './forge.ts'
import type { PemBlock } from './pem.ts'

/** Thrown for a private key that is encrypted and stays so: no password, the wrong one, or too much work. */
export class EncryptedKeyError extends Error {
  override readonly name = 'EncryptedKeyError'
  readonly reason: 'password' | 'form'

  constructor(reason: EncryptedKeyError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** Rounds of key derivation: they hold the loop, some 50 ms at this limit. */
const keyRoundsMax = 200_000

const pbes2 = '1.2.840.113549.1.5.13'
/** The schemes of PKCS#12 (RFC 7292, appendix C), which older tools write. */
const pkcs12Schemes = '1.2.840.113549.1.12.1.'
const pbkdf2 = '1.2.840.113549.1.5.12'

/** Whether the block is a key under a password: PKCS#8 (RFC 5958), or the older form (RFC 1421, 4.6.1.1). */
export const isEncrypted = ({ label, text }: PemBlock): boolean =>
  label === 'ENCRYPTED PRIVATE KEY' || text.includes('Proc-Type: 4,ENCRYPTED')

const children = (node: Forge.asn1.Asn1 | undefined): readonly Forge.asn1.Asn1[] =>
  Array.isArray(node?.value) ? node.value : []

const oidOf = (node: Forge.asn1.Asn1 | undefined): string =>
  typeof node?.value === 'string' ? forge().asn1.derToOid(node.value) : ''

const numberOf = (node: Forge.asn1.Asn1 | undefined): number => {
  const octets = node?.value
  if (typeof octets !== 'string' || octets === '' || octets.length > 4) return Infinity
  return Number(`0x${forge().util.bytesToHex(octets)}`)
}

/** The rounds that an encrypted PKCS#8 asks for; undefined for another derivation than PBKDF2. */
const roundsOf = (pem: string): number | undefined => {
  const { asn1, util } = forge()
  const der = util.decode64(
    pem
      .split('\n')
      .filter((line) => !line.startsWith('-'))
      .join(''),
  )
  const [algorithm] = children(asn1.fromDer(der))
  const [scheme, parameters] = children(algorithm)
  if (oidOf(scheme).startsWith(pkcs12Schemes)) return numberOf(children(parameters)[1])
  if (oidOf(scheme) !== pbes2) return undefined
  const [derivation, detail] = children(children(parameters)[0])
  if (oidOf(derivation) !== pbkdf2) return undefined
  return numberOf(children(detail)[1])
}

const checkRounds = (pem: string): void => {
  let rounds: number | undefined
  try {
    rounds = roundsOf(pem)
  } catch {
    throw new EncryptedKeyError('form', 'the encrypted private key cannot be read')
  }
  if (rounds === undefined) {
    throw new EncryptedKeyError(
      'form',
      'the private key is encrypted in another way than PKCS#8 with PBKDF2, or the schemes of PKCS#12',
    )
  }
  if (rounds > keyRoundsMax) {
    throw new EncryptedKeyError('form', `the private key asks for over ${keyRoundsMax} rounds`)
  }
}

/**
 * Opens a key that lies under a password.
 *
 * @throws EncryptedKeyError
 */
export const openKey = (block: PemBlock, password: string | undefined): KeyObject => {
  if (password === undefined || password === '') {
    throw new EncryptedKeyError(
      'password',
      'the private key is encrypted, and there is no password',
    )
  }
  if (block.label === 'ENCRYPTED PRIVATE KEY') checkRounds(block.text)
  try {
    return createPrivateKey({ key: block.text, format: 'pem', passphrase: password })
  } catch {
    throw new EncryptedKeyError('password', 'the password does not open the private key')
  }
}
