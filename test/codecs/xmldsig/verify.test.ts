import { beforeAll, describe, expect, test } from 'bun:test'
import { createPublicKey, sign, verify } from 'node:crypto'
import { CodecError } from '#codecs/bytes'
import { createXmlScanner } from '#codecs/xml'
import {
  canonicalForm,
  exclusiveC14n,
  parseName,
  prepareKeyInfo,
  Scratch,
  type SignerCertificate,
  signEnvelope,
  verifyEnvelope,
} from '#codecs/xmldsig'
import { envelopeOf, sha256 } from '../../support/envelope.ts'
import { issueCertificate } from '../../support/pki.ts'
import { hasSharedData, readSharedData, skipReason } from '../../support/shared-data.ts'

const scanner = createXmlScanner()
const pair = issueCertificate('AC Teste')
const publicKey = createPublicKey(pair.cert)
const issuer = 'CN=AC Teste, OU=CSPB-4, O=ICP-Brasil, C=BR'
const body =
  '<FIToFIPmtStsRpt><TxInfAndSts><OrgnlEndToEndId>E1</OrgnlEndToEndId>' +
  '<Amt Ccy="BRL">100.00</Amt><Nm>Silva &amp; Cia</Nm></TxInfAndSts></FIToFIPmtStsRpt>'

const scratch = new Scratch()
const ports = (valid = true) => ({
  scratch,
  sha256,
  findCertificate: (name: string, serial: string): SignerCertificate | undefined =>
    parseName(name) === parseName(issuer) && serial === pair.serial
      ? { valid, verify: (bytes, signature) => verify('sha256', bytes, publicKey, signature) }
      : undefined,
})

/** `ok`, the refusal's code, or the scanner's code. */
const verdict = (xml: string, valid = true): string => {
  try {
    const result = verifyEnvelope(scanner.scan(new TextEncoder().encode(xml)), ports(valid))
    return result.ok ? 'ok' : result.code
  } catch (error) {
    if (error instanceof CodecError) return `scanner: ${error.code}`
    throw error
  }
}

const key = prepareKeyInfo(issuer, pair.serial, 'ki-1', sha256)
const signBytes = async (bytes: Uint8Array) => sign('sha256', bytes, pair.key)

let good = ''
/** Signature, AppHdr and Document of the good message. */
let parts = { signature: '', appHdr: '', document: '' }
beforeAll(async () => {
  const signed = await signEnvelope(envelopeOf(body), key, sha256, signBytes)
  good = new TextDecoder().decode(signed)
  const cut = (pattern: RegExp) => pattern.exec(good)?.[0] ?? ''
  parts = {
    signature: cut(/<ds:Signature .*<\/ds:Signature>/s),
    appHdr: cut(/<AppHdr>.*<\/AppHdr>/s),
    document: cut(/<Document>.*<\/Document>/s),
  }
})

/** The good message with one text replaced, which must be there. */
const edited = (from: string | RegExp, to: string): string => {
  const result = good.replace(from, () => to)
  if (result === good) throw new Error(`nothing to replace: ${from}`)
  return result
}

describe('accepted', () => {
  test('what we sign', () => expect(verdict(good)).toBe('ok'))

  test('issuer in another spelling, which the signature then covers', async () => {
    const other = prepareKeyInfo(
      'C=BR,O=ICP-Brasil,OU=CSPB-4,CN=ac  teste',
      pair.serial,
      'k',
      sha256,
    )
    const signed = await signEnvelope(envelopeOf(body), other, sha256, signBytes)
    expect(verdict(new TextDecoder().decode(signed))).toBe('ok')
  })

  test('signature value in lines ended by &#13; and LF', () => {
    const value = /<ds:SignatureValue>(.*)<\/ds:SignatureValue>/.exec(good)?.[1] ?? ''
    const wrapped = value.replace(/.{64}/g, '$&&#13;\n')
    expect(verdict(edited(value, wrapped))).toBe('ok')
    expect(verdict(edited(value, `\n${value}\n`))).toBe('ok')
  })

  test('white space between Envelope and its two children', () => {
    expect(verdict(edited('<AppHdr>', '\n  <AppHdr>'))).toBe('ok')
  })

  test.skipIf(!hasSharedData)(`the golden vector${skipReason}`, () => {
    const read = (name: string) => readSharedData(`spi/signed-vector/${name}`)
    const vectorKey = createPublicKey(Buffer.from(read('pub.pem')))
    const result = verifyEnvelope(scanner.scan(read('pacs.008.spi.1.16.signed.xml')), {
      sha256,
      findCertificate: (name, serial) => {
        expect(parseName(name)).toBe(
          parseName('C=BR,O=ICP-Brasil,OU=CSPB-4,CN=AC TESTE SPI (nao usar)'),
        )
        expect(serial).toBe('18961240827800698116610555850980234742978015948')
        return { valid: true, verify: (bytes, value) => verify('sha256', bytes, vectorKey, value) }
      },
    })
    expect(result.ok).toBe(true)
  })
})

