import { describe, expect, test } from 'bun:test'
import { createPublicKey, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { CodecError } from '#codecs/bytes'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { exclusiveC14n, prepareKeyInfo, signEnvelope, verifyEnvelope } from '#codecs/xmldsig'
import { envelopeOf, sha256 } from '../../support/envelope.ts'
import { issueCertificate } from '../../support/pki.ts'

const scanner = createXmlScanner()
const pair = issueCertificate('AC Teste')
const publicKey = createPublicKey(pair.cert)
const ports = {
  sha256,
  findCertificate: () => ({
    valid: true,
    verify: (bytes: Uint8Array, value: Uint8Array) => verify('sha256', bytes, publicKey, value),
  }),
}
const body = '<Pmt><Id>E1</Id><Amt Ccy="BRL">100.00</Amt></Pmt><Pmt><Id>E2</Id></Pmt>'
const key = prepareKeyInfo('CN=AC Teste', pair.serial, 'ki-1', sha256)
const good = new TextDecoder().decode(
  await signEnvelope(envelopeOf(body), key, sha256, async (bytes) =>
    sign('sha256', bytes, pair.key),
  ),
)
const cut = (pattern: RegExp): string => pattern.exec(good)?.[0] ?? ''
const signature = cut(/<ds:Signature .*<\/ds:Signature>/s)
const appHdr = cut(/<AppHdr>.*<\/AppHdr>/s)
const document = cut(/<Document>.*<\/Document>/s)

/** What a reader would take as signed; undefined where the message is refused. */
const taken = (xml: string): { readonly appHdr: string; readonly document: string } | string => {
  let scanned: XmlDocument
  try {
    scanned = scanner.scan(new TextEncoder().encode(xml))
  } catch (error) {
    if (error instanceof CodecError) return `scanner: ${error.code}`
    throw error
  }
  const result = verifyEnvelope(scanned, ports)
  if (!result.ok) return result.code
  let omit = -1
  for (let node = scanned.root; node < scanned.endNode; node++) {
    if (scanned.isElement(node) && scanned.localName(node) === 'Signature') omit = node
  }
  const read = (node: number, without: number) =>
    new TextDecoder().decode(exclusiveC14n(scanned, node, { omit: without }))
  return { appHdr: read(result.appHdr, omit), document: read(result.document, -1) }
}

const original = taken(good)
if (typeof original === 'string') throw new Error(original)

/** The good message with one text replaced, which must be there. */
const edited = (from: string, to: string): string => {
  if (!good.includes(from)) throw new Error(`nothing to replace: ${from}`)
  return good.replace(from, () => to)
}

test('the message itself is taken', () => {
  expect(original.document).toContain('>100.00<')
})

describe('refused', () => {
  const evil = document.replace('100.00', '999.00')
  const cases: Readonly<Record<string, () => [string, string]>> = {
    'XSW: two AppHdr': () => [edited('<AppHdr>', `${appHdr}<AppHdr>`), 'envelope_structure'],
    'XSW: Document before AppHdr': () => [
      good.replace(appHdr + document, document + appHdr),
      'envelope_structure',
    ],
    'XSW: no AppHdr around the signature': () => [
      good.replace(appHdr, `<Sgntr>${signature}</Sgntr>`),
      'envelope_structure',
    ],
    'XSW: Sgntr one level deeper': () => [
      good.replace('<Sgntr>', '<Sgntr><Sgntr>').replace('</Sgntr>', '</Sgntr></Sgntr>'),
      'signature_misplaced',
    ],
    'XSW: signature in the Document, Sgntr empty': () => [
      good.replace(signature, '').replace('<Document>', `<Document>${signature}`),
      'signature_missing',
    ],
    'XSW: signature around the Document': () => [
      good
        .replace(signature, '')
        .replace(document, signature.replace('</ds:Signature>', `${document}</ds:Signature>`)),
      'envelope_structure',
    ],
    'XSW: signed Document in KeyInfo': () => [
      good.replace(document, evil).replace('</ds:KeyInfo>', `${document}</ds:KeyInfo>`),
      'signature_structure',
    ],
    'XSW: signed Document in a Transform': () => [
      good.replace(document, evil).replace('</ds:Transform>', `${document}</ds:Transform>`),
      'transform_not_allowed',
    ],
    'XSW: signed Document in SignatureValue': () => [
      good
        .replace(document, evil)
        .replace('</ds:SignatureValue>', `${document}</ds:SignatureValue>`),
      'signature_structure',
    ],
    'XSW: signed Document in the AppHdr': () => [
      good.replace(document, evil).replace('<Sgntr>', `${document}<Sgntr>`),
      'digest_app_hdr',
    ],
    'XSW: evil Document with the signed one inside and its Id': () => [
      good.replace(document, evil.replace('<Pmt>', `<Pmt xml:id="ki-1">${document}</Pmt><Pmt>`)),
      'identifier_foreign',
    ],
    'XSW: the same prefix bound to another namespace inside the signature': () => [
      edited('<ds:SignedInfo>', '<ds:SignedInfo xmlns:ds="urn:x">'),
      'signature_structure',
    ],
    'XSW: SignedInfo of another signature before the value': () => [
      edited(
        '<ds:SignatureValue>',
        `${cut(/<ds:SignedInfo>.*<\/ds:SignedInfo>/s)}<ds:SignatureValue>`,
      ),
      'signature_structure',
    ],
    'XSW: an attribute of XML on Envelope': () => [
      edited('<Envelope ', '<Envelope xml:lang="pt" '),
      'envelope_structure',
    ],
    'XSW: payments exchanged within the Document': () => [
      edited('<Id>E1</Id>', '<Id>E2</Id>'),
      'digest_document',
    ],
    'a comment before the root': () => [
      edited('<Envelope', '<!-- --><Envelope'),
      'markup_not_allowed',
    ],
    'a comment behind the root': () => [`${good}<!-- -->`, 'markup_not_allowed'],
    'CDATA in the signature value': () => [
      edited('<ds:SignatureValue>', '<ds:SignatureValue><![CDATA[]]>'),
      'markup_not_allowed',
    ],
    'an instruction behind the root': () => [
      `${good}<?p?>`,
      'scanner: processing_instruction_forbidden',
    ],
    'another message behind the root': () => [
      good + good.replace(/^<\?xml[^>]*>/, ''),
      'scanner: content_after_root',
    ],
    'blanks in a URI': () => [edited('URI=""', 'URI=" "'), 'reference_not_allowed'],
    'a fragment of nothing': () => [edited('URI=""', 'URI="#"'), 'reference_not_allowed'],
    'an XPointer to the root': () => [
      edited('URI=""', 'URI="#xpointer(/)"'),
      'reference_not_allowed',
    ],
    'blanks around an algorithm': () => [
      edited('#rsa-sha256"', '#rsa-sha256 "'),
      'algorithm_not_allowed',
    ],
    'a prefix list of InclusiveNamespaces': () => [
      edited(
        'xml-exc-c14n#"></ds:CanonicalizationMethod>',
        'xml-exc-c14n#"><c:InclusiveNamespaces xmlns:c="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="a"></c:InclusiveNamespaces></ds:CanonicalizationMethod>',
      ),
      'algorithm_not_allowed',
    ],
    'two serial numbers': () => [
      edited(
        '</ds:X509SerialNumber>',
        '</ds:X509SerialNumber><ds:X509SerialNumber>1</ds:X509SerialNumber>',
      ),
      'signature_structure',
    ],
    'two X509Data': () => {
      const data = cut(/<ds:X509Data>.*<\/ds:X509Data>/s)
      return [edited(data, data + data), 'signature_structure']
    },
  }
  for (const [label, make] of Object.entries(cases)) {
    test(label, () => {
      const [xml, code] = make()
      expect(taken(xml)).toBe(code)
    })
  }

  test('another encoding than the bytes have', () => {
    for (const encoding of ['UTF-16', 'ISO-8859-1', 'UTF-7']) {
      expect(taken(edited('encoding="UTF-8"', `encoding="${encoding}"`))).toStartWith('scanner: ')
    }
  })
})

/** Start and end of every element, in characters, which are octets here. */
const elements = (xml: string): readonly (readonly [number, number])[] => {
  const scanned = scanner.scan(new TextEncoder().encode(xml))
  const found: [number, number][] = []
  for (let node = scanned.root; node < scanned.endNode; node++) {
    if (scanned.isElement(node)) found.push([scanned.start(node), scanned.end(node)])
  }
  return found
}

test('however elements are moved, copied, wrapped and removed, nothing but the original is taken', () => {
  const places = elements(good)
  const move = fc.record({
    kind: fc.constantFrom('copy', 'move', 'remove', 'wrap', 'rename', 'exchange', 'forge'),
    from: fc.nat({ max: places.length - 1 }),
    to: fc.nat({ max: places.length - 1 }),
    inside: fc.boolean(),
    name: fc.constantFrom('Document', 'AppHdr', 'Sgntr', 'Envelope', 'ds:Object', 'X'),
  })
  let refused = 0
  fc.assert(
    fc.property(fc.array(move, { minLength: 1, maxLength: 3 }), (moves) => {
      let xml = good
      for (const { kind, from, to, inside, name } of moves) {
        const now = elements(xml)
        const [start, end] = now[from % now.length]!
        const [otherStart] = now[to % now.length]!
        const text = xml.slice(start, end)
        const at = inside ? xml.indexOf('>', otherStart) + 1 : otherStart
        const without = xml.slice(0, start) + xml.slice(end)
        const put = (whole: string, place: number, part: string) =>
          whole.slice(0, place) + part + whole.slice(place)
        const wrapped = `<${name}${name.startsWith('ds:') ? ' xmlns:ds="http://www.w3.org/2000/09/xmldsig#"' : ''}>${text}</${name}>`
        let next = xml
        if (kind === 'copy') next = put(xml, at, text)
        else if (kind === 'forge') next = put(xml, at, text.replace('100.00', '999.00'))
        else if (kind === 'remove') next = without
        else if (kind === 'wrap') next = xml.slice(0, start) + wrapped + xml.slice(end)
        else if (kind === 'move')
          next = put(without, at <= start ? at : Math.max(at - (end - start), start), text)
        else if (kind === 'exchange') next = xml.slice(0, start) + document + xml.slice(end)
        else
          next =
            xml.slice(0, start) +
            text.replace(/^<[\w:]+/, `<${name}`).replace(/[\w:]+>$/, `${name}>`) +
            xml.slice(end)
        try {
          elements(next)
          xml = next
        } catch {
          // No longer well-formed: the move is left out.
        }
      }
      const result = taken(xml)
      if (typeof result === 'string') refused++
      else expect(result).toEqual(original)
    }),
    { numRuns: 1_500 },
  )
  expect(refused).toBeGreaterThan(500)
}, 60_000)
