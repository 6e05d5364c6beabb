import { expect, test } from 'bun:test'
import {
  findMetadata,
  knownVersions,
  messageTypes,
  messageVocabulary,
  ourCatalogue,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { generateMessage } from '../../support/generated-messages.ts'
import { endToEndId, pacs008, utf8 } from '../../support/messages.ts'
import { createRandom } from '../../support/mutations.ts'

test('metadata is found on the tape', () => {
  const document = createXmlScanner({ vocabulary: messageVocabulary }).scan(
    utf8(pacs008({ transactions: 2 })),
  )
  const found = findMetadata(document)
  const texts = (nodes: readonly number[]) => nodes.map((node) => document.textOf(node))
  expect(found.identity).toEqual({ type: 'pacs.008', version: '1.13' })
  expect(texts(found.headerIds)).toEqual(['12345678', '00038166'])
  expect(document.textOf(found.businessMessageId)).toBe('M12345678aB3dE5gH7jK9mN1pQ3sT5vW')
  expect(texts(found.endToEndIds)).toEqual([endToEndId(0), endToEndId(1)])
  expect(texts(found.amounts)).toEqual(['1000.50', '1001.50'])
  expect(texts(found.ispbs)).toEqual(['12345678', '87654321', '12345678', '87654321'])
})

test('amounts of which one consists are none of a transaction', () => {
  const strd =
    '<RmtInf><Strd><RfrdDocAmt><AdjstmntAmtAndRsn><Amt Ccy="BRL">1.00</Amt><Rsn>VLDN</Rsn></AdjstmntAmtAndRsn></RfrdDocAmt></Strd></RmtInf></CdtTrfTxInf>'
  const xml = pacs008({ transactions: 2 }).replaceAll('</CdtTrfTxInf>', strd)
  const document = createXmlScanner({ vocabulary: messageVocabulary }).scan(utf8(xml))
  const { amounts, endToEndIds } = findMetadata(document)
  expect(amounts.map((node) => document.textOf(node))).toEqual(['1000.50', '1001.50'])
  expect(endToEndIds.length).toBe(2)
})

test('metadata of every type is what a search of its text finds', () => {
  const scanner = createXmlScanner({ vocabulary: messageVocabulary })
  const found = { ids: 0, ispbs: 0, amounts: 0 }
  for (const type of messageTypes) {
    for (const version of knownVersions(type)) {
      const schema = ourCatalogue.schemaOf(type, version)
      if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
      const random = createRandom(type.length * 37 + version.charCodeAt(2))
      for (let i = 0; i < 10; i++) {
        const xml = generateMessage(schema, random)
        const document = scanner.scan(utf8(xml))
        const metadata = findMetadata(document)
        const texts = (nodes: readonly number[]) => nodes.map((node) => document.textOf(node))
        const matches = (pattern: RegExp, text = xml) =>
          [...text.matchAll(pattern)].map(([, value = '']) => value)
        const whole = xml.replace(/<(AdjstmntAmtAndRsn|Adjstmnt)>.*?<\/\1>/g, '')
        expect(metadata.identity).toEqual({ type, version })
        expect(texts([metadata.businessMessageId])).toEqual(matches(/<BizMsgIdr>([^<]*)</g))
        expect(texts(metadata.headerIds)).toEqual(
          matches(/<Othr><Id>([^<]*)</g, xml.slice(0, xml.indexOf('<BizMsgIdr>'))),
        )
        expect(texts(metadata.endToEndIds)).toEqual(matches(/<(?:Orgnl)?EndToEndId>([^<]*)</g))
        expect(texts(metadata.ispbs)).toEqual(matches(/<MmbId>([^<]+)</g))
        expect(texts(metadata.amounts)).toEqual(
          matches(/<(?:IntrBkSttlm|RtrdIntrBkSttlm|Instd)?Amt Ccy="[^"]*">([^<]*)</g, whole),
        )
        found.ids += metadata.endToEndIds.length
        found.ispbs += metadata.ispbs.length
        found.amounts += metadata.amounts.length
      }
    }
  }
  for (const count of Object.values(found)) expect(count).toBeGreaterThan(100)
})
