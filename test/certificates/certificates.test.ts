import { afterAll, describe, expect, test } from 'bun:test'
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Route } from '#src/platform/http/index.ts'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import { createSealer } from '#src/platform/security/index.ts'
import { certificateErrors } from '../../src/certificates/errors.ts'
import { createFolderStore } from '../../src/certificates/folder-store.ts'
import { type CertificatesDeps, createCertificates } from '../../src/certificates/index.ts'
import { createCertificateService } from '../../src/certificates/service.ts'
import { createDatabaseStore } from '../../src/certificates/store.ts'
import { testApp, testKey } from '../support/app.ts'
import { createTestDatabase } from '../support/database.ts'
import { issueCertificate } from '../support/pki.ts'
import { runTool, unlessMissing, withScratch } from '../support/second-implementation.ts'

const fingerprintOf = (cert: string): string =>
  new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()

const authority = issueCertificate('AC Teste', { authority: true })
const pair = issueCertificate('99999010 PIA', { issuer: authority })
const masterKey = new Uint8Array(randomBytes(32))
const pkcs12 = (name: string) =>
  readFileSync(join(import.meta.dir, '../fixtures/pkcs12', name)).toString('base64')
const openssl = unlessMissing('openssl')

const database = await createTestDatabase()
afterAll(() => database.close())

type Line = Readonly<Record<string, unknown>>

const open = (more: Partial<CertificatesDeps> = {}) => {
  const lines: Line[] = []
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const feature = createCertificates({
    folder: undefined,
    sql: database.sql,
    masterKey,
    previousMasterKey: undefined,
    logger: createLogger({
      level: 'info',
      sink: { write: (line) => lines.push(JSON.parse(line) as Line) },
    }),
    metrics,
    ...more,
  })
  return { feature, metrics, lines, call: caller(feature.routes ?? []) }
}

