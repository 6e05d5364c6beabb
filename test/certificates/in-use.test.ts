import { expect, test } from 'bun:test'
import { createPrivateKey } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import { createFileMaterial, createStoreMaterial } from '#src/platform/security/index.ts'
import { trustedMax } from '../../src/certificates/authorities.ts'
import { createCertificates } from '../../src/certificates/index.ts'
import { createKeyring } from '../../src/jose/keyring.ts'
import { type IssuedPair, issueCertificate } from '../support/pki.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const ispb = '12345678'
const dayMs = 86_400_000
const issue = (name: string, days: number): IssuedPair =>
  issueCertificate(name, {
    notBefore: new Date(Date.now() - 400 * dayMs),
    notAfter: new Date(Date.now() + days * dayMs + dayMs / 2),
  })

const open = (installed: Readonly<Record<string, IssuedPair>> = {}) => {
  const folder = temporaryDirectory()
  const install = (name: string, { cert, key }: IssuedPair): void => {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'tls.crt'), cert)
    writeFileSync(join(folder, name, 'tls.key'), key)
  }
  for (const [name, pair] of Object.entries(installed)) install(name, pair)
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const lines: Readonly<Record<string, unknown>>[] = []
  const logger = createLogger({
    level: 'info',
    sink: { write: (line) => lines.push(JSON.parse(line)) },
  })
  const none = { sql: undefined, masterKey: undefined, previousMasterKey: undefined }
  const feature = createCertificates({ ...none, folder, logger, metrics })
  const samples = async (): Promise<readonly string[]> =>
    (await metrics.render()).text
      .split('\n')
      .filter((line) => /^(spigw_cert|trilho_certificates)_/.test(line))
  return { feature, install, lines, samples }
}

const labels = (type: string, version: string) =>
  `ispb="${ispb}",type="${type}",version="${version}"`
const pemOf = (text: string) => ({ text, path: undefined })
const fileMaterial = ({ cert, key }: IssuedPair) =>
  createFileMaterial({ certificate: pemOf(cert), key: pemOf(key), ca: undefined })

test('a certificate from files counts like one of the store: metrics, line and check', async () => {
  const { feature, lines, samples } = open()
  const material = fileMaterial(issue('signs', 20))
  feature.track([{ ispb, type: 'PIA', source: 'files', material }])
  const found = await samples()
  expect(found).toContain(`spigw_cert_days_until_expiry{${labels('PIA', 'files')}} 20`)
  expect(found).toContain(`spigw_cert_expired{${labels('PIA', 'files')}} 0`)
  expect(found).toContain(`trilho_certificates_in_use{${labels('PIA', 'files')},source="files"} 1`)
  expect(found).toContain('spigw_cert_total 0')
  await feature.start?.()
  await until(() => lines.length > 0)
  await feature.stop?.()
  expect(lines[0]).toMatchObject({ certificate: `${ispb}.PIA.files`, days: 20, level: 'warn' })
  expect(await feature.checks?.()).toEqual([
    expect.objectContaining({
      name: `certificate ${ispb}.PIA`,
      status: 'warning',
      detail: expect.stringContaining('20 days'),
    }),
  ])
})

test('the version of the store that is in use is named, and follows a rotation', async () => {
  const { feature, install, samples } = open({ [`${ispb}.PIC.1`]: issue('first', 200) })
  const material = createStoreMaterial(
    async () => feature.keys?.latestPair(ispb, 'PIC') ?? Promise.reject(new Error('none')),
    undefined,
  )
  feature.track([{ ispb, type: 'PIC', source: 'store', material }])
  const inUse = async () =>
    (await samples()).filter((line) => line.startsWith('trilho_certificates_in_use{'))
  expect(await inUse()).toEqual([])
  await material.reload()
  expect(await inUse()).toEqual([
    `trilho_certificates_in_use{${labels('PIC', '1')},source="store"} 1`,
  ])
  install(`${ispb}.PIC.2`, issue('second', 300))
  await material.reload()
  expect(await inUse()).toEqual([
    `trilho_certificates_in_use{${labels('PIC', '2')},source="store"} 1`,
  ])
  expect(await samples()).toContain(`spigw_cert_days_until_expiry{${labels('PIC', '1')}} 200`)
})

