import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createCertificates } from '../../src/certificates/index.ts'
import { quietLogger } from '../support/database.ts'
import { callerOf, joseFeature } from '../support/jose.ts'
import { issueCertificate } from '../support/pki.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const usages = {
  both: { digitalSignature: true, keyEncipherment: true },
  signature: { digitalSignature: true },
  encipherment: { keyEncipherment: true },
}

/** The endpoints of JOSE over a folder with these certificates. */
const open = (certificates: Readonly<Record<string, keyof typeof usages>>) => {
  const folder = temporaryDirectory()
  for (const [name, usage] of Object.entries(certificates)) {
    const { cert, key } = issueCertificate(name, { keyUsage: usages[usage] })
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'tls.crt'), cert)
    writeFileSync(join(folder, name, 'tls.key'), key)
  }
  const none = { sql: undefined, masterKey: undefined, previousMasterKey: undefined }
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const deps = { environment: 'sandbox', logger: quietLogger, metrics } as const
  const { keys } = createCertificates({ ...none, ...deps, folder })
  const call = callerOf(joseFeature(keys))
  return async (path: string, body?: unknown) => (await call(path, body)).json
}

const others = ['PIA', 'PIC', 'SPB', 'MES'] as const

test('keys of other purposes sign and decrypt no token, and are not published for it', async () => {
  const names = others.map((type) => `12345678.${type}.1`)
  const call = open({
    ...Object.fromEntries(names.map((name) => [name, 'both' as const])),
    '12345678.QRC.1': 'both',
  })
  for (const kid of names) {
    const payload = '<AppHdr>an order to pay</AppHdr>'
    const signed = await call('/v1/jose/sign', { kid, payload })
    expect([kid, signed.code]).toEqual([kid, 'jose_purpose_not_allowed'])
    const { jwe } = await call('/v1/jose/encrypt', { kid, plaintext: 'x' })
    expect((await call('/v1/jose/decrypt', { jwe })).code).toBe('jose_purpose_not_allowed')
  }
  expect((await call('/v1/jose/sign', { kid: '12345678.QRC.1', payload: 'x' })).jws).toBeString()
  const { keys } = await call('/.well-known/jwks.json')
  expect(new Set(keys.map(({ kid }: { kid: string }) => kid))).toEqual(new Set(['12345678.QRC.1']))
})

test('the key usage of a certificate holds for tokens too', async () => {
  const call = open({ '12345678.QRC.1': 'signature', '12345678.QRC.2': 'encipherment' })
  const [signs, opens] = ['12345678.QRC.1', '12345678.QRC.2']
  const { jws } = await call('/v1/jose/sign', { kid: signs, payload: 'x' })
  expect((await call('/v1/jose/verify', { jws })).valid).toBe(true)
  const notSigned = await call('/v1/jose/sign', { kid: opens, payload: 'x' })
  expect(notSigned.code).toBe('jose_purpose_not_allowed')
  const { jwe } = await call('/v1/jose/encrypt', { kid: opens, plaintext: 'x' })
  expect((await call('/v1/jose/decrypt', { jwe })).plaintext).toBe('x')
  const notEncrypted = await call('/v1/jose/encrypt', { kid: signs, plaintext: 'x' })
  expect(notEncrypted.code).toBe('jose_purpose_not_allowed')
  const { keys } = await call('/.well-known/jwks.json')
  expect(keys.map(({ kid, use }: { kid: string; use: string }) => [kid, use])).toEqual([
    [signs, 'sig'],
    [opens, 'enc'],
  ])
})
