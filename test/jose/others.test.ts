import { afterAll, describe, expect, test } from 'bun:test'
import { createHash, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompactEncrypt, CompactSign, exportJWK, FlattenedEncrypt, FlattenedSign } from 'jose'
import type { JoseKeySource } from '../../src/jose/index.ts'
import { keySetBytesMax } from '../../src/jose/key-set.ts'
import { callerOf, joseFeature, noKeys } from '../support/jose.ts'
import { issueCertificate } from '../support/pki.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const authority = issueCertificate('AC Teste', { authority: true })
const pair = issueCertificate('99999010 QRC', { issuer: authority })
const certificate = new X509Certificate(pair.cert)
const x5t = createHash('sha1').update(certificate.raw).digest('base64url')
const x5tS256 = createHash('sha256').update(certificate.raw).digest('base64url')

type Header = Readonly<Record<string, unknown>>

const { createPrivateKey } = await import('node:crypto')
const privateKey = createPrivateKey(pair.key)
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })

const tokenOf = (header: Header, key: KeyObject = privateKey, payload = 'x') =>
  new CompactSign(bytes(payload)).setProtectedHeader({ alg: 'RS256', ...header }).sign(key)

/** One certificate of ours in the store. */
const store: JoseKeySource = {
  list: async () => [
    {
      kid: '12345678.QRC.1',
      certificate: pair.cert,
      fingerprint: 'one',
      active: true,
      hasKey: true,
      signs: true,
      encrypts: true,
      isForTokens: true,
    },
  ],
  readKey: async () => new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' })),
}

const call = callerOf(joseFeature(store))
const verify = async (body: object, by = call) => (await by('/v1/jose/verify', body)).json

const publicJwk = async (key: KeyObject, more: object = {}) => {
  const { kty, n, e, crv, x, y } = await exportJWK(key)
  return JSON.parse(JSON.stringify({ kty, n, e, crv, x, y, ...more }))
}