test('what a newer version has replaced is not warned of', async () => {
  const { feature, lines } = open({
    [`${ispb}.PIA.1`]: issue('over', -3),
    [`${ispb}.PIA.2`]: issue('soon over', 5),
    [`${ispb}.PIA.3`]: issue('new', 300),
    [`${ispb}.PIC.1`]: issue('other purpose', 5),
  })
  await feature.start?.()
  await until(() => lines.length > 0)
  await feature.stop?.()
  expect(lines.map(({ certificate }) => certificate)).toEqual([`${ispb}.PIC.1`])
})

test('a store without a pair for what it is to serve is a failed check', async () => {
  const { feature } = open()
  const read = () => Promise.reject(new Error(`the certificate store has no active ${ispb}.PIA`))
  const material = createStoreMaterial(read, undefined)
  feature.track([{ ispb, type: 'PIA', source: 'store', material }])
  const expired = fileMaterial(issue('over', -1))
  feature.track([{ ispb, type: 'PIC', source: 'files', material: expired }])
  const checks = (await feature.checks?.()) ?? []
  expect(checks.map(({ name, status, detail }) => [name, status, detail])).toEqual([
    [`certificate ${ispb}.PIA`, 'failed', expect.stringContaining('no active')],
    [`certificate ${ispb}.PIC`, 'failed', expect.stringContaining('expired')],
  ])
})

test('what others are trusted by is told of in metrics, lines and checks, and follows its file', async () => {
  const { feature, lines, samples } = open()
  const file = join(temporaryDirectory(), 'ca.pem')
  const bundle = (...pairs: readonly IssuedPair[]) => pairs.map(({ cert }) => cert).join('')
  const [over, soon, later] = [issue('over', -3), issue('soon', 5), issue('later', 300)] as const
  writeFileSync(file, `their roots\n${bundle(later, over, soon, soon)}`)
  const ca = { text: bundle(later, over, soon, soon), path: file }
  const material = createFileMaterial({ certificate: undefined, key: undefined, ca })
  feature.track([{ ispb, type: 'PIC', source: 'files', material }])
  const days = async () =>
    (await samples())
      .filter((line) => line.startsWith('spigw_cert_days_until_expiry{'))
      .map((line) => Number(line.split(' ').at(-1)))
  // The expired one has others beside it: an alert on it could be ended by nothing but another file.
  expect(await days()).toEqual([5, 300])
  expect((await samples()).filter((line) => /type="PIC_ca".* 1$/.test(line))).toEqual([])
  await feature.start?.()
  await until(() => lines.length > 1)
  await feature.stop?.()
  expect(lines.map(({ certificate, days: left }) => [certificate, left])).toEqual([
    [expect.stringMatching(/^12345678\.PIC_ca\.[0-9a-f]{8}$/), 5],
    [expect.stringMatching(/^12345678\.PIC_ca\.[0-9a-f]{8}$/), -3],
  ])
  const check = async () =>
    (await feature.checks?.())?.map(({ status, detail }) => [status, detail])
  expect(await check()).toEqual([['warning', '3 certificates, 1 expired, the next ends in 5 days']])
  writeFileSync(file, bundle(later))
  expect(await check()).toEqual([['ok', '1 certificate, the next ends in 300 days']])
  expect(await days()).toEqual([300])
  writeFileSync(file, bundle(over))
  expect(await check()).toEqual([['failed', '1 certificate, all expired']])
  expect(await days()).toEqual([-3])
})

