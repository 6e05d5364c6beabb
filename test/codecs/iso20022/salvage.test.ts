/** What is left of a message of which some transactions cannot be read. */
import { describe, expect, test } from 'bun:test'
import {
  findMetadata,
  identifyMessage,
  messageVocabulary,
  ourCatalogue,
  readMessage,
  readProblemsMax,
  salvageMessage,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { viewMessage } from '#src/spi/messages/view.ts'
import { paymentsIn } from '../../../src/spi/in/worker/received.ts'
import { factsOf } from '../../../src/spi/recurring/facts.ts'
import { reportedBy } from '../../../src/spi/reports/reported.ts'
import { generateMessage } from '../../support/generated-messages.ts'
import { endToEndId, pacs008, utf8 } from '../../support/messages.ts'
import { createRandom } from '../../support/mutations.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const scanned = (xml: string) => scanner.scan(utf8(xml))

const salvaged = (xml: string): readonly string[] | undefined => {
  const document = scanned(xml)
  const identity = identifyMessage(document)
  if (identity?.type !== 'pacs.008') throw new Error('no pacs.008')
  const reading = salvageMessage(document, { ...identity, type: 'pacs.008' })
  return reading.ok ? reading.message.transactions.map((one) => one.endToEndId) : undefined
}

/** A pacs.008 with each transaction changed. */
const changed = (count: number, change: (transaction: string, index: number) => string): string => {
  let index = 0
  return pacs008({ transactions: count }).replace(/<CdtTrfTxInf>.*?<\/CdtTrfTxInf>/g, (one) =>
    change(one, index++),
  )
}

const idsOf = (...indexes: readonly number[]) => indexes.map(endToEndId)

/** Items of messages that are read into rows, with where that stands which these are looked for by. */
const itemsRead = (
  [
    ['camt.054', '1.15', 'Ntfctn', reportedBy, ['<Id>', '<InstrId>D', '<BookgDt><Dt>']],
    ['pain.013', '2.2', 'PmtInf', factsOf, ['<EndToEndId>', '<MndtId>']],
  ] as const
).map(([type, version, name, readBy, places]) => {
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error('no schema')
  const message = generateMessage(schema, createRandom(7))
  const [made = ''] = new RegExp(`<${name}>.*?</${name}>`).exec(message) ?? []
  const item = made.replace('<ValDt>', '<BookgDt><Dt>2026-03-02</Dt></BookgDt><ValDt>')
  /** A message with these items. */
  const read = (items: string): readonly unknown[] => {
    const whole = message.replace(new RegExp(`<${name}>.*</${name}>`), () => items)
    return readBy(scanned(whole), { type, version })
  }
  return { item, places, read }
})

describe('a transaction that cannot be read takes no other with it', () => {
  test.each([
    ['an amount that is none', '.50</IntrBkSttlmAmt>', '.505</IntrBkSttlmAmt>'],
    ['an element that is missing', '<ChrgBr>SLEV</ChrgBr>', ''],
    ['an element that is there twice', '<Purp>', '<Purp><Cd>IPAY</Cd></Purp><Purp>'],
    [
      'a part that cannot be read',
      '</Ustrd>',
      '</Ustrd><Strd><RfrdDocInf><Tp><CdOrPrtry><Prtry>AGTEC</Prtry></CdOrPrtry><Issr>01234567</Issr></Tp></RfrdDocInf><RfrdDocAmt><AdjstmntAmtAndRsn><Amt Ccy="BRL">1,00</Amt><Rsn>VLDN</Rsn></AdjstmntAmtAndRsn></RfrdDocAmt></Strd>',
    ],
  ])('%s', (_, from, to) => {
    const xml = changed(3, (one, index) => (index === 1 ? one.replace(from, to) : one))
    expect(salvaged(xml)).toEqual(idsOf(0, 2))
    const document = scanned(xml)
    expect(readMessage(document, { type: 'pacs.008', version: '1.13' }).ok).toBe(false)
    const payments = paymentsIn(document, { type: 'pacs.008', version: '1.13' })
    expect(payments.map((one) => one.endToEndId)).toEqual(idsOf(0, 2))
  })

  test('more problems than are listed', () => {
    const count = readProblemsMax + 20
    const xml = changed(count, (one, index) =>
      index === 3 || index === count - 1 ? one : one.replace('<ChrgBr>SLEV</ChrgBr>', ''),
    )
    expect(salvaged(xml)).toEqual(idsOf(3, count - 1))
  })

  test('what is wrong with the message itself is wrong with all', () => {
    expect(salvaged(pacs008().replace(/<NbOfTxs>.*?<\/NbOfTxs>/, ''))).toBeUndefined()
    expect(salvaged(changed(3, () => ''))).toBeUndefined()
  })

  test('entries and charges', () => {
    for (const { item, read } of itemsRead) {
      const bad = item.replace(/( Ccy="BRL">)[0-9.]+/, '$11,00')
      expect(bad).not.toBe(item)
      expect(read(item + bad + item)).toHaveLength(2)
    }
  })

  test('entries and charges with an id that fits no index', () => {
    for (const { item, read, places } of itemsRead) {
      expect(read(item)).toHaveLength(1)
      for (const place of places) {
        const bad = item.replace(place, place + 'x'.repeat(64))
        expect(bad).not.toBe(item)
        expect(read(item + bad + item)).toHaveLength(2)
      }
    }
  })
})

test('what another namespace holds is no transaction, and nothing of one', () => {
  const foreign = (one: string) => one.replace('<CdtTrfTxInf>', '<CdtTrfTxInf xmlns="urn:other">')
  const xml = changed(3, (one, index) =>
    index === 1
      ? foreign(one)
      : one.replace('<EndToEndId>', '<EndToEndId xmlns="urn:other">E0</EndToEndId><EndToEndId>'),
  )
  expect(salvaged(xml)).toEqual(idsOf(0, 2))
  const document = scanned(xml)
  const reading = readMessage(document, { type: 'pacs.008', version: '1.13' })
  expect(reading.ok && reading.message.transactions).toHaveLength(2)
  const ids = viewMessage(document)?.transactions.map((one) => one.endToEndId)
  expect(ids).toEqual(idsOf(0, 2))
  const { endToEndIds, amounts, ispbs } = findMetadata(document)
  expect(endToEndIds.map((node) => document.textOf(node))).toEqual(idsOf(0, 2))
  expect([amounts.length, ispbs.length]).toEqual([2, 4])
})