/** Calls through the whole HTTP application with a key of the scope. */
const caller =
  (routes: readonly Route[]) =>
  async (method: string, path: string, body?: unknown, scope = 'ops:admin') => {
    const { key, record } = testKey(scope)
    const response = await testApp(routes, { keys: [record] }).call(method, path, {
      key,
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    const isJson = (response.headers.get('content-type') ?? '').includes('json')
    return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined }
  }

const pem = (...parts: readonly string[]) => parts.join('')
const importOf = (
  ispb: string,
  content = pem(pair.cert, authority.cert, pair.key),
  type = 'PIA',
) => ({
  ispb,
  type,
  format: 'pem',
  content,
})

describe('REST, on the database', () => {
  test('import, list, show, export and remove', async () => {
    const { call } = open()
    const imported = await call('POST', '/v1/certificates', importOf('10000001'))
    expect(imported.status).toBe(201)
    expect(imported.json).toMatchObject({
      ispb: '10000001',
      type: 'PIA',
      version: 1,
      serial: pair.serial,
      status: 'active',
      has_private_key: true,
      chain_length: 1,
      subject: 'CN=99999010 PIA, OU=CSPB-4, O=ICP-Brasil, C=BR',
    })
    expect(imported.text).not.toContain('PRIVATE')
    const listed = await call('GET', '/v1/certificates?ispb=10000001')
    expect(listed.json.certificates).toEqual([imported.json])
    const path = '/v1/certificates/10000001/PIA/latest'
    expect((await call('GET', path)).json).toEqual(imported.json)
    const exported = await call('GET', `${path}/export`)
    expect(exported.text.match(/BEGIN CERTIFICATE/g)?.length).toBe(2)
    expect(exported.text).not.toContain('PRIVATE')
    const withKey = await call('GET', `${path}/export?private_key=true`)
    expect(new X509Certificate(withKey.text).checkPrivateKey(createPrivateKey(withKey.text))).toBe(
      true,
    )
    expect((await call('DELETE', '/v1/certificates/10000001/PIA/1')).status).toBe(204)
    expect((await call('GET', path)).status).toBe(404)
    const entries = await database.sql<{ action: string }[]>`
      select action from audit_log where object = '10000001.PIA.1' order by id`
    expect(entries.map(({ action }) => action)).toEqual([
      'certificates.import',
      'certificates.delete',
    ])
  })

  test('PKCS#12: wrong password and damaged file are told apart', async () => {
    const { call } = open()
    const send = (content: string, password?: string) =>
      call('POST', '/v1/certificates', {
        ispb: '10000002',
        type: 'SPB',
        format: 'pkcs12',
        content,
        password,
      })
    expect((await send(pkcs12('legacy-rc2.p12'), 'segredo')).status).toBe(201)
    expect((await send(pkcs12('aes.p12'), 'errada')).json.code).toBe('certificate_wrong_password')
    const damaged = Buffer.from(pkcs12('aes.p12'), 'base64').subarray(0, 1000).toString('base64')
    expect((await send(damaged, 'segredo')).json.code).toBe('certificate_unreadable')
    expect((await send('not base64!', 'segredo')).json.code).toBe('value_refused')
  })

  test('versions count up, and are never replaced', async () => {
    const { call } = open()
    const renewed = issueCertificate('99999010 PIA', { issuer: authority })
    const first = await call('POST', '/v1/certificates', importOf('10000003'))
    const second = await call(
      'POST',
      '/v1/certificates',
      importOf('10000003', pem(renewed.cert, renewed.key)),
    )
    expect([first.json.version, second.json.version]).toEqual([1, 2])
    expect((await call('POST', '/v1/certificates', importOf('10000003'))).json.code).toBe(
      'certificate_exists',
    )
    const taken = { ...importOf('10000003', issueCertificate('x').cert), version: 2 }
    expect((await call('POST', '/v1/certificates', taken)).json.code).toBe('certificate_exists')
    expect((await call('GET', '/v1/certificates/10000003/PIA/latest')).json.version).toBe(2)
  })

  test('an import whose number another one has taken meanwhile gets the next', async () => {
    const real = createDatabaseStore(database.sql, createSealer(masterKey))
    const sourceOf = ({ cert, key }: { readonly cert: string; readonly key: string }) => ({
      ...({ ispb: '10000031', type: 'PIA', version: undefined } as const),
      source: { format: 'pem', content: pem(cert, key) } as const,
    })
    const actor = { id: 'key', requestId: undefined }
    const faster = createCertificateService({ store: real, now: () => new Date() })
    const other = issueCertificate('99999011 PIA', { issuer: authority })
    let isFirst = true
    const store = {
      ...real,
      add: async (...added: Parameters<typeof real.add>) => {
        if (isFirst) await faster.importCertificate(sourceOf(other), actor)
        isFirst = false
        return real.add(...added)
      },
    }
    const service = createCertificateService({ store, now: () => new Date() })
    const imported = await service.importCertificate(sourceOf(pair), actor)
    expect(imported).toMatchObject({ ok: true, record: { version: 2 } })
    const again = await service.importCertificate(sourceOf(pair), actor)
    expect(again).toEqual({ ok: false, kind: 'exists', name: '10000031.PIA.2' })
  })

  test('a removal names a number: repeated, that of the latest would take another', async () => {
    const { call } = open()
    await call('POST', '/v1/certificates', importOf('10000033'))
    const refused = await call('DELETE', '/v1/certificates/10000033/PIA/latest')
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      [{ pointer: 'version', rule: 'format', message: 'must be a number' }],
    ])
    expect((await call('GET', '/v1/certificates/10000033/PIA/latest')).status).toBe(200)
    const once = () => call('DELETE', '/v1/certificates/10000033/PIA/1')
    expect([(await once()).status, (await once()).status]).toEqual([204, 404])
  })

  test('a number is never given again, but to the same certificate', async () => {
    const { call } = open()
    const renewed = issueCertificate('99999010 PIA', { issuer: authority })
    const other = importOf('10000032', pem(renewed.cert, renewed.key))
    const first = importOf('10000032')
    const path = '/v1/certificates/10000032/PIA'
    await call('POST', '/v1/certificates', first)
    expect((await call('DELETE', `${path}/1`)).status).toBe(204)
    const named = await call('POST', '/v1/certificates', { ...other, version: 1 })
    expect([named.status, named.json.code]).toEqual([409, 'certificate_exists'])
    expect((await call('POST', '/v1/certificates', other)).json.version).toBe(2)
    const back = await call('POST', '/v1/certificates', { ...first, version: 1 })
    expect([back.status, back.json.version]).toEqual([201, 1])
    expect((await call('DELETE', `${path}/1`)).status).toBe(204)
  })

  test('keys lie sealed in the table, and only their own row opens them', async () => {
    const { call, feature } = open()
    await call('POST', '/v1/certificates', importOf('10000004'))
    await call('POST', '/v1/certificates', importOf('10000004', undefined, 'QRC'))
    const [row] = await database.sql<{ sealed_key: Uint8Array }[]>`
      select sealed_key from certificates where ispb = '10000004' and type = 'PIA'`
    const der = createPrivateKey(pair.key).export({ format: 'der', type: 'pkcs8' })
    expect(Buffer.from(row?.sealed_key ?? []).includes(der.subarray(40, 80))).toBe(false)
    await database.sql`update certificates set sealed_key = ${row?.sealed_key ?? null}
      where ispb = '10000004' and type = 'QRC'`
    const name = { ispb: '10000004', version: 1, fingerprint: fingerprintOf(pair.cert) }
    expect(await feature.service?.readKey({ ...name, type: 'PIA' })).toEqual(new Uint8Array(der))
    expect(feature.service?.readKey({ ...name, type: 'QRC' })).rejects.toThrow('altered')
    await call('DELETE', '/v1/certificates/10000004/QRC/1')
  })

  test('the manifest is a secret that holds certificate, chain and key', async () => {
    const { call, lines } = open()
    await call('POST', '/v1/certificates', importOf('10000005'))
    const path = '/v1/certificates/10000005/PIA/1/manifest'
    const { text } = await call('GET', `${path}?namespace=pagamentos`)
    expect(text).toContain('  name: trilho-cert-10000005-pia-1\n  namespace: pagamentos\n')
    const data = (name: string) =>
      Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? '', 'base64').toString()
    const certificate = new X509Certificate(data('tls.crt'))
    expect(certificate.checkPrivateKey(createPrivateKey(data('tls.key')))).toBe(true)
    expect((await call('GET', `${path}?namespace=A_b`)).status).toBe(400)
    expect(lines.filter(({ msg }) => msg === 'private key handed out').length).toBe(1)
    expect(JSON.stringify(lines)).not.toContain('PRIVATE KEY-----')
  })

  test('the scope is ops:admin', async () => {
    const { call } = open()
    expect((await call('GET', '/v1/certificates', undefined, 'ops:read')).status).toBe(403)
  })

  test('bodies and paths of another form are refused', async () => {
    const { call } = open()
    const refused = async (change: object) =>
      (await call('POST', '/v1/certificates', { ...importOf('10000006'), ...change })).status
    for (const change of [
      { ispb: '1234567' },
      { type: 'ZZZ' },
      { version: 0 },
      { version: 10000 },
      { extra: 1 },
    ]) {
      expect(await refused(change)).toBe(400)
    }
    expect((await call('GET', '/v1/certificates/10000006/PIA/0')).status).toBe(400)
    expect((await call('GET', '/v1/certificates/10000006/PIA/x')).status).toBe(400)
  })
})

