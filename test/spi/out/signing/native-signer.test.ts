import { describe, expect, test } from 'bun:test'
import { createPublicKey, generateKeyPairSync, verify, X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import type { ChosenKey, StoredPair } from '#src/platform/security/index.ts'
import {
  createNativeSigner,
  createSigner,
  noSigner,
  type SigningKey,
  SigningMaterialError,
  type SigningSettings,
  signingMaterial,
  signingWarning,
} from '../../../../src/spi/out/signing/index.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { withScratch } from '../../../support/second-implementation.ts'
import { until } from '../../../support/until.ts'

const pair = issueCertificate('AC Teste')
const other = issueCertificate('AC Outra')
const content = new TextEncoder().encode('<ds:SignedInfo/>')
const settings: SigningSettings = {
  enabled: true,
  certificateSource: 'files' as const,
  certificate: undefined,
  key: undefined,
  provider: 'node',
  serviceUrl: undefined,
  serviceCertificate: undefined,
  serviceKey: undefined,
  serviceCa: undefined,
  serviceTimeoutMs: 1000,
  serviceAttemptsMax: 1,
}
const signerOf = async (from: SigningSettings, stored?: StoredPair) =>
  createSigner(from, signingMaterial(from, undefined, stored))
const pem = (text: string) => ({ text, path: undefined })

describe('the choice of a signer', () => {
  test('certificate and key go before the service', async () => {
    const signer = await signerOf({
      ...settings,
      certificate: pem(pair.cert),
      key: pem(pair.key),
      serviceUrl: 'https://127.0.0.1:1',
    })
    expect(signer.kind).toBe('native')
    signer.close()
  })

  test('the service goes before none, half a pair is no pair', async () => {
    const serviceUrl = 'https://127.0.0.1:1'
    const half = { ...settings, certificate: pem(pair.cert), serviceUrl }
    expect((await signerOf(half)).kind).toBe('service')
    expect((await signerOf(settings)).kind).toBe('none')
  })

  test('settings that leave messages unsigned are told', () => {
    expect(signingWarning({ ...settings, certificate: pem(pair.cert) })).toContain(
      'only one is set',
    )
    expect(signingWarning(settings)).toContain('unsigned')
    expect(signingWarning({ ...settings, enabled: false })).toBeUndefined()
    expect(signingWarning({ ...settings, serviceUrl: 'https://127.0.0.1:1' })).toBeUndefined()
  })

  test('switched off, nothing signs', async () => {
    const off = { ...settings, enabled: false, certificate: pem(pair.cert), key: pem(pair.key) }
    expect(await signerOf(off)).toBe(noSigner)
  })
})

describe('native signer', () => {
  test('names the certificate and signs as its holder', async () => {
    const signer = await createNativeSigner(pair.cert, pair.key, 'node')
    const key = await signer.key()
    expect(key.identity).toEqual({
      issuer: 'CN=AC Teste, OU=CSPB-4, O=ICP-Brasil, C=BR',
      serial: pair.serial,
    })
    const { publicKey } = new X509Certificate(pair.cert)
    expect(verify('sha256', content, publicKey, await key.sign(content))).toBe(true)
  })

  test('a pair that does not belong together is refused', () => {
    expect(createNativeSigner(pair.cert, other.key, 'node')).rejects.toThrow(SigningMaterialError)
  })

  test('a key that is not RSA-2048 is refused', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
    expect(createNativeSigner(pair.cert, key, 'node')).rejects.toThrow('not RSA-2048')
  })

  test('a rotation under load: every signature fits the certificate it names', async () => {
    const signer = await createNativeSigner(pair.cert, pair.key)
    const one = async () => {
      const key: SigningKey = await signer.key()
      const certificate = key.identity.serial === pair.serial ? pair.cert : other.cert
      const signature = await key.sign(content)
      expect(verify('sha256', content, createPublicKey(certificate), signature)).toBe(true)
      return key.identity.serial
    }
    const before = Array.from({ length: 40 }, one)
    const rotation = signer.replace(other.cert, other.key)
    const during = Array.from({ length: 40 }, one)
    await rotation
    const after = Array.from({ length: 40 }, one)
    const serials = await Promise.all([...before, ...during, ...after])
    expect(serials.slice(0, 80).every((serial) => serial === pair.serial)).toBe(true)
    expect(serials.slice(80).every((serial) => serial === other.serial)).toBe(true)
    signer.close()
  })

  test('two rotations at once, and a close before they end: the last counts, and every key is closed', async () => {
    const third = issueCertificate('AC Terceira')
    const opened: (() => void)[] = []
    const inUse = new Set<number>()
    let count = 0
    const open = async (): Promise<ChosenKey> => {
      const serial = ++count
      if (serial > 1) await new Promise<void>((resolve) => opened.push(resolve))
      inUse.add(serial)
      return {
        provider: 'node:crypto',
        sign: async (bytes) => bytes,
        close: () => inUse.delete(serial),
      }
    }
    const openNext = async () => {
      await until(() => opened.length > 0)
      opened.pop()?.()
      await Bun.sleep(5)
    }
    const signer = await createNativeSigner(pair.cert, pair.key, 'node', open)
    const rotations = [other, third].map(({ cert, key }) => signer.replace(cert, key))
    // Whichever is opened first.
    await openNext()
    await openNext()
    await Promise.all(rotations)
    const current: SigningKey = await signer.key()
    expect([current.identity.serial, inUse.size]).toEqual([third.serial, 1])
    const broken = signer.replace(pair.cert, other.key)
    await expect(broken).rejects.toThrow(SigningMaterialError)
    const late = signer.replace(pair.cert, pair.key)
    signer.close()
    await openNext()
    await late
    expect(inUse.size).toBe(0)
  })
})

test('a running signer follows its two files', async () => {
  await withScratch(async (directory) => {
    const paths = { cert: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
    await Promise.all([Bun.write(paths.cert, pair.cert), Bun.write(paths.key, pair.key)])
    const signer = await signerOf({
      ...settings,
      certificate: { text: pair.cert, path: paths.cert },
      key: { text: pair.key, path: paths.key },
    })
    if (signer.kind === 'none') throw new Error('no signer')
    await Promise.all([Bun.write(paths.cert, other.cert), Bun.write(paths.key, other.key)])
    await until(async () => (await signer.key()).identity.serial === other.serial)
    signer.close()
  })
}, 60_000)

test('a pair of the certificate store goes before files, and without one nothing signs', async () => {
  const fromStore = { ...settings, certificateSource: 'store' as const }
  const files = { certificate: pem(other.cert), key: pem(other.key) }
  const signer = await signerOf({ ...fromStore, ...files }, async () => pair)
  if (signer.kind === 'none') throw new Error('no signer')
  expect((await signer.key()).identity.serial).toBe(pair.serial)
  signer.close()
  await expect(signerOf(fromStore)).rejects.toThrow('no certificate store')
  const empty = () => Promise.reject(new Error('the certificate store has no active x.PIA'))
  await expect(signerOf(fromStore, empty)).rejects.toThrow('has no active')
})

test('a pair of the store that cannot sign is refused before anybody sees it', async () => {
  const large = issueCertificate('AC Grande', { bits: 3072 })
  let stored = pair
  const fromStore = { ...settings, certificateSource: 'store' as const }
  const material = signingMaterial(fromStore, undefined, async () => stored)
  const signer = await createSigner(fromStore, material)
  stored = large
  await expect(material?.reload()).rejects.toThrow('not RSA-2048')
  expect(material?.current().cert).toBe(pair.cert)
  signer.close()
})
