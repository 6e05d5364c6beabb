import { afterAll, describe, expect, test } from 'bun:test'
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createCertificates, versionMax } from '../../src/certificates/index.ts'
import { pemBlocksMax } from '../../src/certificates/pem.ts'
import { testApp, testKey } from '../support/app.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { issueCertificate } from '../support/pki.ts'
import { countProcessorMs } from '../support/processor-ms.ts'
import { runTool, unlessMissing, withScratch } from '../support/second-implementation.ts'

const openssl = unlessMissing('openssl')
const authority = issueCertificate('AC Teste', { authority: true })
const pair = issueCertificate('99999010 QRC', { issuer: authority })

let call: (method: string, path: string, body?: unknown, key?: string) => Promise<Answered>
type Answered = { readonly status: number; readonly replayed: boolean; readonly json: Json }
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
type Json = any

const database = await createTestDatabase()
const { routes = [] } = createCertificates({
  folder: undefined,
  sql: database.sql,
  logger: quietLogger,
  masterKey: new Uint8Array(randomBytes(32)),
  previousMasterKey: undefined,
  metrics: createMetrics({ version: 'test', withProcess: false }),
})
const { key, record } = testKey('ops:admin')
const app = testApp(routes, { keys: [record] })
call = async (method, path, body, idempotencyKey) => {
  const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }
  const response = await app.call(method, path, {
    key,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  const replayed = response.headers.get('idempotent-replayed') === 'true'
  return { status: response.status, replayed, json: text === '' ? {} : JSON.parse(text) }
}
afterAll(() => database.close())

let institutions = 0
const bodyOf = (content: string, more: object = {}) => ({
  ispb: String(20_000_000 + institutions++),
  type: 'QRC',
  format: 'pem',
  content,
  ...more,
})
const importPem = async (content: string, more: object = {}) =>
  (await call('POST', '/v1/certificates', bodyOf(content, more))).json

/** The key of the pair under the password `segredo`, by openssl. */
const encrypted = async (...args: readonly string[]): Promise<string> => {
  let made = ''
  await withScratch(async (directory) => {
    const path = join(directory, 'key.pem')
    await Bun.write(path, pair.key)
    const { stdout, stderr } = runTool([
      'openssl',
      ...args,
      '-in',
      path,
      '-passout',
      'pass:segredo',
    ])
    if (stdout === '') throw new Error(stderr)
    made = stdout
  })
  return made
}

describe.skipIf(openssl.missing)(`keys under a password${openssl.note}`, () => {
  const forms = {
    'PKCS#8, AES': ['pkcs8', '-topk8', '-v2', 'aes-256-cbc'],
    'PKCS#8, 3DES': ['pkcs8', '-topk8', '-v2', 'des3'],
    'PKCS#8, schemes of PKCS#12': ['pkcs8', '-topk8', '-v1', 'PBE-SHA1-3DES'],
    'the older form, AES': ['rsa', '-traditional', '-aes256'],
    'the older form, 3DES': ['rsa', '-traditional', '-des3'],
  }
  for (const [form, args] of Object.entries(forms)) {
    test(`${form}: opened with the password, refused without, never stored without the key`, async () => {
      const content = pair.cert + authority.cert + (await encrypted(...args))
      const wrong = 'certificate_wrong_password'
      expect((await importPem(content)).code).toBe(wrong)
      expect((await importPem(content, { password: '' })).code).toBe(wrong)
      expect((await importPem(content, { password: 'errada' })).code).toBe(wrong)
      const stored = await importPem(content, { password: 'segredo' })
      expect(stored).toMatchObject({ has_private_key: true, chain_length: 1 })
      const path = `/v1/certificates/${stored.ispb}/QRC/1/manifest`
      expect((await call('DELETE', path.replace('/manifest', ''))).status).toBe(204)
    })
  }

  test('a key that asks for too much work, or another derivation, is refused by name', async () => {
    const slow = await encrypted('pkcs8', '-topk8', '-v2', 'aes-256-cbc', '-iter', '200001')
    const refused = await importPem(pair.cert + slow, { password: 'segredo' })
    expect([refused.code, refused.detail]).toEqual([
      'certificate_unreadable',
      'the private key asks for over 200000 rounds.',
    ])
    const scrypt = await encrypted('pkcs8', '-topk8', '-scrypt')
    const other = await importPem(pair.cert + scrypt, { password: 'segredo' })
    expect([other.code, other.detail]).toEqual([
      'certificate_unreadable',
      expect.stringContaining('encrypted in another way'),
    ])
  })
})

describe('PEM', () => {
  test('the whole body of beginnings is read in a moment', async () => {
    const texts = [
      '-----BEGIN CERTIFICATE-----\n'.repeat(18_000),
      '-----BEGIN PRIVATE KEY-----\n'.repeat(18_000),
      `${pair.cert}${'-----BEGIN PRIVATE KEY-----\n'.repeat(15_000)}`,
      '-----BEGIN '.repeat(45_000),
      '-'.repeat(500_000),
      `-----BEGIN ${'A'.repeat(500_000)}`,
    ]
    for (const content of texts) {
      const usedMs = countProcessorMs()
      expect((await importPem(content)).code).toBe('certificate_unreadable')
      // Before, seconds: the search began anew at each beginning.
      expect(usedMs()).toBeLessThan(1_500)
    }
  })

  test('many blocks, several keys, and blocks without an end of their own are refused', async () => {
    const detail = async (content: string) => (await importPem(content)).detail
    const block = '-----BEGIN X-----\nAAAA\n-----END X-----\n'
    const filler = (count: number) => pair.cert + pair.key + block.repeat(count)
    expect((await importPem(filler(pemBlocksMax - 2))).has_private_key).toBe(true)
    expect(await detail(filler(pemBlocksMax - 1))).toContain('over 64 blocks')
    expect(await detail(pair.cert + pair.key + pair.key)).toContain('several private keys')
    expect(await detail(pair.cert.replace('END CERTIFICATE', 'END X'))).toContain('no end')
    expect(await detail(`${pair.cert}-----BEGIN lower-----`)).toContain('no name')
    expect((await importPem(`text before\r\n${pair.cert}\r\n${pair.key}after`)).version).toBe(1)
  })
})

test('after the last number that a name has room for, none is given', async () => {
  const body = bodyOf(pair.cert + pair.key, { version: versionMax })
  expect((await call('POST', '/v1/certificates', body)).status).toBe(201)
  const { cert, key } = issueCertificate('99999010 QRC', { issuer: authority })
  const next = { ...body, version: undefined, content: cert + key }
  const refused = await call('POST', '/v1/certificates', next)
  expect([refused.status, refused.json.code]).toEqual([409, 'certificate_exists'])
  expect((await call('POST', '/v1/certificates', { ...next, version: 7 })).json.version).toBe(7)
})

describe('Idempotency-Key', () => {
  const stored = async (ispb: string) =>
    (await call('GET', `/v1/certificates?ispb=${ispb}`)).json.certificates.length

  test('a repetition gets the first answer, and nothing is imported twice', async () => {
    const body = bodyOf(pair.cert + pair.key)
    const first = await call('POST', '/v1/certificates', body, 'import-1')
    const again = await call('POST', '/v1/certificates', body, 'import-1')
    expect([first.status, first.replayed]).toEqual([201, false])
    expect(again).toEqual({ ...first, replayed: true })
    expect((await call('POST', '/v1/certificates', body)).json.code).toBe('certificate_exists')
    const other = await call('POST', '/v1/certificates', { ...body, version: 7 }, 'import-1')
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_mismatch'])
    expect(await stored(body.ispb)).toBe(1)
  })

  test('what was refused leaves the key free', async () => {
    const body = bodyOf(pair.cert + pair.key)
    await call('POST', '/v1/certificates', body)
    const refused = await call('POST', '/v1/certificates', body, 'import-2')
    expect(refused.json.code).toBe('certificate_exists')
    await call('DELETE', `/v1/certificates/${body.ispb}/QRC/1`)
    const taken = await call('POST', '/v1/certificates', body, 'import-2')
    expect([taken.status, taken.replayed]).toEqual([201, false])
  })

  test('at once: one is imported, the others get its answer or wait', async () => {
    const body = bodyOf(pair.cert + pair.key)
    const all = await Promise.all(
      Array.from({ length: 8 }, () => call('POST', '/v1/certificates', body, 'import-3')),
    )
    const statuses = new Set(all.map(({ status }) => status))
    expect(statuses.has(201)).toBe(true)
    expect([...statuses].every((status) => status === 201 || status === 409)).toBe(true)
    expect(all.filter(({ status, replayed }) => status === 201 && !replayed).length).toBe(1)
    expect(await stored(body.ispb)).toBe(1)
    const { json } = await call('GET', `/v1/certificates/${body.ispb}/QRC/1`)
    expect(json.serial).toBe(pair.serial)
    const exported = new X509Certificate(pair.cert)
    expect(exported.checkPrivateKey(createPrivateKey(pair.key))).toBe(true)
  })
})