describe('the latest pair of a purpose', () => {
  const ispb = '99999077'
  const importPair = async (call: ReturnType<typeof caller>, content: string) => {
    expect((await call('POST', '/v1/certificates', importOf(ispb, content))).status).toBe(201)
  }

  test('is certificate, chain and key of the highest version that can be used now', async () => {
    const { feature, call } = open()
    const latest = () => feature.keys?.latestPair(ispb, 'PIA')
    await expect(latest()).rejects.toThrow('has no active 99999077.PIA')
    await importPair(call, pem(pair.cert, authority.cert, pair.key))
    const newer = issueCertificate('99999077 PIA', { issuer: authority })
    await importPair(call, pem(newer.cert, newer.key))
    const { cert = '', key = '' } = (await latest()) ?? {}
    expect(new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))).toBe(true)
    expect(new X509Certificate(cert).serialNumber).toBe(
      new X509Certificate(newer.cert).serialNumber,
    )
    // A next version without its key, or one whose time is over, stops nobody who starts now.
    await importPair(call, issueCertificate('no key', { issuer: authority }).cert)
    expect((await latest())?.cert).toBe(cert)
    expect((await call('DELETE', `/v1/certificates/${ispb}/PIA/1`)).status).toBe(204)
    expect((await call('DELETE', `/v1/certificates/${ispb}/PIA/2`)).status).toBe(204)
    await expect(latest()).rejects.toThrow('with a key')
  })

  test('is an older one where the newest is over or has not begun', async () => {
    const dayMs = 86_400_000
    const issue = (fromDays: number, toDays: number) =>
      issueCertificate(`from ${fromDays}`, {
        notBefore: new Date(Date.now() + fromDays * dayMs),
        notAfter: new Date(Date.now() + toDays * dayMs),
      })
    await withScratch(async (folder) => {
      const valid = issue(-10, 10)
      for (const [version, { cert, key }] of [valid, issue(-9, -1), issue(5, 20)].entries()) {
        const directory = join(folder, `${ispb}.PIC.${version + 1}`)
        mkdirSync(directory)
        writeFileSync(join(directory, 'tls.crt'), cert)
        writeFileSync(join(directory, 'tls.key'), key)
      }
      const { feature } = open({ folder, sql: undefined })
      const { cert = '' } = (await feature.keys?.latestPair(ispb, 'PIC')) ?? {}
      expect(new X509Certificate(cert).serialNumber).toBe(
        new X509Certificate(valid.cert).serialNumber,
      )
    })
  })
})

