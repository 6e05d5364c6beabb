import { describe, expect, test } from 'bun:test'
import { createXmlScanner } from '#codecs/xml'
import { prepareKeyInfo, signEnvelope } from '#codecs/xmldsig'
import { locate, readSignature } from '../../../codecs/xmldsig/grammar.ts'
import { readTemplate } from '../../../codecs/xmldsig/template.ts'
import { envelopeOf, sha256 } from '../../support/envelope.ts'

const value = new Uint8Array(256).map((_, i) => i)

async function signed(issuer = 'CN=AC Teste, C=BR'): Promise<string> {
  const key = prepareKeyInfo(issuer, '0042', 'ki-1', sha256)
  const bytes = await signEnvelope(envelopeOf('<A>ã</A>'), key, sha256, async () => value)
  return new TextDecoder().decode(bytes)
}

function both(xml: string) {
  const document = createXmlScanner().scan(new TextEncoder().encode(xml))
  const { signature } = locate(document)
  return {
    byGrammar: readSignature(document, signature),
    byTemplate: readTemplate(document, signature),
  }
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
