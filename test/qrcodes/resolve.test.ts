import { afterAll, describe, expect, test } from 'bun:test'
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompactSign, exportJWK } from 'jose'
import { buildDynamicBrCode } from '#codecs/brcode'
import { loadSettings } from '#src/platform/config/index.ts'
import { createOutsideReader, outsideSettings } from '#src/platform/http/index.ts'
import { readingMax } from '../../src/platform/http/outside/reader.ts'
import { createQrcodes } from '../../src/qrcodes/index.ts'
import { tokenBytesMax } from '../../src/qrcodes/resolve.ts'
import { callerOf, joseFeature, noKeys } from '../support/jose.ts'
import { type IssuedPair, issueCertificate } from '../support/pki.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const authority = issueCertificate('AC Teste', { authority: true })
const site = issueCertificate('site', { issuer: authority, hosts: ['127.0.0.1'] })
const own = issueCertificate('99999010 QRC', { issuer: authority })
const over = issueCertificate('99999010 QRC', {
  issuer: authority,
  notBefore: new Date('2020-01-01'),
  notAfter: new Date('2021-01-01'),
})
const stranger = issueCertificate('stranger')

const charge = {
  revisao: 0,
  calendario: { criacao: '2026-11-01T12:00:00Z', expiracao: 3600 },
  status: 'ATIVA',
  valor: { original: '10.00' },
  chave: '123e4567-e12b-12d1-a456-426655440000',
  txid: 'a'.repeat(30),
}

type Chain = readonly IssuedPair[]

/** The JWK of a pair as institutions publish it, with the certificates given. */
const jwkOf = async ({ key, cert }: IssuedPair, chain: Chain = [{ cert, key, serial: '' }]) => {
  const { kty, n, e } = await exportJWK(createPrivateKey(key))
  const certificates = chain.map((one) => new X509Certificate(one.cert).raw)
  const [first = Buffer.alloc(0)] = certificates
  return {
    kty,
    n,
    e,
    kid: 'psp-1',
    use: 'sig',
    alg: 'RS256',
    x5t: createHash('sha1').update(first).digest('base64url'),
    x5c: certificates.map((der) => der.toString('base64')),
  }
}

const signed = (jku: string | undefined, { key }: IssuedPair = own, payload: unknown = charge) =>
  new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'RS256', kid: 'psp-1', ...(jku === undefined ? {} : { jku }) })
    .sign(createPrivateKey(key))

const endless = (part: Uint8Array, everyMs: number) => {
  let timer: ReturnType<typeof setInterval> | undefined
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      timer = setInterval(() => controller.enqueue(part), everyMs)
    },
    cancel: () => clearInterval(timer),
  })
}

const asked: string[] = []
let pages: Readonly<Record<string, () => Response | Promise<Response>>> = {}
const serve = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 30,
    tls: { cert: site.cert, key: site.key },
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      asked.push(pathname + search)
      return pages[pathname]?.() ?? new Response(null, { status: 404 })
    },
  })
const [server, elsewhere] = [serve(), serve()]
afterAll(() => Promise.all([server.stop(true), elsewhere.stop(true)]))
const host = `127.0.0.1:${server.port}`

const keysAt = (...keys: readonly unknown[]) => ({ '/keys': () => Response.json({ keys }) })
const tokenAt = (token: string) => ({
  '/cob': () => new Response(token, { headers: { 'Content-Type': 'application/jose' } }),
})

const open = (env: Readonly<Record<string, string>> = {}) => {
  const all = {
    TRILHO_FETCH_ALLOWED_TARGETS: '127.0.0.1',
    TRILHO_FETCH_TIMEOUT: '1',
    TRILHO_FETCH_CA_BASE64: btoa(authority.cert),
    ...env,
  }
  const { values } = loadSettings({ outside: outsideSettings }, all)
  const read = createOutsideReader(values.outside, 'test')
  const jose = joseFeature(noKeys, all)
  return {
    start: jose.start,
    call: callerOf(createQrcodes({ read, open: jose.openPayload }), 'qrcodes:use'),
  }
}

const codeFor = (url: string) =>
  buildDynamicBrCode({ merchantName: 'Fulano', merchantCity: 'BRASILIA', url })
const resolve = async (path = '/cob', more: object = {}, call = open().call) => {
  const payload = codeFor(`${host}${path}`)
  const { status, json } = await call('/v1/pix/qrcode/resolve', { payload, ...more })
  return { status, ...json }
}
const jku = `https://${host}/keys`