describe('keys of our store, named in other ways', () => {
  describe.each([
    ['no name', {}],
    ['a thumbprint', { x5t }],
  ])('a token with %s is decrypted', (_, names) => {
    const foreign = issueCertificate('88888010 QRC', { issuer: authority })
    const open = async (source: JoseKeySource) => {
      const jwe = await new CompactEncrypt(bytes('segredo'))
        .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', ...names })
        .encrypt(certificate.publicKey)
      return (await callerOf(joseFeature(source))('/v1/jose/decrypt', { jwe })).json
    }
    const listed = async (more: object) => {
      const [own] = await store.list()
      if (own === undefined) throw new Error('no certificate')
      return { ...own, ...more }
    }

    test('beside certificates whose key is not ours', async () => {
      const others = await Promise.all(
        [foreign.cert, pair.cert].map((cert, at) =>
          listed({
            kid: `8888801${at}.QRC.1`,
            certificate: cert,
            fingerprint: cert,
            hasKey: false,
          }),
        ),
      )
      const all = [...others, ...(await store.list())]
      const readKey: JoseKeySource['readKey'] = async (kid, fingerprint) =>
        kid.startsWith('8') ? undefined : store.readKey(kid, fingerprint)
      expect(await open({ list: async () => all, readKey })).toMatchObject({ plaintext: 'segredo' })
    })

    test('beside one whose key was removed a moment ago', async () => {
      const all = [
        await listed({ kid: '12345678.QRC.0', fingerprint: 'gone' }),
        ...(await store.list()),
      ]
      const readKey: JoseKeySource['readKey'] = async (kid, fingerprint) =>
        kid.endsWith('0') ? undefined : store.readKey(kid, fingerprint)
      expect(await open({ list: async () => all, readKey })).toMatchObject({ plaintext: 'segredo' })
    })
  })

  test('beside the token, by thumbprint, or not at all', async () => {
    const valid = { valid: true, kid: '12345678.QRC.1', key_source: 'store' }
    expect(await verify({ jws: await tokenOf({}), kid: '12345678.QRC.1' })).toMatchObject(valid)
    expect(await verify({ jws: await tokenOf({ x5t }) })).toMatchObject(valid)
    expect(await verify({ jws: await tokenOf({ 'x5t#S256': x5tS256 }) })).toMatchObject(valid)
    const padded = { x5t: `${x5t}=`, 'x5t#S256': `${x5tS256}=`, kid: 'what the partner says' }
    expect(await verify({ jws: await tokenOf(padded) })).toMatchObject(valid)
    expect(await verify({ jws: await tokenOf({}) })).toMatchObject(valid)
    const unprotected = await new FlattenedSign(bytes('x'))
      .setProtectedHeader({ alg: 'RS256' })
      .setUnprotectedHeader({ kid: '12345678.QRC.1' })
      .sign(privateKey)
    expect(await verify({ jws: unprotected })).toMatchObject(valid)
  })

  test('names that contradict each other, or another key, find none', async () => {
    const reason = async (jws: unknown, kid?: string) => (await verify({ jws, kid })).reason
    expect(await reason(await tokenOf({ x5t, 'x5t#S256': x5t }))).toBe('key_unknown')
    expect(await reason(await tokenOf({ x5t: x5tS256 }))).toBe('key_unknown')
    expect(await reason(await tokenOf({ kid: 'a' }), '12345678.QRC.1')).toBe('malformed')
    expect(await reason(await tokenOf({ kid: 7 }))).toBe('malformed')
    expect(await reason(await tokenOf({ x5t: ['a'] }))).toBe('malformed')
    expect(await reason(await tokenOf({}, other.privateKey))).toBe('signature_invalid')
    const twice = await new FlattenedSign(bytes('x'))
      .setProtectedHeader({ alg: 'RS256', kid: '12345678.QRC.1' })
      .sign(privateKey)
    expect(await reason({ ...twice, header: { kid: '12345678.QRC.1' } })).toBe('malformed')
  })

  test('tokens for us are opened by thumbprint, by a kid beside them, or by none', async () => {
    const jwe = (header: Header) =>
      new CompactEncrypt(bytes('segredo'))
        .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', ...header })
        .encrypt(certificate.publicKey)
    const open = async (body: object) => (await call('/v1/jose/decrypt', body)).json
    const opened = { kid: '12345678.QRC.1', plaintext: 'segredo' }
    for (const header of [{ x5t }, { 'x5t#S256': x5tS256, kid: 'theirs' }, {}]) {
      expect(await open({ jwe: await jwe(header) })).toMatchObject(opened)
    }
    expect(await open({ jwe: await jwe({}), kid: '12345678.QRC.1' })).toMatchObject(opened)
    const flattened = await new FlattenedEncrypt(bytes('segredo'))
      .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM' })
      .setUnprotectedHeader({ kid: '12345678.QRC.1' })
      .encrypt(certificate.publicKey)
    expect(await open({ jwe: flattened })).toMatchObject(opened)
    expect((await open({ jwe: await jwe({ x5t: x5tS256 }) })).code).toBe('jose_key_unknown')
    expect((await open({ jwe: await jwe({}), kid: 'nobody' })).code).toBe('jose_key_unknown')
  })
})

describe('detached payloads', () => {
  for (const b64 of [true, false]) {
    for (const serialization of ['compact', 'flattened']) {
      test(`${serialization}, ${b64 ? 'encoded' : 'unencoded'}: what we sign, we verify`, async () => {
        const payload = '{"valor": "10.00"}.$'
        const wanted = {
          kid: '12345678.QRC.1',
          payload,
          payload_form: b64 ? 'detached' : 'detached_unencoded',
          serialization,
        }
        const { jws } = (await call('/v1/jose/sign', wanted)).json
        expect(JSON.stringify(jws)).not.toContain(Buffer.from(payload).toString('base64url'))
        expect(await verify({ jws, payload })).toMatchObject({ valid: true, payload })
        expect((await verify({ jws, payload: `${payload} ` })).reason).toBe('signature_invalid')
        expect((await verify({ jws })).valid).toBe(false)
      })
    }
  }

  test('bytes, an empty payload, and a payload in both places', async () => {
    const payload = Buffer.from([0, 0xff, 0x80]).toString('base64url')
    const form = { payload, payload_encoding: 'base64url' }
    const body = { kid: '12345678.QRC.1', ...form, payload_form: 'detached_unencoded' }
    const { jws } = (await call('/v1/jose/sign', body)).json
    expect(await verify({ jws, ...form })).toMatchObject({ valid: true, ...form })
    expect((await verify({ jws: await tokenOf({}), payload: 'x' })).reason).toBe('malformed')
    const empty = await tokenOf({}, privateKey, '')
    expect(await verify({ jws: empty, payload: '' })).toMatchObject({ valid: true, payload: '' })
    expect(await verify({ jws: empty })).toMatchObject({ valid: true, payload: '' })
  })

  test('b64 must be critical and a boolean, and nothing else may be', async () => {
    const sign = (header: Header) => `${encode({ alg: 'RS256', ...header })}..AAAA`
    for (const header of [
      { b64: false },
      { b64: 'false', crit: ['b64'] },
      { b64: false, crit: ['b64', 'exp'], exp: 1 },
      { b64: false, crit: 'b64' },
      { crit: [] },
      { crit: ['alg'] },
    ]) {
      expect((await verify({ jws: sign(header), payload: 'x' })).reason).toBe('malformed')
    }
  })
})

