import { describe, expect, test } from 'bun:test'
import { createPublicKey, generateKeyPairSync, verify as verifyBytes } from 'node:crypto'
import { CompactEncrypt, CompactSign } from 'jose'
import { loadSettings } from '#src/platform/config/index.ts'
import { contentBytesMax, tokenCharsMax } from '../../src/jose/domain.ts'
import { type JoseKeySource, joseSettings } from '../../src/jose/index.ts'
import vectors from '../fixtures/jose/rfc7520.json' with { type: 'json' }
import { testApp } from '../support/app.ts'
import { callerOf, joseFeature } from '../support/jose.ts'
import { keySourceOf, rsaKeyOf } from '../support/jose-keys.ts'
import { unlessMissing } from '../support/second-implementation.ts'

const openssl = unlessMissing('openssl')
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey

const pins = ['RS384', 'RS512', 'PS256', 'RSA-OAEP'].map((name) => `${name}:${name}`).join()
const keys = {
  RS256: rsa(),
  RS384: rsa(),
  RS512: rsa(),
  PS256: rsa(),
  'RSA-OAEP': rsa(),
  ES256: ec('prime256v1'),
  ES384: ec('secp384r1'),
}
const source = openssl.missing
  ? { list: async () => [], readKey: async () => undefined }
  : await keySourceOf(keys)

const open = (from: JoseKeySource | undefined = source, algorithms = pins) =>
  callerOf(joseFeature(from, { TRILHO_JOSE_ALGORITHMS: algorithms }))