describe('rules', () => {
  const rulesOf = async (content: string, type = 'PIA') => {
    const { json } = await open().call(
      'POST',
      '/v1/certificates',
      importOf('20000001', content, type),
    )
    return [json.code, ...(json.errors ?? []).map(({ rule }: { rule: string }) => rule)]
  }
  const unusable = 'certificate_unusable'

  test('key match', async () => {
    const other = issueCertificate('other')
    expect(await rulesOf(pem(pair.cert, other.key))).toEqual([unusable, 'key_match'])
  })

  test('chain: an authority that did not issue, and one that is none', async () => {
    const twin = issueCertificate('AC Teste', { authority: true })
    expect(await rulesOf(pem(pair.cert, twin.cert, pair.key))).toEqual([unusable, 'chain'])
    const server = issueCertificate('not an authority', { issuer: authority })
    const below = issueCertificate('below', { issuer: server })
    expect(await rulesOf(pem(below.cert, server.cert, below.key))).toContain('chain')
  })

  test('signatures and the security header take RSA of 2048 bits alone, also from a folder', async () => {
    const large = issueCertificate('large', { bits: 3072 })
    const content = pem(large.cert, large.key)
    for (const type of ['PIA', 'SPB', 'MES']) {
      expect(await rulesOf(content, type)).toEqual([unusable, 'key_kind'])
    }
    expect(await rulesOf(content, 'QRC')).toEqual([undefined])
    await withScratch(async (folder) => {
      for (const type of ['PIA', 'QRC']) {
        const directory = join(folder, `20000001.${type}.1`)
        mkdirSync(directory)
        writeFileSync(join(directory, 'tls.crt'), large.cert)
        writeFileSync(join(directory, 'tls.key'), large.key)
      }
      const { feature } = open({ folder, sql: undefined })
      const listed = (await feature.service?.list()) ?? []
      expect(listed.map(({ type }) => type)).toEqual(['QRC'])
    })
  })

  test('key usage by purpose', async () => {
    const onlyExchange = issueCertificate('x', { keyUsage: { keyEncipherment: true } })
    expect(await rulesOf(pem(onlyExchange.cert, onlyExchange.key))).toEqual([unusable, 'key_usage'])
    const onlySignature = issueCertificate('x', { keyUsage: { digitalSignature: true } })
    const content = pem(onlySignature.cert, onlySignature.key)
    expect(await rulesOf(content, 'SPB')).toEqual([unusable, 'key_usage'])
    expect(await rulesOf(content, 'PIC')).toEqual([undefined])
  })

  test('validity', async () => {
    const expired = issueCertificate('x', {
      notBefore: new Date('2020-01-01'),
      notAfter: new Date('2021-01-01'),
    })
    expect(await rulesOf(pem(expired.cert, expired.key))).toEqual([
      'certificate_expired',
      'validity',
    ])
  })

  test('no certificate, a broken block, a key under a password', async () => {
    expect(await rulesOf(pair.key)).toEqual(['certificate_unreadable'])
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    expect(await rulesOf(broken)).toEqual(['certificate_unreadable'])
  })

  test('a certificate whose key is of no known kind, first or in the chain', async () => {
    const unknownKey = (certificate: string): string => {
      const der = Buffer.from(certificate.replace(/-----[^-]+-----|\s/g, ''), 'base64')
      const rsaEncryption = Buffer.from('2a864886f70d010101', 'hex')
      der[der.indexOf(rsaEncryption) + rsaEncryption.length - 1] = 0x63
      const lines = der.toString('base64').replace(/.{64}/g, '$&\n')
      return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
    }
    for (const text of [
      pem(pair.cert, unknownKey(authority.cert), pair.key),
      pem(unknownKey(pair.cert), authority.cert, pair.key),
      unknownKey(pair.cert),
    ]) {
      expect(await rulesOf(text)).toEqual(['certificate_unreadable'])
    }
  })
})