describe('layouts of other writers, which only the general canonicaliser reads', () => {
  /** The good message in another layout before it is signed by a writer that canonicalises. */
  async function signedAs(layout: (xml: string) => string): Promise<string> {
    const empty = new TextDecoder().decode(envelopeOf(body).bytes)
    const laidOut = layout(empty)
    const document = scanner.scan(new TextEncoder().encode(laidOut))
    const nodes = new Map<string, number>()
    for (let node = document.root; node < document.endNode; node++) {
      if (document.isElement(node)) nodes.set(document.localName(node), node)
    }
    const digest = (node: number) =>
      Buffer.from(sha256(exclusiveC14n(document, node))).toString('base64')
    const key = prepareKeyInfo(issuer, pair.serial, 'ki-1', sha256)
    const digests = [digest(nodes.get('AppHdr')!), digest(nodes.get('Document')!)]
    const signedInfo = new TextDecoder()
      .decode(key.signedInfo)
      .replace(/> {44}</g, () => `>${digests.shift()}<`)
    // As the JDK writes it: empty-element tags; the canonical form has none.
    const written = signedInfo.replace(
      /><\/ds:(CanonicalizationMethod|SignatureMethod|Transform|DigestMethod)>/g,
      '/>',
    )
    const value = Buffer.from(await signBytes(Buffer.from(signedInfo))).toString('base64')
    const signature =
      `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#">${written}` +
      `<ds:SignatureValue>${value}</ds:SignatureValue>${new TextDecoder().decode(key.keyInfo)}</ds:Signature>`
    return laidOut.replace(/(<(?:n:)?Sgntr>)/, (tag) => tag + signature)
  }

  const layouts: Readonly<Record<string, (xml: string) => string>> = {
    'as it is': (xml) => xml,
    indented: (xml) =>
      xml.replace(/></g, '>\n  <').replace('<Sgntr>\n  </Sgntr>', '<Sgntr></Sgntr>'),
    'single quotes': (xml) => xml.replace(/="([^"]*)"/g, "='$1'"),
    'blanks in tags': (xml) =>
      xml
        .replace(/<\/(\w+)>/g, '</$1 >')
        .replace(/<(\w+)>/g, (tag) => (tag === '<Sgntr>' ? tag : tag.replace('>', ' >'))),
    'a prefix for the message': (xml) =>
      xml.replace(/<(\/?)([A-Z])/g, '<$1n:$2').replace('xmlns=', 'xmlns:n='),
    'namespace repeated on AppHdr and Document': (xml) => {
      const declaration = /xmlns="[^"]+"/.exec(xml)?.[0]
      return xml
        .replace('<AppHdr>', `<AppHdr ${declaration}>`)
        .replace('<Document>', `<Document ${declaration}>`)
    },
    'unused namespaces on Envelope': (xml) =>
      xml.replace('<Envelope ', '<Envelope xmlns:xsi="urn:xsi" '),
    'greater-than and apostrophe as they are': (xml) => xml.replace('Cia', "Cia's > a"),
    'hexadecimal references': (xml) => xml.replace('Silva', '&#x53;ilva'),
  }
  for (const [label, layout] of Object.entries(layouts)) {
    test(label, async () => {
      const xml = await signedAs(layout)
      expect(verdict(xml)).toBe('ok')
      expect(verdict(xml.replace('100.00', '900.00'))).toBe('digest_document')
    })
  }
})

