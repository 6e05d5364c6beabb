import { describe, expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import { buildMessage, createRandomText } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import {
  createEnvelopeSigner,
  createMessageVerifier,
  createNativeSigner,
  noSigner,
  type Signer,
  SigningError,
} from '../../../../src/spi/out/signing/index.ts'
import { envelopeOf } from '../../../support/envelope.ts'
import { issueCertificate } from '../../../support/pki.ts'

const scan = (bytes: Uint8Array) => createXmlScanner().scan(bytes)
const random = createRandomText((bytes) => crypto.getRandomValues(bytes))
const pair = issueCertificate('AC Um')
const other = issueCertificate('AC Dois')
const envelope = envelopeOf('<A>João</A>')

describe('signer and verifier', () => {
  test('many messages at once; a rotation changes the certificate of the next ones', async () => {
    const native = await createNativeSigner(pair.cert, pair.key)
    const signer = createEnvelopeSigner(native)
    const verifier = createMessageVerifier([pair.cert])
    const sign = () => Promise.all(Array.from({ length: 20 }, () => signer.sign(envelope)))
    for (const message of await sign()) expect(verifier.verify(scan(message)).ok).toBe(true)
    await native.replace(other.cert, other.key)
    const [rotated] = await sign()
    const message = scan(rotated!)
    expect(verifier.verify(message)).toMatchObject({ code: 'certificate_unknown' })
    verifier.replace([pair.cert, other.cert])
    expect(verifier.verify(message).ok).toBe(true)
    native.close()
  })

  test('a certificate counts from its first to its last second', async () => {
    const limited = issueCertificate('AC Breve', {
      notBefore: new Date('2026-01-01T00:00:00Z'),
      notAfter: new Date('2026-02-01T00:00:00Z'),
    })
    const native = await createNativeSigner(limited.cert, limited.key, 'node')
    const message = scan(await createEnvelopeSigner(native).sign(envelope))
    const verdict = (time: string) => {
      const result = createMessageVerifier([limited.cert], () => new Date(time)).verify(message)
      return result.ok ? 'ok' : result.code
    }
    expect(verdict('2025-12-31T23:59:59Z')).toBe('certificate_not_valid')
    expect(verdict('2026-01-01T00:00:00Z')).toBe('ok')
    expect(verdict('2026-02-01T00:00:00Z')).toBe('ok')
    expect(verdict('2026-02-01T00:00:01Z')).toBe('certificate_not_valid')
  })

  test('a signer that fails, in whatever way, fails otherwise than a message that is broken', async () => {
    const unreadable = () => Promise.reject(new CodecError('der', 0, 'no certificate'))
    const sign = () => Promise.reject(new Error('the signing thread ended'))
    const identity = { issuer: 'CN=AC', serial: '1' }
    const signedBy = (
      key: Extract<Signer, { readonly key: unknown }>['key'],
      message = envelope,
    ) => {
      const service = { kind: 'service', provider: 'test', check: sign, close: () => {} } as const
      return createEnvelopeSigner({ ...service, key }).sign(message)
    }
    const noNumber = { ...identity, serial: 'none' }
    await expect(signedBy(unreadable)).rejects.toThrow(SigningError)
    await expect(signedBy(() => ({ identity: noNumber, sign }))).rejects.toThrow(SigningError)
    await expect(signedBy(() => ({ identity, sign }))).rejects.toThrow(
      new SigningError('the signing thread ended'),
    )
    const broken = { ...envelope, signatureAt: 0 }
    await expect(signedBy(() => ({ identity, sign }), broken)).rejects.toThrow(CodecError)
  })

  test('an issuer that is no name finds nothing', async () => {
    const native = await createNativeSigner(pair.cert, pair.key, 'node')
    const signed = new TextDecoder().decode(await createEnvelopeSigner(native).sign(envelope))
    const broken = signed.replace('CN=AC Um', 'AC Um')
    const verifier = createMessageVerifier([pair.cert])
    expect(verifier.verify(scan(new TextEncoder().encode(broken)))).toMatchObject({
      code: 'certificate_unknown',
    })
  })

  test('without a signer the message stays as it is', async () => {
    expect(await createEnvelopeSigner(noSigner).sign(envelope)).toBe(envelope.bytes)
  })
})

describe('messages of our builders', () => {
  const party = (ispb: string) => ({
    ispb,
    name: 'Concei\u00e7\u00e3o & Irm\u00e3os <Ltda>',
    document: '12345678909',
    account_num: '500100',
    account_type: 'CACC',
  })
  const original = 'E1234567820260302140500000000001'
  const samples = {
    PACS008: {
      transactions: [
        { amount: 12345, debtor: party('12345678'), creditor: party('87654321'), purpose: 'IPAY' },
      ],
      local_instrument: 'MANU',
    },
    PACS002: { original_end_to_end_id: original, status: 'ACSP' },
  } as const

  for (const name of ['PACS008', 'PACS002'] as const) {
    test(`${name} is signed without a canonicaliser and verifies`, async () => {
      const built = buildMessage(name, samples[name], {
        ispb: '12345678',
        nowMs: Date.UTC(2026, 2, 31),
        random,
        revision: '5.11.1',
      })
      if (!built.ok) throw new Error(JSON.stringify(built.problems))
      const native = await createNativeSigner(pair.cert, pair.key, 'node')
      const message = await createEnvelopeSigner(native).sign(built.message)
      expect(createMessageVerifier([pair.cert]).verify(scan(message)).ok).toBe(true)
    })
  }
})

test('signing does not hold the event loop', async () => {
  const native = await createNativeSigner(pair.cert, pair.key)
  const signer = createEnvelopeSigner(native)
  await signer.sign(envelope)
  // One signature takes 0.3 to 0.6 ms: 200 of them on the loop would leave no turn in between.
  let turns = 0
  let done = false
  const count = (): void => {
    turns++
    if (!done) setImmediate(count)
  }
  count()
  await Promise.all(Array.from({ length: 200 }, () => signer.sign(envelope)))
  done = true
  expect(turns).toBeGreaterThan(50)
  native.close()
})