const part = (token: string, i: number) => token.split('.')[i] ?? ''
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe.skipIf(openssl.missing)(`JWS${openssl.note}`, () => {
  for (const kid of ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384']) {
    test(`${kid}: signs and verifies, compact and flattened; altered it does not`, async () => {
      const call = open()
      for (const serialization of ['compact', 'flattened']) {
        const signed = await call('/v1/jose/sign', {
          kid,
          payload: 'olá',
          typ: 'JOSE',
          serialization,
        })
        const { jws } = signed.json
        const verified = await call('/v1/jose/verify', { jws })
        expect(verified.json).toMatchObject({
          valid: true,
          kid,
          alg: kid,
          payload: 'olá',
          payload_encoding: 'utf8',
          header: { typ: 'JOSE' },
        })
        const altered =
          serialization === 'compact'
            ? jws.replace(part(jws, 1), encode('x'))
            : { ...jws, payload: encode('x') }
        expect((await call('/v1/jose/verify', { jws: altered })).json).toEqual({
          valid: false,
          reason: 'signature_invalid',
        })
      }
    })
  }

  test('node:crypto accepts the signature', async () => {
    const { json } = await open()('/v1/jose/sign', { kid: 'RS256', payload: 'x' })
    const [header, payload, signature = ''] = json.jws.split('.')
    const bytes = Buffer.from(`${header}.${payload}`)
    expect(verifyBytes('sha256', bytes, keys.RS256, Buffer.from(signature, 'base64url'))).toBe(true)
  })

  test('bytes that are no text come back as base64url', async () => {
    const call = open()
    const payload = Buffer.from([0xff, 0, 1]).toString('base64url')
    const { json } = await call('/v1/jose/sign', {
      kid: 'ES256',
      payload,
      payload_encoding: 'base64url',
    })
    expect((await call('/v1/jose/verify', json)).json).toMatchObject({
      payload,
      payload_encoding: 'base64url',
    })
    const bad = { kid: 'ES256', payload: 'a+b', payload_encoding: 'base64url' }
    expect((await call('/v1/jose/sign', bad)).status).toBe(400)
  })

  const refusals: Readonly<Record<string, () => Promise<[string, string]> | [string, string]>> = {
    'alg none': () => [
      `${encode({ alg: 'none', kid: 'RS256' })}.${encode('x')}.`,
      'algorithm_not_allowed',
    ],
    'HMAC with the public key as secret': async () => {
      const spki = Buffer.from(keys.RS256.export({ format: 'pem', type: 'pkcs8' }).toString())
      const signer = new CompactSign(Buffer.from('x')).setProtectedHeader({
        alg: 'HS256',
        kid: 'RS256',
      })
      return [await signer.sign(new Uint8Array(spki)), 'algorithm_not_allowed']
    },
    'another RSA algorithm than the pinned one': async () => {
      const signer = new CompactSign(Buffer.from('x')).setProtectedHeader({
        alg: 'RS384',
        kid: 'RS256',
      })
      return [await signer.sign(keys.RS256), 'algorithm_not_allowed']
    },
    'a key from the token': async () => {
      const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
      const jwk = own.publicKey.export({ format: 'jwk' })
      const header = { alg: 'RS256', kid: 'RS256', jwk }
      const signer = new CompactSign(Buffer.from('x')).setProtectedHeader(header as never)
      return [await signer.sign(own.privateKey), 'signature_invalid']
    },
    'an unknown kid': () => [
      `${encode({ alg: 'RS256', kid: 'nobody' })}.${encode('x')}.AAAA`,
      'key_unknown',
    ],
    'no kid, and no key by which it holds': () => [
      `${encode({ alg: 'RS256' })}.${encode('x')}.AAAA`,
      'signature_invalid',
    ],
    'an unknown critical header': () => [
      `${encode({ alg: 'RS256', kid: 'RS256', crit: ['x'], x: 1 })}.${encode('x')}.AAAA`,
      'malformed',
    ],
    'an unencoded payload': () => [
      `${encode({ alg: 'RS256', kid: 'RS256', b64: false, crit: ['b64'] })}.x.AAAA`,
      'malformed',
    ],
    'four parts': () => [`${encode({ alg: 'RS256', kid: 'RS256' })}.a.b.c`, 'malformed'],
    'no JSON in the header': () => ['AAAA.AAAA.AAAA', 'malformed'],
    'a header over its limit': () => [
      `${encode({ alg: 'RS256', kid: 'RS256', x: 'a'.repeat(9000) })}.AAAA.AAAA`,
      'malformed',
    ],
  }
  for (const [label, make] of Object.entries(refusals)) {
    test(`refused: ${label}`, async () => {
      const [jws, reason] = await make()
      expect((await open()('/v1/jose/verify', { jws })).json).toEqual({ valid: false, reason })
    })
  }

  test('an unprotected header may name the key, and no more', async () => {
    const token = { protected: encode({ alg: 'RS256' }), payload: 'AA', signature: 'AA' }
    const verify = (header: object) => open()('/v1/jose/verify', { jws: { ...token, header } })
    expect((await verify({ alg: 'RS256' })).status).toBe(400)
    expect((await verify({ kid: 'RS256' })).json.reason).toBe('signature_invalid')
  })

  test('an algorithm beside the pin, an unknown key and a missing private key are told', async () => {
    const call = open()
    const sign = async (body: object) =>
      (await call('/v1/jose/sign', { payload: 'x', ...body })).json.code
    expect(await sign({ kid: 'RS256', alg: 'RS512' })).toBe('jose_algorithm_not_allowed')
    expect(await sign({ kid: 'nobody' })).toBe('jose_key_unknown')
    const bare = open(await keySourceOf({ RS256: keys.RS256 }, { hasKey: false }))
    expect((await bare('/v1/jose/sign', { kid: 'RS256', payload: 'x' })).json.code).toBe(
      'jose_key_unknown',
    )
    const old = open(await keySourceOf({ RS256: keys.RS256 }, { active: false }))
    expect((await old('/v1/jose/sign', { kid: 'RS256', payload: 'x' })).json.code).toBe(
      'jose_key_unknown',
    )
  })

  test('content at the limit is signed, one byte more is not', async () => {
    const call = open()
    const signed = (length: number) =>
      call('/v1/jose/sign', { kid: 'ES256', payload: 'a'.repeat(length) })
    expect((await signed(contentBytesMax)).status).toBe(200)
    const { status, json } = await signed(contentBytesMax + 1)
    expect([status, json.errors[0].rule]).toEqual([400, 'bytes'])
    expect((await call('/v1/jose/verify', { jws: 'a'.repeat(tokenCharsMax + 1) })).status).toBe(400)
  })
})