describe('a charge behind a dynamic code', () => {
  test('is read and verified by the key set of its own site', async () => {
    pages = { ...keysAt(await jwkOf(own, [own, authority])), ...tokenAt(await signed(jku)) }
    const found = await resolve('/cob', { cod_mun: '5300108', dpp: '2026-12-01' })
    expect(found).toMatchObject({
      status: 200,
      location: `https://${host}/cob?codMun=5300108&DPP=2026-12-01`,
      code: { name: 'Fulano', pix: { kind: 'dynamic' } },
      verdict: {
        valid: true,
        kid: 'psp-1',
        alg: 'RS256',
        key_source: 'jku',
        certificate: { subject: expect.stringContaining('99999010 QRC'), serial: own.serial },
      },
      header: { kid: 'psp-1' },
      payload: charge,
    })
    expect(asked).toContain('/cob?codMun=5300108&DPP=2026-12-01')
  })

  test('by pinned keys where the token names no address', async () => {
    const path = join(temporaryDirectory(), 'keys.json')
    writeFileSync(path, JSON.stringify({ keys: [await jwkOf(own)] }))
    pages = tokenAt(await signed(undefined))
    const { start, call } = open({ TRILHO_JOSE_KEYS_PATH: path })
    await start?.()
    const verdict = { valid: true, key_source: 'pinned' }
    expect(await resolve('/cob', {}, call)).toMatchObject({ verdict })
    expect((await resolve()).verdict).toMatchObject({ valid: false, reason: 'key_unknown' })
  })

  test('by the key set of its own site where a pinned key is called the same', async () => {
    const path = join(temporaryDirectory(), 'keys.json')
    const { x5t: _, ...pinned } = await jwkOf(stranger)
    writeFileSync(path, JSON.stringify({ keys: [pinned] }))
    pages = { ...keysAt(await jwkOf(own)), ...tokenAt(await signed(jku)) }
    const { start, call } = open({ TRILHO_JOSE_KEYS_PATH: path })
    await start?.()
    const verdict = async () => (await resolve('/cob', {}, call)).verdict
    expect(await verdict()).toMatchObject({ valid: true, key_source: 'jku' })
    pages = { ...pages, ...tokenAt(await signed(jku, stranger)) }
    expect(await verdict()).toMatchObject({ valid: true, key_source: 'pinned' })
    pages = { ...pages, ...tokenAt(await signed(jku, over)) }
    expect(await verdict()).toMatchObject({ valid: false, reason: 'signature_invalid' })
    pages = { ...pages, ...tokenAt(await signed('https://elsewhere.example/keys', over)) }
    expect(await verdict()).toMatchObject({ valid: false, reason: 'signature_invalid' })
  })

  test('what does not hold is shown with the reason, and is not valid', async () => {
    const verdictOf = async (token: string, ...keys: readonly unknown[]) => {
      pages = { ...keysAt(...keys), ...tokenAt(token) }
      const { status, verdict, payload } = await resolve()
      return [status, verdict.valid, verdict.reason, payload === null ? 'nothing' : 'payload']
    }
    const good = await jwkOf(own)
    const token = await signed(jku)
    const [header, , signature] = token.split('.')
    const dearer = Buffer.from(JSON.stringify({ ...charge, valor: { original: '1.00' } }))
    const altered = [header, dearer.toString('base64url'), signature].join('.')
    const refused = (reason: string, shown = 'payload') => [200, false, reason, shown]
    expect(await verdictOf(altered, good)).toEqual(refused('signature_invalid'))
    expect(await verdictOf(await signed(jku, stranger), good)).toEqual(refused('signature_invalid'))
    expect(await verdictOf(token)).toEqual(refused('key_unknown'))
    expect(await verdictOf(token, { ...good, x5c: (await jwkOf(stranger)).x5c })).toEqual(
      refused('key_unknown'),
    )
    expect(await verdictOf(token, { ...good, alg: 'PS256' })).toEqual(
      refused('algorithm_not_allowed'),
    )
    expect(await verdictOf(await signed(jku, over), await jwkOf(over))).toEqual(
      refused('certificate_expired'),
    )
    expect(await verdictOf(token, await jwkOf(own, [own, stranger]))).toEqual(
      refused('certificate_chain_broken'),
    )
    expect(await verdictOf('<html>', good)).toEqual(refused('malformed', 'nothing'))
    const none = `${Buffer.from('{"alg":"none","kid":"psp-1"}').toString('base64url')}.${token.split('.')[1]}.`
    expect(await verdictOf(none, good)).toEqual(refused('key_unknown'))
  })

  test('keys of another site, port or scheme are not asked for', async () => {
    const before = asked.length
    for (const address of [
      `https://127.0.0.1:${elsewhere.port}/keys`,
      `http://${host}/keys`,
      `https://${host}.evil.example/keys`,
      `https://evil@${host}/keys`,
      'https://evil.example/keys',
      'file:///keys',
      '/keys',
    ]) {
      pages = { ...keysAt(await jwkOf(own)), ...tokenAt(await signed(address)) }
      expect((await resolve()).verdict).toMatchObject({ valid: false, reason: 'jku_not_allowed' })
    }
    expect(asked.slice(before).filter((path) => path === '/keys')).toEqual([])
    pages = {
      '/keys': () => Response.redirect(`https://${host}/other`),
      ...tokenAt(await signed(jku)),
    }
    expect((await resolve()).verdict).toMatchObject({ valid: false, reason: 'keys_unavailable' })
  })
})

