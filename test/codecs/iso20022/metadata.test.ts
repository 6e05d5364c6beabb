import { expect, test } from 'bun:test'
import { findMetadata, messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { endToEndId, pacs008, utf8 } from '../../support/messages.ts'

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