describe.skipIf(openssl.missing)(`JWE${openssl.note}`, () => {
  for (const kid of ['RS256', 'RSA-OAEP']) {
    for (const enc of ['A128GCM', 'A256GCM']) {
      test(`${kid === 'RS256' ? 'RSA-OAEP-256' : kid} with ${enc}`, async () => {
        const call = open()
        for (const serialization of ['compact', 'flattened']) {
          const { json } = await call('/v1/jose/encrypt', {
            kid,
            enc,
            plaintext: 'olá',
            serialization,
          })
          const opened = await call('/v1/jose/decrypt', json)
          expect(opened.json).toMatchObject({ kid, plaintext: 'olá', header: { enc } })
        }
      })
    }
  }

  const header = { alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'RS256' } as const
  const encrypted = (more: object = {}) =>
    new CompactEncrypt(Buffer.from('x'))
      .setProtectedHeader({ ...header, ...more })
      .encrypt(createPublicKey(keys.RS256))
  const codeOf = async (jwe: string) => (await open()('/v1/jose/decrypt', { jwe })).json.code

  test('any altered part is refused alike', async () => {
    const token = await encrypted()
    for (let i = 1; i < 5; i++) {
      const parts = token.split('.')
      const old = parts[i] ?? ''
      parts[i] = (old.startsWith('A') ? 'B' : 'A') + old.slice(1)
      expect(await codeOf(parts.join('.'))).toBe('jose_decryption_failed')
    }
  })

  test('compression bombs, other algorithms and passwords are refused', async () => {
    expect(await codeOf(`${encode({ ...header, zip: 'DEF' })}.AAAA.AAAA.AAAA.AAAA`)).toBe(
      'jose_token_malformed',
    )
    expect(await codeOf(await encrypted({ alg: 'RSA-OAEP' }))).toBe('jose_algorithm_not_allowed')
    expect(await codeOf(await encrypted({ enc: 'A128CBC-HS256' }))).toBe(
      'jose_algorithm_not_allowed',
    )
    const password = {
      alg: 'PBES2-HS256+A128KW',
      enc: 'A256GCM',
      kid: 'RS256',
      p2c: 2 ** 31,
      p2s: 'AAAA',
    }
    expect(await codeOf(`${encode(password)}.AAAA.AAAA.AAAA.AAAA`)).toBe(
      'jose_algorithm_not_allowed',
    )
    expect(await codeOf(`${encode({ ...header, alg: 'RSA1_5' })}.AAAA.AAAA.AAAA.AAAA`)).toBe(
      'jose_algorithm_not_allowed',
    )
    expect(await codeOf(`${encode({ ...header, alg: 'dir' })}..AAAA.AAAA.AAAA`)).toBe(
      'jose_algorithm_not_allowed',
    )
    expect(await codeOf('AAAA')).toBe('jose_token_malformed')
  })

  test('keys of elliptic curves are not for encryption', async () => {
    const { json } = await open()('/v1/jose/encrypt', { kid: 'ES256', plaintext: 'x' })
    expect(json.code).toBe('jose_algorithm_not_allowed')
  })
})

describe.skipIf(openssl.missing)(`RFC 7520${openssl.note}`, () => {
  const { '4.1': signed, '5.2': sealed } = vectors
  const all = async () =>
    open(
      await keySourceOf({ [signed.kid]: rsaKeyOf(signed), [sealed.kid]: rsaKeyOf(sealed) }),
      `${sealed.kid}:RSA-OAEP`,
    )

  test('4.1: RSA signature, verified and made again', async () => {
    const call = await all()
    const verified = await call('/v1/jose/verify', { jws: signed.compact })
    expect(verified.json).toMatchObject({ valid: true, payload: signed.payload })
    const again = await call('/v1/jose/sign', { kid: signed.kid, payload: signed.payload })
    expect(again.json.jws).toBe(signed.compact)
  })

  test('5.2: RSA-OAEP with A256GCM, decrypted', async () => {
    const { json } = await (await all())('/v1/jose/decrypt', { jwe: sealed.compact })
    expect(json.plaintext).toBe(sealed.payload)
  })
})

describe.skipIf(openssl.missing)(`key set${openssl.note}`, () => {
  test('public keys only, one per purpose, without a key needed to read it', async () => {
    const feature = joseFeature(source)
    const response = await testApp(feature.routes ?? []).call('GET', '/.well-known/jwks.json')
    expect(response.headers.get('content-type')).toBe('application/jwk-set+json')
    const { keys: found } = (await response.json()) as { keys: Record<string, string>[] }
    expect(found.length).toBe(5 * 2 + 2)
    expect(found.find(({ kid }) => kid === 'ES384')).toMatchObject({
      kty: 'EC',
      crv: 'P-384',
      alg: 'ES384',
      use: 'sig',
    })
    for (const key of found) {
      expect(
        Object.keys(key).filter((name) => ['d', 'p', 'q', 'dp', 'dq', 'qi'].includes(name)),
      ).toEqual([])
    }
  })

  test('certificates without a private key, or not valid now, are not in it', async () => {
    for (const more of [{ hasKey: false }, { active: false }]) {
      const call = open(await keySourceOf({ RS256: keys.RS256 }, more))
      expect((await call('/.well-known/jwks.json')).json).toEqual({ keys: [] })
    }
  })
})

test('without a certificate store a problem names the settings', async () => {
  const feature = joseFeature(undefined)
  const response = await testApp(feature.routes ?? []).call('GET', '/.well-known/jwks.json')
  expect(response.status).toBe(503)
})

test('pins of another form are refused at the start', () => {
  for (const text of ['RS256', 'a:ES256', 'a:HS256', 'a:none', ':RS256', 'a:RS256:x']) {
    const { problems } = loadSettings({ jose: joseSettings }, { TRILHO_JOSE_ALGORITHMS: text })
    expect(problems.length, text).toBe(1)
  }
})
