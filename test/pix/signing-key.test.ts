/** What is told, and what signs, once the certificate that signs payloads is over or gone. */
import { afterAll, expect, test } from 'bun:test'
import { createPrivateKey } from 'node:crypto'
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose'
import { signingHealth } from '../../src/pix/payloads/signing.ts'
import { issueCertificate } from '../support/pki.ts'
import { chargeBody, freshTxid, host, kid, pair, signingCertificate, startPix } from './support.ts'

const next = issueCertificate('12345678 QRC next')
const later = issueCertificate('12345678 QRC later')
const familyMember = (version: number, { cert }: { readonly cert: string }, more: object = {}) => ({
  ...signingCertificate,
  kid: `12345678.QRC.${version}`,
  certificate: cert,
  fingerprint: String(version),
  ...more,
})
const secrets = new Map([
  [kid, pair.key],
  ['12345678.QRC.2', next.key],
  ['12345678.QRC.10', later.key],
])
/** What the store holds; read in place, so that a change is seen at once. */
const stored = [signingCertificate]
const hold = (...all: typeof stored) => stored.splice(0, stored.length, ...all)
const over = { active: false }

let clock = new Date()
const pix = await startPix(() => clock, undefined, {
  list: async () => stored,
  readKey: async (name) => {
    const secret = secrets.get(name)
    if (secret === undefined) return undefined
    return new Uint8Array(createPrivateKey(secret).export({ format: 'der', type: 'pkcs8' }))
  },
})
afterAll(() => pix.database.close())
const { key, token } = await pix.receiver('ana')
const made = await pix.call('PUT', `/pix/v2/cob/${freshTxid()}`, { token, body: chargeBody(key) })

const read = () => {
  // What was signed within this second is not signed again.
  clock = new Date(clock.getTime() + 1_000)
  return pix.call('GET', made.json.location.slice(host.length))
}
const signerNow = async () => {
  const { text } = await read()
  const keys = (await pix.call('GET', '/qr/v2/jwks.json')).json as JSONWebKeySet
  return (await compactVerify(text, createLocalJWKSet(keys))).protectedHeader.kid
}

test('the certificate that is named signs while it holds, then the latest that does', async () => {
  hold(signingCertificate, familyMember(2, next))
  expect(await signerNow()).toBe(kid)
  hold({ ...signingCertificate, ...over }, familyMember(2, next))
  expect(await signerNow()).toBe('12345678.QRC.2')
  hold(familyMember(2, next), familyMember(10, later))
  expect(await signerNow()).toBe('12345678.QRC.10')
  hold(familyMember(2, next), familyMember(10, later, { hasKey: false }))
  expect(await signerNow()).toBe('12345678.QRC.2')
  expect(await pix.health?.()).toEqual({ status: 'ok', ready: true })
})

test.each([
  ['is over', [{ ...signingCertificate, ...over }]],
  ['is gone', []],
  ['has no key', [{ ...signingCertificate, hasKey: false }]],
  ['signs no tokens', [{ ...signingCertificate, isForTokens: false }]],
  [
    'is over, and others are no successors of it',
    [
      { ...signingCertificate, ...over },
      familyMember(1, next, { kid: '87654321.QRC.2' }),
      familyMember(1, later, { kid: '12345678.PIA.2' }),
    ],
  ],
])('where it %s, health says so, and payloads are there again later', async (_, all) => {
  hold(...all)
  const { status, headers, json } = await read()
  expect([status, headers.get('retry-after'), json.type]).toEqual([
    ...[503, '60', 'https://pix.bcb.gov.br/api/v2/error/ServicoIndisponivel'],
  ])
  expect(await pix.health?.()).toEqual({
    status: 'degraded',
    ready: true,
    reason: 'payloads cannot be signed',
    detail: { kid },
  })
})

test('one whose key is removed after it was listed is gone', async () => {
  hold(familyMember(3, issueCertificate('12345678 QRC removed')))
  expect((await read()).status).toBe(503)
})

test('where no certificate is named, health says so, and charges are made and read once one is', async () => {
  const canSign = () => Promise.reject(new Error('nobody asks'))
  expect(await signingHealth({ canSign }, undefined)).toEqual({
    status: 'degraded',
    ready: true,
    reason: 'payloads cannot be signed',
    detail: { settings: ['PIX_SIGNING_KID'] },
  })
  hold()
  const before = await pix.call('PUT', `/pix/v2/cob/${freshTxid()}`, {
    token,
    body: chargeBody(key),
  })
  expect(before.status).toBe(201)
  const payload = () => pix.call('GET', before.json.location.slice(host.length))
  expect((await payload()).status).toBe(503)
  hold(signingCertificate)
  expect((await payload()).status).toBe(200)
})