describe('key sets', () => {
  const verifyWith = async (keys: readonly unknown[], header: Header, key = other.privateKey) =>
    verify({ jws: await tokenOf(header, key), jwks: { keys } })

  test('of the request: these keys, and no others', async () => {
    const jwk = await publicJwk(other.publicKey, { kid: 'partner' })
    expect(await verifyWith([jwk], { kid: 'partner' })).toMatchObject({
      valid: true,
      kid: 'partner',
      key_source: 'request',
    })
    expect((await verifyWith([jwk], {})).valid).toBe(true)
    expect((await verifyWith([jwk], { kid: '12345678.QRC.1' }, privateKey)).reason).toBe(
      'key_unknown',
    )
    expect((await verifyWith([], { kid: 'partner' })).reason).toBe('key_unknown')
  })

  test('a key is used as it says, and not if it contradicts itself', async () => {
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const x5c = [certificate.raw.toString('base64')]
    const good = await publicJwk(privateKey)
    const of = (more: object) => ({ ...good, ...more })
    const reasons = async (jwk: unknown, header: Header = {}, key = privateKey) => {
      const { valid, reason } = await verifyWith([jwk], header, key)
      return valid ? 'valid' : reason
    }
    expect(await reasons(of({ x5c, x5t, use: 'sig', key_ops: ['verify'], alg: 'RS256' }))).toBe(
      'valid',
    )
    expect(await reasons(of({ x5c }), { x5t })).toBe('valid')
    expect(await reasons(of({ x5t }), { x5t })).toBe('valid')
    expect(await reasons(of({ alg: 'PS256' }))).toBe('algorithm_not_allowed')
    expect(await reasons(of({ use: 'enc' }))).toBe('key_unknown')
    expect(await reasons(of({ key_ops: ['encrypt'] }))).toBe('key_unknown')
    expect(await reasons(of({ x5t: x5tS256, x5c }))).toBe('key_unknown')
    expect(await reasons({ ...(await publicJwk(other.publicKey)), x5c })).toBe('key_unknown')
    expect(await reasons(of({ x5c: [`${x5c[0]?.slice(0, 64)}\n${x5c[0]?.slice(64)}`] }))).toBe(
      'key_unknown',
    )
    expect(await reasons(of({ x5c: [] }))).toBe('key_unknown')
    expect(await reasons(of({ n: 'AQ' }))).toBe('key_unknown')
    expect(await reasons({ kty: 'oct', k: 'AAAA' })).toBe('key_unknown')
    expect(await reasons(await publicJwk(small.publicKey))).toBe('key_unknown')
  })

  test('no algorithm of the token makes a public key a secret', async () => {
    const jwk = await publicJwk(other.publicKey, { kid: 'partner' })
    const pem = other.publicKey.export({ format: 'pem', type: 'spki' }).toString()
    const signer = new CompactSign(bytes('x')).setProtectedHeader({ alg: 'HS256', kid: 'partner' })
    const jws = await signer.sign(bytes(pem))
    expect((await verify({ jws, jwks: { keys: [jwk] } })).reason).toBe('algorithm_not_allowed')
    const none = `${encode({ alg: 'none', kid: 'partner' })}.${encode('x')}.`
    expect((await verify({ jws: none, jwks: { keys: [jwk] } })).reason).toBe(
      'algorithm_not_allowed',
    )
    const embedded = await tokenOf({ jwk: await publicJwk(other.publicKey) }, other.privateKey)
    expect((await verify({ jws: embedded })).reason).toBe('signature_invalid')
  })

  test('a token that names no key is not tried with many', async () => {
    const jwk = await publicJwk(other.publicKey)
    const many = (count: number) => Array.from({ length: count }, () => jwk)
    expect((await verifyWith(many(16), {})).valid).toBe(true)
    expect((await verifyWith(many(17), {})).reason).toBe('key_ambiguous')
    const body = { jws: await tokenOf({}), jwks: { keys: many(65) } }
    expect((await call('/v1/jose/verify', body)).status).toBe(400)
  })

  test('of a file are followed, and a file that is none ends the start', async () => {
    const path = join(temporaryDirectory(), 'keys.json')
    const put = (value: unknown) => writeFileSync(path, JSON.stringify(value))
    put({ keys: [await publicJwk(other.publicKey, { kid: 'partner' })] })
    const feature = joseFeature(noKeys, { TRILHO_JOSE_KEYS_PATH: path })
    await feature.start?.()
    const jws = await tokenOf({ kid: 'partner' }, other.privateKey)
    expect(await verify({ jws }, callerOf(feature))).toMatchObject({
      valid: true,
      key_source: 'pinned',
    })
    put({ keys: [] })
    await expect(joseFeature(noKeys, { TRILHO_JOSE_KEYS_PATH: path }).start?.()).rejects.toThrow(
      'can verify',
    )
    put([])
    await expect(joseFeature(noKeys, { TRILHO_JOSE_KEYS_PATH: path }).start?.()).rejects.toThrow(
      'no JWK set',
    )
  })
})

