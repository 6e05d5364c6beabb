import { beforeAll, describe, expect, test } from 'bun:test'
import { createPublicKey, sign, verify } from 'node:crypto'
import { CodecError } from '#codecs/bytes'
import { createXmlScanner } from '#codecs/xml'
import { parseName, signWhole, verifyWhole } from '#codecs/xmldsig'
import { sha256 } from '../../support/envelope.ts'
import { issueCertificate } from '../../support/pki.ts'

const scanner = createXmlScanner()
const pair = issueCertificate('AC Teste')
const publicKey = createPublicKey(pair.cert)
const issuer = 'CN=AC Teste, OU=CSPB-4, O=ICP-Brasil, C=BR'
const signer = {
  issuer,
  serial: pair.serial,
  id: 'key-1',
  sign: async (bytes: Uint8Array) => sign('sha256', bytes, pair.key),
}
const encode = (xml: string): Uint8Array => new TextEncoder().encode(xml)
const signed = async (xml: string): Promise<string> =>
  new TextDecoder().decode(await signWhole(scanner.scan(encode(xml)), signer, sha256))

/** `ok`, the refusal's code, or the scanner's code. */
const verdict = (xml: string, valid = true): string => {
  try {
    const result = verifyWhole(scanner.scan(encode(xml)), {
      sha256,
      findCertificate: (name, serial) =>
        parseName(name) === parseName(issuer) && serial === pair.serial
          ? { valid, verify: (bytes, value) => verify('sha256', bytes, publicKey, value) }
          : undefined,
    })
    return result.ok ? 'ok' : result.code
  } catch (error) {
    if (error instanceof CodecError) return `scanner: ${error.code}`
    throw error
  }
}

/** With a declaration, line breaks, an empty tag, an entity and an attribute that holds ">". */
const request = `<?xml version="1.0" encoding="UTF-8" ?>
<CreateEntryRequest>
    <Entry note="a>b"><Key>+5561988880000</Key><Owner><Name>Irmãos &amp; Cia</Name><TradeName/></Owner></Entry>
    <Reason>USER_REQUESTED</Reason>
</CreateEntryRequest>
`

let good = ''
let signature = ''
beforeAll(async () => {
  good = await signed(request)
  signature = /<ds:Signature .*<\/ds:Signature>/s.exec(good)?.[0] ?? ''
})

const algorithm = 'algorithm_not_allowed'

/** Moves the signature to the place behind a tag. */
const move = (xml: string, tag: string): string =>
  xml.replace(signature, '').replace(tag, tag + signature)

const third = (xml: string): string =>
  xml.replace('</ds:SignedInfo>', '<ds:Reference></ds:Reference></ds:SignedInfo>')

const one = (xml: string): string => xml.replace(/<ds:Reference URI="">.*?<\/ds:Reference>/s, '')

/** Another character in the value, which stays base64 of the same length. */
const flip = (xml: string): string =>
  xml.replace(/(<ds:SignatureValue>)(.)/, (_, tag, first) => tag + (first === 'A' ? 'B' : 'A'))

describe('signWhole', () => {
  test('puts the signature first in the root, and leaves the values as they are', () => {
    expect(good).toStartWith('<CreateEntryRequest><ds:Signature ')
    expect(good).toContain('<Entry note="a>b"><Key>+5561988880000</Key>')
    expect(good).toContain('<TradeName></TradeName>')
    expect(good.match(/<ds:Reference/g)).toHaveLength(2)
    expect(verdict(good)).toBe('ok')
  })

  test('finds the end of a start tag that holds ">" in a value', async () => {
    const text = await signed('<R a="x>y" b="2"><K>1</K></R>')
    expect(text).toStartWith('<R a="x>y" b="2"><ds:Signature ')
    expect(verdict(text)).toBe('ok')
  })

  test('signs no document that is signed already, and with no odd name of a key', async () => {
    await expect(signed(good)).rejects.toMatchObject({ code: 'signature_present' })
    const odd = signWhole(scanner.scan(encode(request)), { ...signer, id: '1"' }, sha256)
    await expect(odd).rejects.toMatchObject({ code: 'key_info' })
  })
})

describe('verifyWhole', () => {
  test('takes what another writer puts differently but means alike', () => {
    expect(verdict(`<?xml version="1.0"?>\n${good}\n`)).toBe('ok')
    expect(verdict(good.replace('<TradeName></TradeName>', '<TradeName />'))).toBe('ok')
    const last = good.replace(signature, '').replace('</CreateEntryRequest>', '')
    expect(verdict(`${last}${signature}</CreateEntryRequest>`)).toBe('ok')
    expect(verdict(good.replace('<Key>', '<Key >'))).toBe('ok')
    const lines = good.replace(/(<ds:SignatureValue>.{76})/, '$1&#13;\n')
    expect(verdict(lines)).toBe('ok')
  })

  test.each([
    ['another value', (xml: string) => xml.replace('<Key>+55', '<Key>+56'), 'digest_root'],
    ['a value more', (xml: string) => xml.replace('<Reason>', '<X></X><Reason>'), 'digest_root'],
    ['another root', (xml: string) => xml.replaceAll('CreateEntryRequest', 'R'), 'digest_root'],
    ['white space', (xml: string) => xml.replace('<Reason>', ' <Reason>'), 'digest_root'],
    ['no signature', (xml: string) => xml.replace(signature, ''), 'signature_missing'],
    ['two', (xml: string) => xml.replace(signature, signature + signature), 'signature_misplaced'],
    ['one deeper', (xml: string) => move(xml, '<Reason>'), 'signature_missing'],
    ['a comment', (xml: string) => xml.replace('<Key>+', '<Key><!-- -->+'), 'markup_not_allowed'],
    [
      'CDATA',
      (xml: string) => xml.replace('<Key>+55', '<Key><![CDATA[+55]]>'),
      'markup_not_allowed',
    ],
    ['an Id', (xml: string) => xml.replace('<Key>', '<Key Id="key-1">'), 'identifier_foreign'],
    ['a third reference', third, 'reference_not_allowed'],
    ['one reference', one, 'reference_not_allowed'],
    ['another algorithm', (xml: string) => xml.replace('rsa-sha256', 'rsa-sha1'), algorithm],
    ['another key', (xml: string) => xml.replace(pair.serial, '12'), 'certificate_unknown'],
    ['a foreign value', (xml: string) => flip(xml), 'signature_invalid'],
    ['an empty one', (xml: string) => xml.replace(signature, '<Signature/>'), 'signature_missing'],
    ['a document type', (xml: string) => `<!DOCTYPE R>${xml}`, 'scanner: doctype_forbidden'],
  ])('refuses %s', (_, alter, code) => {
    expect(verdict(alter(good))).toBe(code)
  })

  test('refuses a certificate that may not sign now', () => {
    expect(verdict(good, false)).toBe('certificate_not_valid')
  })
})
