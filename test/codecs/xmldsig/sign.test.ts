import { describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { issuerText, prepareKeyInfo, prepareSignature, signEnvelope } from '#codecs/xmldsig'
import { codeOf } from '../../support/codec-error.ts'
import { envelopeOf, sha256, sliceEnvelope } from '../../support/envelope.ts'
import { hasSharedData, readSharedData, skipReason } from '../../support/shared-data.ts'

const issuer = 'CN=AC TESTE SPI (nao usar), OU=CSPB-4, O=ICP-Brasil, C=BR'

describe.skipIf(!hasSharedData)(`golden vector${skipReason}`, () => {
  const read = (name: string) => readSharedData(`spi/signed-vector/${name}`)
  const golden = () => new TextDecoder().decode(read('pacs.008.spi.1.16.signed.xml'))
  const unsigned = () =>
    sliceEnvelope(
      golden().replace(/<ds:Signature .*<\/ds:Signature>/s, ''),
      'https://www.bcb.gov.br/pi/pacs.008/1.16',
    )
  const key = () => {
    const certificate = new X509Certificate(read('test-cert.pem'))
    return prepareKeyInfo(
      issuerText(new Uint8Array(certificate.raw)),
      BigInt(`0x${certificate.serialNumber}`).toString(),
      'ki-00000000-0000-4000-8000-000000000001',
      sha256,
    )
  }

  test('SignedInfo is the one of the vector, byte for byte', () => {
    const { signedInfo } = prepareSignature(unsigned(), key(), sha256)
    expect(new TextDecoder().decode(signedInfo)).toBe(
      new TextDecoder().decode(read('signedinfo.c14n')),
    )
  })

  test('with its signature value, the whole message is the one of the vector', async () => {
    const signature = read('sig.bin')
    const signed = await signEnvelope(unsigned(), key(), sha256, async () => signature)
    expect(new TextDecoder().decode(signed)).toBe(golden())
  })
})

describe('laying out a signature', () => {
  const key = prepareKeyInfo(issuer, '12', 'ki-1', sha256)

  test('one key signs many messages: nothing of one shows in the next', () => {
    const one = prepareSignature(envelopeOf('<A>1</A>'), key, sha256).signedInfo
    const two = prepareSignature(envelopeOf('<A>2</A>'), key, sha256).signedInfo
    const again = prepareSignature(envelopeOf('<A>1</A>'), key, sha256).signedInfo
    expect(one).not.toEqual(two)
    expect(again).toEqual(one)
  })

  test('characters of markup in an issuer are escaped', () => {
    const { keyInfo } = prepareKeyInfo('CN=A & B <C>, C=BR', '12', 'ki-1', sha256)
    expect(new TextDecoder().decode(keyInfo)).toContain('CN=A &amp; B &lt;C&gt;, C=BR')
  })

  test('a serial that is not decimal and an Id that is not a name are refused', () => {
    expect(codeOf(() => prepareKeyInfo(issuer, '0x12', 'ki', sha256))).toBe('key_info')
    expect(codeOf(() => prepareKeyInfo(issuer, '', 'ki', sha256))).toBe('key_info')
    expect(codeOf(() => prepareKeyInfo(issuer, '12', '1ki', sha256))).toBe('key_info')
    expect(codeOf(() => prepareKeyInfo(issuer, '12', 'k"i', sha256))).toBe('key_info')
  })

  test('slices that do not fit the message are refused', () => {
    const good = envelopeOf('<A>1</A>')
    const shifted = (by: number) => ({ from: good.document.from + by, to: good.document.to })
    for (const wrong of [
      { ...good, document: shifted(1) },
      { ...good, appHdr: good.document },
      { ...good, signatureAt: good.signatureAt + 1 },
      { ...good, document: { from: good.document.from, to: good.bytes.length + 1 } },
      { ...good, namespace: 'urn:a"b' },
    ]) {
      expect(codeOf(() => prepareSignature(wrong, key, sha256))).toBe('envelope_slices')
    }
  })
})