describe('a hostile location', () => {
  test('elsewhere, too large, endless, slow, gone or silent: named, bounded, and nothing is followed', async () => {
    pages = {
      '/redirect': () => Response.redirect(`https://${host}/cob`),
      '/huge': () => new Response(new Uint8Array(100 * 1024 * 1024)),
      '/endless': () => new Response(endless(new Uint8Array(tokenBytesMax), 1)),
      '/slow': () => new Response(endless(new Uint8Array(1), 20)),
      '/gone': () => new Response(null, { status: 410 }),
      '/error': () => new Response(null, { status: 500 }),
      ...tokenAt('never'),
    }
    const before = asked.length
    const reasonAt = async (path: string) => {
      const { status, code, reason } = await resolve(path)
      return [status, code, reason]
    }
    const unavailable = (reason: string) => [502, 'qrcode_location_unavailable', reason]
    expect(await reasonAt('/redirect')).toEqual(unavailable('redirect'))
    expect(await reasonAt('/huge')).toEqual(unavailable('too_large'))
    expect(await reasonAt('/endless')).toEqual(unavailable('too_large'))
    expect(await reasonAt('/slow')).toEqual(unavailable('timeout'))
    expect(await reasonAt('/error')).toEqual(unavailable('status'))
    expect(await reasonAt('/gone')).toEqual([422, 'qrcode_gone', undefined])
    expect(asked.slice(before)).not.toContain('/cob')
  })

  test('private addresses are not reached', async () => {
    const { call } = open({ TRILHO_FETCH_ALLOWED_TARGETS: '' })
    const before = asked.length
    for (const url of [
      `${host}/cob`,
      '169.254.169.254/latest',
      '[::1]/x',
      '10.0.0.1/x',
      `a:b@${host}/x`,
    ]) {
      const { status, json } = await call('/v1/pix/qrcode/resolve', { payload: codeFor(url) })
      expect([url, status, json.code]).toEqual([url, 422, 'qrcode_location_refused'])
    }
    expect(asked.length).toBe(before)
  })

  test('no more wait at once than an account may have, and honest codes are resolved afterwards', async () => {
    pages = {
      '/slow': () => new Response(endless(new Uint8Array(1), 200)),
      ...keysAt(await jwkOf(own)),
      ...tokenAt(await signed(jku)),
    }
    const { call } = open()
    const most = (readingMax * 2) / 3
    const all = await Promise.all(
      Array.from({ length: most + 1 }, () => resolve('/slow', {}, call)),
    )
    const statuses = all.map(({ status }) => status)
    expect(statuses.filter((status) => status === 503).length).toBe(1)
    expect(statuses.filter((status) => status === 502).length).toBe(most)
    expect((await resolve('/cob', {}, call)).verdict.valid).toBe(true)
  })
})

test('codes without a location, and what is no code, are refused', async () => {
  const { call } = open()
  const code = async (payload: string, more: object = {}) =>
    (await call('/v1/pix/qrcode/resolve', { payload, ...more })).json.code
  const still =
    '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D'
  expect(await code(still)).toBe('qrcode_without_location')
  expect(await code(codeFor(`${host}/cob`), { of: 'recurrence' })).toBe('qrcode_without_location')
  expect(await code('not a code')).toBe('brcode_invalid')
  expect(await code(still, { dpp: '2026-13-01' })).toBe('validation_failed')
})
