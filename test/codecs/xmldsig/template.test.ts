import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CodecError } from '#codecs/bytes'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { prepareKeyInfo, signEnvelope } from '#codecs/xmldsig'
import { locate, readSignature } from '../../../codecs/xmldsig/grammar.ts'
import { RefusalSignal } from '../../../codecs/xmldsig/refusal.ts'
import { readTemplate } from '../../../codecs/xmldsig/template.ts'
import { envelopeOf, sha256 } from '../../support/envelope.ts'

const scanner = createXmlScanner()
const value = new Uint8Array(256).map((_, i) => i)

const signed = async (issuer = 'CN=AC Teste, C=BR'): Promise<string> => {
  const key = prepareKeyInfo(issuer, '0042', 'ki-1', sha256)
  const bytes = await signEnvelope(envelopeOf('<A>ã</A>'), key, sha256, async () => value)
  return new TextDecoder().decode(bytes)
}

const both = (xml: string) => {
  const document = createXmlScanner().scan(new TextEncoder().encode(xml))
  const { signature } = locate(document)
  return {
    byGrammar: readSignature(document, signature),
    byTemplate: readTemplate(document, signature),
  }
}

/** Undefined where the message is refused before, or left to the grammar. */
const outcomeOf = (xml: string) => {
  let document: XmlDocument
  let signature: number
  try {
    document = scanner.scan(new TextEncoder().encode(xml))
    signature = locate(document).signature
  } catch (error) {
    if (error instanceof CodecError || error instanceof RefusalSignal) return undefined
    throw error
  }
  const byTemplate = readTemplate(document, signature)
  // What the template takes, the grammar must not refuse.
  return byTemplate && { byTemplate, byGrammar: readSignature(document, signature) }
}

const oneTag = (xml: string) => xml.replace(/><\/ds:\w+(?<=Method|Transform)>/g, '/>')

describe('the template reads what the grammar reads', () => {
  test('pairs of tags', async () => {
    const { byGrammar, byTemplate } = both(await signed())
    expect(byTemplate).toEqual(byGrammar)
    expect(byGrammar.serial).toBe('42')
  })

  test('empty-element tags', async () => {
    const xml = oneTag(await signed())
    expect(xml).toContain('c14n#"/>')
    const { byGrammar, byTemplate } = both(xml)
    expect(byTemplate).toEqual(byGrammar)
  })
})

describe('left to the grammar', () => {
  const changes: Readonly<Record<string, (xml: string) => string>> = {
    'both layouts in one': (xml) => xml.replace(/><\/ds:Transform>/, '/>'),
    'white space between elements': (xml) =>
      xml.replace('<ds:SignatureValue>', ' <ds:SignatureValue>'),
    'lines in the value': (xml) => xml.replace('<ds:SignatureValue>', '<ds:SignatureValue>\n'),
    'another prefix': (xml) => xml.replaceAll('ds:', 'dsig:').replace('xmlns:ds=', 'xmlns:dsig='),
    'a carriage return in the issuer': (xml) => xml.replace('AC Teste', 'AC\rTeste'),
  }
  for (const [label, change] of Object.entries(changes)) {
    test(label, async () => {
      const { byGrammar, byTemplate } = both(change(await signed()))
      expect(byTemplate).toBeUndefined()
      expect(byGrammar.serial).toBe('42')
    })
  }

  test('markup and letters beyond ASCII in the issuer', async () => {
    for (const issuer of ['CN=A & B', 'CN=João']) {
      const { byGrammar, byTemplate } = both(await signed(issuer))
      expect(byTemplate).toBeUndefined()
      expect(byGrammar.issuer).toBe(issuer)
    }
  })
})

test('whatever is changed, what the template reads the grammar reads alike', async () => {
  const xml = await signed()
  const markup = fc.constantFrom(
    ...['<', '>', '&', '"', ' ', '\n', '\r', ':', '&#65;', '&#13;', 'ds:', '\u00e9', 'A', '0'],
    ...['xmlns:ds="urn:y"', ' Id="x"', '<!---->', '</ds:Signature>', '=', '0'.repeat(61)],
  )
  const from = xml.indexOf('<ds:Signature')
  const edit = fc.record({
    at: fc.integer({ min: from, max: xml.indexOf('</Sgntr>') }),
    remove: fc.nat({ max: 4 }),
    insert: fc.oneof(markup, fc.constant('')),
  })
  let read = 0
  fc.assert(
    fc.property(
      fc.constantFrom(xml, oneTag(xml)),
      fc.array(edit, { minLength: 1, maxLength: 2 }),
      (base, edits) => {
        const changed = edits.reduce(
          (text, { at, remove, insert }) => text.slice(0, at) + insert + text.slice(at + remove),
          base,
        )
        const outcome = outcomeOf(changed)
        if (outcome?.byTemplate === undefined) return
        read++
        expect(outcome.byGrammar).toEqual(outcome.byTemplate)
      },
    ),
    { numRuns: 8_000 },
  )
  expect(read).toBeGreaterThan(50)
}, 60_000)