describe('master key', () => {
  test('nothing starts with another one', async () => {
    await open().call('POST', '/v1/certificates', importOf('30000001'))
    const start = async (more: Partial<CertificatesDeps>) => open(more).feature.start?.()
    expect(start({ masterKey: new Uint8Array(randomBytes(32)) })).rejects.toThrow(
      'another master key',
    )
    const rotated = open({
      masterKey: new Uint8Array(randomBytes(32)),
      previousMasterKey: masterKey,
    })
    await rotated.feature.start?.()
    await rotated.feature.stop?.()
  })

  test('without one, keys are refused with the name of the setting', async () => {
    const { call } = open({ masterKey: undefined })
    const refused = await call('POST', '/v1/certificates', importOf('30000002'))
    expect(refused.json).toMatchObject({ code: 'not_configured', settings: ['TRILHO_MASTER_KEY'] })
    const bare = await call('POST', '/v1/certificates', importOf('30000002', pair.cert))
    expect(bare.json.has_private_key).toBe(false)
    expect((await call('GET', '/v1/certificates/30000002/PIA/1/manifest')).json.code).toBe(
      'certificate_key_missing',
    )
  })

  test('one that is stored without its key is removed, then imported with it', async () => {
    const { call } = open()
    await call('POST', '/v1/certificates', importOf('30000009', pair.cert))
    const twice = await call('POST', '/v1/certificates', importOf('30000009'))
    expect([twice.status, twice.json.code]).toEqual([409, 'certificate_exists'])
    expect(certificateErrors.certificate_key_missing.remedy).toStartWith('Remove the certificate')
    expect((await call('DELETE', '/v1/certificates/30000009/PIA/1')).status).toBe(204)
    const whole = await call('POST', '/v1/certificates', importOf('30000009'))
    expect(whole.json.has_private_key).toBe(true)
  })

  test('without a store, a problem names the settings', async () => {
    const { call } = open({ sql: undefined })
    const { status, json } = await call('GET', '/v1/certificates')
    expect([status, json.code]).toEqual([503, 'not_configured'])
    expect(json.detail).toContain('DATABASE_DSN')
  })
})

describe('folder', () => {
  test('reads what lies there, and is read-only over HTTP', async () => {
    await withScratch(async (folder) => {
      const put = (name: string, files: Readonly<Record<string, string>>) => {
        mkdirSync(join(folder, name))
        for (const [file, content] of Object.entries(files))
          writeFileSync(join(folder, name, file), content)
      }
      put('40000001.PIC.1', { 'tls.crt': pem(authority.cert, pair.cert), 'tls.key': pair.key })
      put('40000001.PIC.2', { 'tls.crt': 'broken', 'tls.key': 'broken' })
      put('40000001.ZZZ.1', { 'tls.crt': pair.cert })
      put('lost+found', {})
      const { call, lines } = open({ folder, sql: undefined })
      const { json } = await call('GET', '/v1/certificates')
      expect(json.certificates.length).toBe(1)
      expect(json.certificates[0]).toMatchObject({
        version: 1,
        serial: pair.serial,
        chain_length: 1,
      })
      expect(lines).toContainEqual(expect.objectContaining({ certificate: '40000001.PIC.2' }))
      for (const [method, path, body] of [
        ['POST', '/v1/certificates', importOf('40000001')],
        ['DELETE', '/v1/certificates/40000001/PIC/1', undefined],
      ] as const) {
        expect((await call(method, path, body)).json.code).toBe('certificate_store_read_only')
      }
    })
  })

  test('what the command line writes is readable by its owner only', async () => {
    await withScratch(async (folder) => {
      const store = createFolderStore(join(folder, 'new'), true)
      const { feature } = open()
      const actor = { id: 'cli:test', requestId: undefined }
      const request = {
        ...({ ispb: '40000002', type: 'PIA', version: undefined } as const),
        source: { format: 'pem', content: pem(pair.cert, pair.key) } as const,
      }
      const imported = await feature.service?.importCertificate(request, actor)
      if (imported?.ok !== true) throw new Error('not imported')
      const key = await feature.service?.readKey(imported.record)
      expect(await store.add({ record: imported.record, key }, actor)).toBe(true)
      expect(await store.add({ record: imported.record, key }, actor)).toBe(false)
      expect(statSync(join(folder, 'new/40000002.PIA.1/tls.key')).mode & 0o777).toBe(0o600)
      expect(await store.readKey(imported.record)).toEqual(key)
    })
  })

  test('gives no number again, but to the same certificate', async () => {
    await withScratch(async (folder) => {
      const store = createFolderStore(join(folder, 'new'), true)
      const service = createCertificateService({ store, now: () => new Date() })
      const actor = { id: 'cli:test', requestId: undefined }
      const importIt = (content: string, version?: number) =>
        service.importCertificate(
          { ispb: '40000003', type: 'PIA', version, source: { format: 'pem', content } },
          actor,
        )
      const other = issueCertificate('99999011 PIA', { issuer: authority })
      const name = { ispb: '40000003', type: 'PIA', version: 1 } as const
      await importIt(pem(pair.cert, pair.key))
      const fingerprint = fingerprintOf(pair.cert)
      expect(await store.remove(name, actor)).toBe(true)
      const key = await store.readKey({ ...name, fingerprint })
      expect([await store.list(), key]).toEqual([[], undefined])
      expect(await store.remove(name, actor)).toBe(false)
      const refused = { ok: false, kind: 'exists', name: '40000003.PIA.1' } as const
      expect(await importIt(pem(other.cert, other.key), 1)).toEqual(refused)
      expect(await importIt(pem(other.cert, other.key))).toMatchObject({ record: { version: 2 } })
      expect(await importIt(pem(pair.cert, pair.key), 1)).toMatchObject({ record: { version: 1 } })
      expect((await store.list()).map(({ version }) => version)).toEqual([1, 2])
    })
  })
})