describe('tricks inside an amount', () => {
  const amount = (inner: string) => edited('>100.00<', `>${inner}<`)
  test('PI-in-amount', () =>
    expect(verdict(amount('<?p 100?>.00'))).toBe('scanner: processing_instruction_forbidden'))
  test('comment in an amount', () =>
    expect(verdict(amount('1<!---->00.00'))).toBe('markup_not_allowed'))
  test('comment around an amount', () =>
    expect(verdict(edited('<Amt', '<!-- --><Amt'))).toBe('markup_not_allowed'))
  test('CDATA in an amount', () =>
    expect(verdict(amount('<![CDATA[100.00]]>'))).toBe('markup_not_allowed'))
  test('entity for an amount', () =>
    expect(verdict(amount('&a;'))).toBe('scanner: entity_undefined'))
  test('document type', () =>
    expect(verdict(edited('<Envelope', '<!DOCTYPE a [<!ENTITY a "1">]><Envelope'))).toBe(
      'scanner: doctype_forbidden',
    ))
  test('other digits', () => expect(verdict(amount('900.00'))).toBe('digest_document'))
  test('a blank more', () => expect(verdict(amount(' 100.00'))).toBe('digest_document'))
  test('another currency', () => expect(verdict(edited('"BRL"', '"USD"'))).toBe('digest_document'))
})

describe('signature wrapping (XSW)', () => {
  const evil = '<Document><Amt Ccy="BRL">999.00</Amt></Document>'
  const cases: Readonly<Record<string, () => [string, string]>> = {
    'XSW: evil Document before the signed one': () => [
      edited('<Document>', `${evil}<Document>`),
      'envelope_structure',
    ],
    'XSW: evil Document after the signed one': () => [
      edited('</Envelope>', `${evil}</Envelope>`),
      'envelope_structure',
    ],
    'XSW: signed Document moved into the signature as an Object': () => [
      good
        .replace(parts.document, evil)
        .replace('</ds:Signature>', `<ds:Object>${parts.document}</ds:Object></ds:Signature>`),
      'signature_structure',
    ],
    'XSW: signed Document moved below the evil one': () => [
      good.replace(parts.document, evil.replace('</Document>', `${parts.document}</Document>`)),
      'digest_document',
    ],
    'XSW: signed AppHdr hidden inside an evil AppHdr': () => [
      edited('<AppHdr>', `<AppHdr><Old>${parts.appHdr}</Old>`),
      'signature_misplaced',
    ],
    'XSW: signed envelope inside an evil envelope': () => {
      const inner = good.replace(/^<\?xml[^>]*>/, '')
      return [
        `<Envelope xmlns="urn:x"><Document>${inner}</Document></Envelope>`,
        'envelope_structure',
      ]
    },
    'XSW: signed message below another root': () => [
      `<Root>${good.replace(/^<\?xml[^>]*>/, '')}</Root>`,
      'envelope_structure',
    ],
    'XSW: header of another message': () => [
      edited('<BizMsgIdr>M9', '<BizMsgIdr>M8'),
      'digest_app_hdr',
    ],
    'XSW: Document of another namespace': () => [
      edited('<Document>', '<Document xmlns="urn:x">'),
      'envelope_structure',
    ],
    'XSW: Id of KeyInfo repeated in the Document': () => [
      edited('<TxInfAndSts>', '<TxInfAndSts Id="ki-1">'),
      'identifier_foreign',
    ],
    'XSW: namespace of the message changed': () => [
      edited('/pacs.002/1.14"', '/pacs.002/1.13"'),
      'digest_app_hdr',
    ],
    'XSW: attribute on Envelope': () => [
      edited('<Envelope ', '<Envelope a="1" '),
      'envelope_structure',
    ],
    'XSW: text in Envelope': () => [edited('<Document>', 'x<Document>'), 'envelope_structure'],
  }
  for (const [label, make] of Object.entries(cases)) {
    test(label, () => {
      const [xml, code] = make()
      expect(verdict(xml)).toBe(code)
    })
  }
})