test('of a bundle as large as that of all public authorities, those that end first are told of', async () => {
  const { feature, samples } = open()
  const issued = (name: string, count: number, daysOf: (index: number) => number) =>
    Array.from({ length: count }, (_, index) => issue(`${name} ${index}`, daysOf(index)))
  const expired = issued('over', trustedMax, (index) => -10 - index)
  const good = issued('ca', trustedMax + 1, (index) => 25 + index)
  const text = [...expired, ...good].map(({ cert }) => cert).join('')
  const material = createFileMaterial({
    certificate: undefined,
    key: undefined,
    ca: pemOf(text),
  })
  feature.track([{ ispb: '', type: 'webhooks', source: 'files', material }])
  const found = (await samples()).filter((line) => line.startsWith('spigw_cert_days'))
  expect(found).toHaveLength(trustedMax)
  expect(found[0]).toEndWith(' 25')
  expect(found.at(-1)).toEndWith(` ${25 + trustedMax - 1}`)
  expect((await feature.checks?.())?.map(({ status, detail }) => [status, detail])).toEqual([
    ['warning', '41 certificates, 20 expired, the next ends in 25 days'],
  ])
})

test('what a newer version has replaced leaves the alerts, and what has none stays', async () => {
  const { samples } = open({
    [`${ispb}.PIA.1`]: issue('over', -3),
    [`${ispb}.PIA.2`]: issue('new', 300),
    [`${ispb}.PIC.1`]: issue('over too', -3),
  })
  const expired = (await samples()).filter((line) => line.startsWith('spigw_cert_expired{'))
  expect(expired).toEqual([
    `spigw_cert_expired{${labels('PIA', '2')}} 0`,
    `spigw_cert_expired{${labels('PIC', '1')}} 1`,
  ])
  expect(await samples()).toContain('spigw_cert_total 3')
})

test('a pair that is replaced under its name never lends its key to the certificate of before', async () => {
  const [before, after] = [issue('before', 200), issue('after', 300)]
  const kid = `${ispb}.QRC.1`
  const { feature, install } = open({ [kid]: before })
  const [held] = (await feature.keys?.list()) ?? []
  install(kid, after)
  const [holds] = (await feature.keys?.list()) ?? []
  const keyOf = (fingerprint = '') => feature.keys?.readKey(kid, fingerprint)
  expect(await keyOf(held?.fingerprint)).toBeUndefined()
  const der = createPrivateKey(after.key).export({ format: 'der', type: 'pkcs8' })
  expect(await keyOf(holds?.fingerprint)).toEqual(new Uint8Array(der))
  // Whoever still holds the list of before is given no key.
  const readKey = async (name: string, fingerprint: string) =>
    feature.keys?.readKey(name, fingerprint)
  const signs = async (one: typeof held) => {
    const keyring = createKeyring({ list: async () => (one ? [one] : []), readKey }, [])
    return (await (await keyring.find(kid))?.use('sign')) !== undefined
  }
  expect([await signs(held), await signs(holds)]).toEqual([false, true])
})

test('a key that is not its certificate\u2019s is refused as an import refuses it, and told of once', async () => {
  const [held, other] = [issue('held', 200), issue('other', 300)]
  const swapped = { ...other, key: held.key }
  const { feature, install, lines } = open({
    [`${ispb}.QRC.1`]: held,
    [`${ispb}.QRC.2`]: swapped,
  })
  const kids = async () => (await feature.keys?.list())?.map(({ kid }) => kid)
  const warned = () => lines.map(({ certificate, err }) => [certificate, (err as Error).message])
  expect(await kids()).toEqual([`${ispb}.QRC.1`])
  await expect(feature.keys?.readKey(`${ispb}.QRC.2`, 'any')).rejects.toThrow('not the certificate')
  await feature.checks?.()
  await kids()
  const refused = 'the private key is not the certificate\u2019s'
  expect(warned()).toEqual([[`${ispb}.QRC.2`, refused]])
  install(`${ispb}.QRC.3`, { ...other, key: 'nothing' })
  await Promise.all([kids(), kids()])
  expect(warned().map(([name]) => name)).toEqual([`${ispb}.QRC.2`, `${ispb}.QRC.3`])
})
