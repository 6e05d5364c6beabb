import { describe, expect, test } from 'bun:test'
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { importPKCS8, importSPKI } from 'jose'
import type { KeyManagementAlgorithm, SignatureAlgorithm } from '../../src/jose/domain.ts'
import { openJwe, openJws, readJwe, readJws } from '../../src/jose/open.ts'
import rfc from '../fixtures/jose/rfc7515-7516.json' with { type: 'json' }
import cookbook from '../fixtures/jose/rfc7520.json' with { type: 'json' }
import { rsaKeyOf } from '../support/jose-keys.ts'

// The examples carry no kid, or one that is no certificate's: what verifies and decrypts is asked
// below the choice of the key.

const verifying = (key: KeyObject, algorithm: SignatureAlgorithm) =>
  importSPKI(createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString(), algorithm)
const opening = (key: KeyObject, algorithm: KeyManagementAlgorithm) =>
  importPKCS8(key.export({ format: 'pem', type: 'pkcs8' }).toString(), algorithm)

/** The payload as text, or why it is not taken. */
const verified = async (
  token: Parameters<typeof readJws>[0],
  key: KeyObject,
  algorithm: SignatureAlgorithm,
) => {
  const read = readJws(token)
  if (read === undefined) return 'unreadable'
  const opened = await openJws(read, await verifying(key, algorithm), algorithm)
  return typeof opened === 'string' ? opened : new TextDecoder().decode(opened.content)
}

const decrypted = async (
  token: Parameters<typeof readJwe>[0],
  key: KeyObject,
  algorithm: KeyManagementAlgorithm,
) => {
  const read = readJwe(token)
  if (read === undefined) return 'unreadable'
  const opened = await openJwe(read, await opening(key, algorithm), algorithm)
  return new TextDecoder().decode(opened.content)
}

/** The flattened form of a compact token. */
const flattenedJws = (compact: string) => {
  const [header = '', payload = '', signature = ''] = compact.split('.')
  return { protected: header, payload, signature }
}
const flattenedJwe = (compact: string) => {
  const [header = '', encrypted_key = '', iv = '', ciphertext = '', tag = ''] = compact.split('.')
  return { protected: header, encrypted_key, iv, ciphertext, tag }
}

const p256 = (vector: { readonly x: string; readonly y: string; readonly d: string }) =>
  createPrivateKey({ key: { kty: 'EC', crv: 'P-256', ...vector }, format: 'jwk' })

describe('RFC 7515, appendix A', () => {
  const a2 = rfc['7515 A.2']
  const a3 = rfc['7515 A.3']

  test('A.2: RSASSA-PKCS1-v1_5 with SHA-256', async () => {
    expect(await verified(a2.compact, rsaKeyOf(a2), 'RS256')).toBe(rfc.payload)
  })

  test('A.3: ECDSA with P-256 and SHA-256', async () => {
    const { x, y, d } = a3
    expect(await verified(a3.compact, p256({ x, y, d }), 'ES256')).toBe(rfc.payload)
  })

  test('A.6 and A.7: the signatures of the general form, each flattened', async () => {
    const { x, y, d } = a3
    expect(await verified(flattenedJws(a2.compact), rsaKeyOf(a2), 'RS256')).toBe(rfc.payload)
    expect(await verified(flattenedJws(a3.compact), p256({ x, y, d }), 'ES256')).toBe(rfc.payload)
  })

  for (const name of ['7515 A.1', '7515 A.4', '7515 A.5'] as const) {
    test(`${name}: HS256, ES512 and none are not allowed, whatever the key`, async () => {
      const { x, y, d } = a3
      for (const algorithm of ['RS256', 'PS256'] as const) {
        expect(await verified(rfc[name].compact, rsaKeyOf(a2), algorithm)).toBe(
          'algorithm_not_allowed',
        )
      }
      expect(await verified(rfc[name].compact, p256({ x, y, d }), 'ES256')).toBe(
        'algorithm_not_allowed',
      )
    })
  }
})

describe('RFC 7516, appendix A', () => {
  const a1 = rfc['7516 A.1']

  test('A.1: RSAES-OAEP and AES GCM; flattened too (A.5 with other algorithms)', async () => {
    expect(await decrypted(a1.compact, rsaKeyOf(a1), 'RSA-OAEP')).toBe(a1.payload)
    expect(await decrypted(flattenedJwe(a1.compact), rsaKeyOf(a1), 'RSA-OAEP')).toBe(a1.payload)
  })

  test('with OAEP of SHA-256, which the key is then pinned to, it is not taken', () =>
    expect(decrypted(a1.compact, rsaKeyOf(a1), 'RSA-OAEP-256')).rejects.toMatchObject({
      reason: 'algorithm_not_allowed',
    }))

  test('A.2 to A.4: RSA1_5 and A128KW with A128CBC-HS256 are not allowed', async () => {
    for (const alg of ['RSA1_5', 'A128KW', 'RSA-OAEP']) {
      const header = Buffer.from(`{"alg":"${alg}","enc":"A128CBC-HS256"}`).toString('base64url')
      const token = a1.compact.replace(/^[^.]+/, header)
      await expect(decrypted(token, rsaKeyOf(a1), 'RSA-OAEP')).rejects.toMatchObject({
        reason: 'algorithm_not_allowed',
      })
    }
  })
})

describe('RFC 7520', () => {
  const { '4.1': signed, '5.2': sealed, '6': nested, refused } = cookbook

  test('6: a JWS with PS256 inside a JWE with RSA-OAEP and A128GCM', async () => {
    const inner = await decrypted(nested.sealed, rsaKeyOf(sealed), 'RSA-OAEP')
    expect(inner).toBe(nested.signed)
    expect(await verified(inner, rsaKeyOf(nested), 'PS256')).toBe(nested.payload)
  })

  test('6: PS256 is not RS256 with the same key', async () => {
    expect(await verified(nested.signed, rsaKeyOf(nested), 'RS256')).toBe('algorithm_not_allowed')
  })

  for (const [section, token] of Object.entries(refused.jws)) {
    test(`${section}: PS384, ES512, HS256 are not allowed`, async () => {
      for (const algorithm of ['RS256', 'PS256'] as const) {
        expect(await verified(token, rsaKeyOf(signed), algorithm)).toBe('algorithm_not_allowed')
      }
    })
  }

  for (const [section, token] of Object.entries(refused.jwe)) {
    test(`${section}: another key management, content encryption, or compressed`, async () => {
      const outcome = await decrypted(token, rsaKeyOf(sealed), 'RSA-OAEP').catch(
        ({ reason }) => reason,
      )
      expect(outcome).toBe(section === '5.9' ? 'unreadable' : 'algorithm_not_allowed')
    })
  }
})