describe('what looks like white space and is not', () => {
  for (const text of ['\u00a0', '\ufeff', '\u2028', '&#160;']) {
    const label = text.length === 1 ? `U+${text.charCodeAt(0).toString(16)}` : text
    test(`${label} between the children of Envelope, which no digest covers`, () => {
      expect(verdict(edited('<Document', `${text}<Document`))).toBe('envelope_structure')
    })
    test(`${label} beside the signature`, () => {
      expect(verdict(edited('</Sgntr>', `${text}</Sgntr>`))).toBe('signature_misplaced')
    })
  }
})

describe('where the signature is', () => {
  const cases: Readonly<Record<string, () => [string, string]>> = {
    'empty Sgntr': () => [good.replace(parts.signature, ''), 'signature_missing'],
    'empty-element Sgntr': () => [
      good.replace(`<Sgntr>${parts.signature}</Sgntr>`, '<Sgntr/>'),
      'signature_missing',
    ],
    'no Sgntr': () => [good.replace(`<Sgntr>${parts.signature}</Sgntr>`, ''), 'signature_missing'],
    'two signatures in Sgntr': () => [
      good.replace(parts.signature, parts.signature.repeat(2)),
      'signature_misplaced',
    ],
    'a second signature in the Document': () => [
      edited('<TxInfAndSts>', `${parts.signature}<TxInfAndSts>`),
      'signature_misplaced',
    ],
    'a second Sgntr': () => [
      edited('<Sgntr>', `<Sgntr>${parts.signature}</Sgntr><Sgntr>`),
      'signature_misplaced',
    ],
    'text beside the signature': () => [edited('<Sgntr>', '<Sgntr>x'), 'signature_misplaced'],
    'attribute on Sgntr': () => [edited('<Sgntr>', '<Sgntr a="1">'), 'signature_misplaced'],
    'another element in Sgntr': () => [edited('<Sgntr>', '<Sgntr><X></X>'), 'signature_misplaced'],
    'Signature of another namespace': () => [
      edited('xmlns:ds="http://www.w3.org/2000/09/xmldsig#"', 'xmlns:ds="urn:x"'),
      'signature_misplaced',
    ],
    'Sgntr not last': () => [edited('</Sgntr>', '</Sgntr><X></X>'), 'signature_missing'],
  }
  for (const [label, make] of Object.entries(cases)) {
    test(label, () => {
      const [xml, code] = make()
      expect(verdict(xml)).toBe(code)
    })
  }
})

