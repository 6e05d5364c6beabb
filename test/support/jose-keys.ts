import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import type { JoseCertificate, JoseKeySource } from '../../src/jose/index.ts'
import { issueCertificate } from './pki.ts'
import { runTool, withScratch } from './second-implementation.ts'

const number = (base64url: string): bigint =>
  BigInt(`0x${Buffer.from(base64url, 'base64url').toString('hex')}`)

const text = (value: bigint): string => {
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url')
}

const inverse = (value: bigint, modulus: bigint): bigint => {
  let [a, b, x, y] = [value, modulus, 1n, 0n]
  while (b > 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y]
  return ((x % modulus) + modulus) % modulus
}

/** A whole RSA key from modulus, private exponent and one prime, as vectors print them. */
export const rsaKeyOf = (vector: {
  readonly n: string
  readonly d: string
  readonly p: string
}): KeyObject => {
  const [n, d, p] = [number(vector.n), number(vector.d), number(vector.p)]
  const q = n / p
  const key: JsonWebKey = {
    kty: 'RSA',
    e: 'AQAB',
    n: vector.n,
    d: vector.d,
    p: vector.p,
    q: text(q),
    dp: text(d % (p - 1n)),
    dq: text(d % (q - 1n)),
    qi: text(inverse(q, p)),
  }
  return createPrivateKey({ key, format: 'jwk' })
}

const authority = issueCertificate('AC Teste', { authority: true })

/** A certificate for any key, which only openssl can issue for elliptic curves. */
const certify = async (key: KeyObject): Promise<string> => {
  let certificate = ''
  await withScratch(async (directory) => {
    const path = (name: string) => join(directory, name)
    await Bun.write(path('ca.crt'), authority.cert)
    await Bun.write(path('ca.key'), authority.key)
    await Bun.write(path('key.pem'), createPublicKey(key).export({ format: 'pem', type: 'spki' }))
    const made = runTool([
      ...['openssl', 'x509', '-new', '-subj', '/C=BR/CN=key', '-days', '30'],
      '-force_pubkey',
      path('key.pem'),
      '-CA',
      path('ca.crt'),
      '-CAkey',
      path('ca.key'),
    ])
    if (made.exitCode !== 0) throw new Error(made.stderr)
    certificate = made.stdout
  })
  return certificate
}

/** Certificates and keys by kid, as the store would give them. */
export const keySourceOf = async (
  keys: Readonly<Record<string, KeyObject>>,
  more: Partial<JoseCertificate> = {},
): Promise<JoseKeySource> => {
  const list = await Promise.all(
    Object.entries(keys).map(async ([kid, key]) => ({
      kid,
      certificate: await certify(key),
      fingerprint: kid,
      active: true,
      hasKey: true,
      signs: true,
      encrypts: true,
      isForTokens: true,
      ...more,
    })),
  )
  return {
    list: async () => list,
    readKey: async (kid) => {
      const key = keys[kid]
      if (key === undefined || more.hasKey === false) return undefined
      return new Uint8Array(key.export({ format: 'der', type: 'pkcs8' }))
    },
  }
}