describe('addresses of key sets', () => {
  let set: unknown = { keys: [] }
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      asked.push(pathname)
      if (pathname === '/huge') return new Response(' '.repeat(keySetBytesMax + 1))
      if (pathname === '/elsewhere') return Response.redirect('/keys')
      return Response.json(set)
    },
  })
  afterAll(() => server.stop(true))
  const site = `http://127.0.0.1:${server.port}`
  const trusting = (allowed: string) =>
    callerOf(joseFeature(noKeys, { TRILHO_JOSE_JKU_ALLOWED: allowed }))

  test('only those of the setting are asked, and their keys verify', async () => {
    set = { keys: [await publicJwk(other.publicKey, { kid: 'partner' })] }
    const by = trusting(`${site}/keys,${site}/partners/`)
    const token = (jku: unknown) => tokenOf({ kid: 'partner', jku }, other.privateKey)
    for (const jku of [`${site}/keys`, `${site}/partners/a`, `${site}/partners/a?v=2`]) {
      expect(await verify({ jws: await token(jku) }, by)).toMatchObject({
        valid: true,
        key_source: 'jku',
        kid: 'partner',
      })
    }
    const before = asked.length
    for (const jku of [
      ...[`${site}/keys2`, `${site}/keys?x=1`, `${site}/keys#x`, `${site}/`, `${site}/partners`],
      ...[
        `${site}/partners/../other`,
        `${site}/partners/%2e%2e/other`,
        `${site}/partners/..%2fother`,
      ],
      ...[`http://127.0.0.1.evil.example/keys`, `http://evil@127.0.0.1:${server.port}/keys`],
      'https://evil.example/keys',
      'file:///etc/passwd',
      '/keys',
      '',
      7,
      ['x'],
    ]) {
      expect([jku, (await verify({ jws: await token(jku) }, by)).reason]).toEqual([
        jku,
        'jku_not_allowed',
      ])
    }
    expect(asked.length).toBe(before)
  })

  test('a set is kept, and asked for again when a key is new', async () => {
    set = { keys: [await publicJwk(other.publicKey, { kid: 'partner' })] }
    const by = trusting(`${site}/`)
    const jws = await tokenOf({ kid: 'partner', jku: `${site}/kept` }, other.privateKey)
    for (let i = 0; i < 5; i++) expect((await verify({ jws }, by)).valid).toBe(true)
    const unknown = await tokenOf({ kid: 'nobody', jku: `${site}/kept` }, other.privateKey)
    for (let i = 0; i < 5; i++)
      expect((await verify({ jws: unknown }, by)).reason).toBe('key_unknown')
    expect(asked.filter((path) => path === '/kept').length).toBe(1)
  })

  test('what cannot be read is said, and private addresses are not reached', async () => {
    const by = trusting(`${site}/`)
    const said = async (jku: string, from = by) => {
      const jws = await tokenOf({ kid: 'partner', jku }, other.privateKey)
      return verify({ jws }, from)
    }
    expect(await said(`${site}/huge`)).toMatchObject({ reason: 'keys_unavailable' })
    expect((await said(`${site}/elsewhere`)).message).toContain('leads elsewhere')
    set = { no: 'keys' }
    expect((await said(`${site}/none`)).message).toContain('no JWK set')
    const guarded = callerOf(
      joseFeature(noKeys, {
        TRILHO_JOSE_JKU_ALLOWED: `${site}/`,
        TRILHO_FETCH_ALLOWED_TARGETS: '',
      }),
    )
    expect((await said(`${site}/keys`, guarded)).message).toContain('not public')
  })
})