describe('inside the signature', () => {
  const c14n = 'http://www.w3.org/2001/10/xml-exc-c14n#'
  const transform = (algorithm: string) => `<ds:Transform Algorithm="${algorithm}"></ds:Transform>`
  const cases: Readonly<Record<string, () => [string, string]>> = {
    'RSA-SHA1': () => [
      edited(
        'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
        'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
      ),
      'algorithm_not_allowed',
    ],
    'HMAC instead of RSA': () => [
      edited('xmldsig-more#rsa-sha256', 'xmldsig-more#hmac-sha256'),
      'algorithm_not_allowed',
    ],
    'SHA-1 digest': () => [
      edited('http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2000/09/xmldsig#sha1'),
      'algorithm_not_allowed',
    ],
    'inclusive canonicalisation': () => [
      edited(c14n, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'),
      'algorithm_not_allowed',
    ],
    'canonicalisation with comments': () => [
      edited(transform(c14n), transform(`${c14n}WithComments`)),
      'transform_not_allowed',
    ],
    'XPath transform added': () => [
      edited(
        transform(c14n),
        transform('http://www.w3.org/TR/1999/REC-xpath-19991116') + transform(c14n),
      ),
      'transform_not_allowed',
    ],
    'XSLT transform instead': () => [
      edited(transform(c14n), transform('http://www.w3.org/TR/1999/REC-xslt-19991116')),
      'transform_not_allowed',
    ],
    'transform removed': () => [
      edited(`${transform('http://www.w3.org/2000/09/xmldsig#enveloped-signature')}`, ''),
      'transform_not_allowed',
    ],
    'content inside a transform': () => [
      edited(`${c14n}"></ds:Transform>`, `${c14n}"><ds:X></ds:X></ds:Transform>`),
      'transform_not_allowed',
    ],
    'parameter inside a method': () => [
      edited(
        '#rsa-sha256"></ds:SignatureMethod>',
        '#rsa-sha256"><ds:HMACOutputLength>0</ds:HMACOutputLength></ds:SignatureMethod>',
      ),
      'algorithm_not_allowed',
    ],
    'reference removed': () => [
      edited(/<ds:Reference>.*?<\/ds:Reference>/s, ''),
      'reference_not_allowed',
    ],
    'reference repeated': () => [
      edited(
        '</ds:SignedInfo>',
        `${/<ds:Reference>.*?<\/ds:Reference>/s.exec(good)?.[0]}</ds:SignedInfo>`,
      ),
      'reference_not_allowed',
    ],
    'reference to another Id': () => [
      edited('URI="#ki-1"', 'URI="#ki-2"'),
      'reference_not_allowed',
    ],
    'reference to a web page': () => [
      edited('URI=""', 'URI="https://x.example/"'),
      'reference_not_allowed',
    ],
    'URI given to the third reference': () => [
      edited('<ds:Reference><', '<ds:Reference URI="#d"><'),
      'reference_not_allowed',
    ],
    'Type on a reference': () => [edited('URI=""', 'URI="" Type="urn:x"'), 'reference_not_allowed'],
    'references in another order': () => {
      const [one = '', two = ''] = [...good.matchAll(/<ds:Reference.*?<\/ds:Reference>/gs)].map(
        ([text]) => text,
      )
      return [good.replace(one + two, two + one), 'reference_not_allowed']
    },
    'second SignedInfo': () => [
      edited('<ds:SignatureValue>', '<ds:SignedInfo></ds:SignedInfo><ds:SignatureValue>'),
      'signature_structure',
    ],
    'Object added': () => [
      edited('</ds:Signature>', '<ds:Object></ds:Object></ds:Signature>'),
      'signature_structure',
    ],
    'Id on Signature': () => [
      edited('<ds:Signature ', '<ds:Signature Id="s" '),
      'signature_structure',
    ],
    'KeyInfo without Id': () => [edited(' Id="ki-1"', ''), 'signature_structure'],
    'certificate of the sender in KeyInfo': () => [
      edited(
        '</ds:X509IssuerSerial>',
        '</ds:X509IssuerSerial><ds:X509Certificate>AAAA</ds:X509Certificate>',
      ),
      'signature_structure',
    ],
    'foreign KeyInfo: a bare key': () => [
      edited(/<ds:X509Data>.*<\/ds:X509Data>/s, '<ds:KeyValue></ds:KeyValue>'),
      'signature_structure',
    ],
    'foreign KeyInfo: another serial': () => [
      edited(`>${pair.serial}<`, '>12<'),
      'certificate_unknown',
    ],
    'foreign KeyInfo: another issuer': () => [
      edited('CN=AC Teste', 'CN=AC Falsa'),
      'certificate_unknown',
    ],
    'serial in hexadecimal': () => [edited(`>${pair.serial}<`, '>0xAB<'), 'value_malformed'],
    'comment in a digest': () => [
      edited('<ds:DigestValue>', '<ds:DigestValue><!---->'),
      'markup_not_allowed',
    ],
    'element in a digest': () => [
      edited('<ds:DigestValue>', '<ds:DigestValue><ds:X></ds:X>'),
      'signature_structure',
    ],
    'digest cut short': () => [
      edited(/.<\/ds:DigestValue>/, '</ds:DigestValue>'),
      'value_malformed',
    ],
    'signature value cut short': () => [
      edited(/.{4}<\/ds:SignatureValue>/, '</ds:SignatureValue>'),
      'value_malformed',
    ],
    'signature value with another alphabet': () => [
      edited('<ds:SignatureValue>', '<ds:SignatureValue>-_'),
      'value_malformed',
    ],
    'signature value of zeros': () => [
      edited(
        /<ds:SignatureValue>.*<\/ds:SignatureValue>/s,
        `<ds:SignatureValue>${Buffer.alloc(256).toString('base64')}</ds:SignatureValue>`,
      ),
      'signature_invalid',
    ],
    'digest exchanged for one that fits': () => {
      const xml = edited('>100.00<', '>900.00<')
      const document = /<Document>(.*<\/Document>)/s.exec(xml)?.[1] ?? ''
      const canonical = `<Document xmlns="https://www.bcb.gov.br/pi/pacs.002/1.14">${document}`
      const digest = Buffer.from(sha256(Buffer.from(canonical))).toString('base64')
      return [
        xml.replace(/[^>]+(<\/ds:DigestValue><\/ds:Reference><\/ds:SignedInfo>)/, `${digest}$1`),
        'signature_invalid',
      ]
    },
  }
  for (const [label, make] of Object.entries(cases)) {
    test(label, () => {
      const [xml, code] = make()
      expect(verdict(xml)).toBe(code)
    })
  }

  test('a certificate that may not sign now', () => {
    expect(verdict(good, false)).toBe('certificate_not_valid')
  })

  test('KeyInfo exchanged for the same certificate in another spelling', () => {
    expect(verdict(edited('O=ICP-Brasil,', 'O=ICP-Brasil ,'))).toBe('digest_key_info')
  })
})

describe('memory that verifications share', () => {
  test('a message of any length verifies, and altered at its end it does not', async () => {
    for (const length of [60_000, 120_000, 131_072, 500_000]) {
      const long = `<A>${'x'.repeat(length)}</A><B>1</B>`
      const signed = await signEnvelope(envelopeOf(long), key, sha256, signBytes)
      const xml = new TextDecoder().decode(signed)
      expect(verdict(xml)).toBe('ok')
      expect(verdict(xml.replace('<B>1<', '<B>2<'))).toBe('digest_document')
    }
  })

  test('a verification within another spoils neither', () => {
    const document = scanner.scan(new TextEncoder().encode(good))
    const bad = scanner.scan(new TextEncoder().encode(edited('>100.00<', '>900.00<')))
    const inner: string[] = []
    const within = <T>(value: T): T => {
      const result = verifyEnvelope(bad, ports())
      inner.push(result.ok ? 'ok' : result.code)
      return value
    }
    const outer = verifyEnvelope(document, {
      scratch,
      sha256: (bytes) => sha256(within(bytes)),
      findCertificate: (name, serial) => {
        const found = ports().findCertificate(name, serial)
        if (found === undefined) return undefined
        return { valid: true, verify: (bytes, value) => found.verify(within(bytes), value) }
      },
    })
    expect(outer.ok).toBe(true)
    expect(inner).toEqual([
      'digest_document',
      'digest_document',
      'digest_document',
      'digest_document',
    ])
  })

  test('a port that throws leaves nothing behind', () => {
    const document = scanner.scan(new TextEncoder().encode(good))
    const failing = () => {
      throw new Error('no store')
    }
    expect(() => verifyEnvelope(document, { scratch, sha256, findCertificate: failing })).toThrow(
      'no store',
    )
    expect(verdict(good)).toBe('ok')
    expect(verdict(edited('>100.00<', '>900.00<'))).toBe('digest_document')
  })

  test('what is canonicalised outside of a verification is not written over', () => {
    const document = scanner.scan(new TextEncoder().encode(good))
    const form = canonicalForm(document, document.root + 1)
    const before = form.slice()
    expect(verdict(good)).toBe('ok')
    expect(form).toEqual(before)
  })
})

test('no flipped octet of a signed message is accepted', () => {
  const bytes = new TextEncoder().encode(good)
  const from = good.indexOf('<Envelope')
  let accepted = 0
  for (let at = from; at < bytes.length; at++) {
    for (const bit of [1, 4, 32]) {
      const copy = bytes.slice()
      copy[at] = copy[at]! ^ bit
      try {
        if (verifyEnvelope(scanner.scan(copy), ports()).ok) accepted++
      } catch (error) {
        if (!(error instanceof CodecError)) throw error
      }
    }
  }
  expect(accepted).toBe(0)
})