test('metrics and log lines at 45, 30, 14, 7 and 1 days, once each', async () => {
  await withScratch(async (folder) => {
    const dayMs = 86_400_000
    const days = [400, 46, 45, 30, 14, 7, 1, -1]
    for (const [i, left] of days.entries()) {
      const issued = issueCertificate(`left ${left}`, {
        notBefore: new Date('2020-01-01'),
        notAfter: new Date(Date.now() + left * dayMs + dayMs / 2),
      })
      mkdirSync(join(folder, `5000000${i + 1}.PIA.1`))
      writeFileSync(join(folder, `5000000${i + 1}.PIA.1`, 'tls.crt'), issued.cert)
    }
    const { feature, metrics, lines } = open({ folder, sql: undefined })
    await feature.start?.()
    while (lines.length < 6) await Bun.sleep(5)
    await feature.start?.()
    await Bun.sleep(100)
    await feature.stop?.()
    const { text } = await metrics.render()
    expect(text).toContain('spigw_cert_total 8')
    expect(text).toContain(
      'spigw_cert_days_until_expiry{ispb="50000003",type="PIA",version="1"} 45',
    )
    expect(text).toContain('spigw_cert_expired{ispb="50000008",type="PIA",version="1"} 1')
    expect(text).toContain('spigw_cert_expired{ispb="50000001",type="PIA",version="1"} 0')
    expect(lines.map(({ level, days: left }) => [level, left])).toEqual([
      ['warn', 45],
      ['warn', 30],
      ['warn', 14],
      ['warn', 7],
      ['warn', 1],
      ['error', -1],
    ])
  })
})

test.skipIf(openssl.missing)(
  `openssl makes a PKCS#12 of what we export${openssl.note}`,
  async () => {
    await withScratch(async (directory) => {
      const { call } = open()
      await call('POST', '/v1/certificates', importOf('60000001'))
      const { text } = await call('GET', '/v1/certificates/60000001/PIA/1/export?private_key=true')
      const [input, output] = [join(directory, 'all.pem'), join(directory, 'all.p12')]
      writeFileSync(input, text)
      const made = runTool([
        'openssl',
        'pkcs12',
        '-export',
        '-in',
        input,
        '-passout',
        'pass:x',
        '-out',
        output,
      ])
      expect(made.stderr).toBe('')
      const again = await call('POST', '/v1/certificates', {
        ispb: '60000001',
        type: 'QRC',
        format: 'pkcs12',
        content: readFileSync(output).toString('base64'),
        password: 'x',
      })
      expect(again.json).toMatchObject({
        serial: pair.serial,
        chain_length: 1,
        has_private_key: true,
      })
    })
  },
)
