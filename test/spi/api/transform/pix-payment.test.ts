import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  createProjector,
  identifyMessage,
  messageVocabulary,
  type Pacs008,
  readMessage,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { createTransformer } from '#src/spi/api/transform/service.ts'
import { pacs008, utf8 } from '../../../support/messages.ts'
import { createRandom, mutate } from '../../../support/mutations.ts'

const transform = createTransformer()

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const project = createProjector(nativeText)

const wholeReading = (message: Uint8Array) => {
  const document = scanner.scan(message)
  const identity = identifyMessage(document)
  if (identity?.type !== 'pacs.008') throw new Error('no pacs.008')
  return readMessage(document, { type: 'pacs.008', version: identity.version })
}

const mask = (document: string): string => document.replace(/.(?=.{4})/gsu, '*')

/** The result as the specification describes it, made the slow way. */
const expectedResult = ({ transactions }: Pacs008): object => {
  const all = transactions.map(({ endToEndId, amount, debtor, creditor }) => ({
    end_to_end_id: endToEndId,
    amount: Number(amount.cents) / 100,
    currency: amount.currency,
    debtor: { name: debtor.name, document: mask(debtor.document) },
    creditor: { name: creditor.name, document: mask(creditor.document) },
  }))
  const result = { ...all[0], transaction_count: all.length }
  return all.length === 1 ? result : { ...result, transactions: all }
}

const resultOf = (message: Uint8Array): string => {
  const outcome = transform({
    sourceFormat: 'pacs.008',
    targetFormat: 'pix_payment',
    message,
    options: { validate: false, enrich: false },
  })
  if (!outcome.ok) throw new Error(outcome.failure.kind)
  return outcome.result
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A text in the ways that XML has of writing it. */
const written = fc
  .tuple(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.constantFrom('text', 'cdata', 'numeric'),
  )
  // What XML cannot hold at all, and the line ends it changes.
  .map(([text, form]) => ({
    text: text.replace(/[^\t\n -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ''),
    form,
  }))
  .map(({ text, form }) => {
    if (form === 'cdata') return `<![CDATA[${text.replaceAll(']]>', '')}]]>`
    if (form === 'numeric') return [...text].map((one) => `&#${one.codePointAt(0)};`).join('')
    return text.replace(/[&<>]/g, (one) => escapes[one] ?? one)
  })

describe('pix_payment', () => {
  test('holds every text as it is, however it is written', () => {
    fc.assert(
      fc.property(
        written,
        written,
        written,
        fc.integer({ min: 1, max: 3 }),
        (name, document, id, count) => {
          const message = utf8(
            pacs008({ transactions: count, signature: '' })
              .replaceAll('Conceição &amp; Irmãos', () => name)
              .replaceAll('98765432100', () => document)
              .replaceAll('<EndToEndId>', () => `<EndToEndId>${id}`),
          )
          const reading = wholeReading(message)
          if (!reading.ok || reading.message.type !== 'pacs.008') throw new Error('not read')
          expect(JSON.parse(resultOf(message))).toEqual(expectedResult(reading.message))
        },
      ),
      { numRuns: 500 },
    )
  })

  test.each([
    ['1000.50', '1000.50'],
    ['0.01', '0.01'],
    ['0', '0.00'],
    ['007.5', '7.50'],
    ['99999999999999.99', '99999999999999.99'],
    ['9007199254740991.99', '9007199254740991.99'],
  ])('writes the amount %s as %s', (amount, shown) => {
    const message = pacs008().replace('>1000.50<', `>${amount}<`)
    expect(resultOf(utf8(message))).toContain(`"amount":${shown},`)
  })

  test('is whole also where it is far larger than what came before', () => {
    const name = 'é'.repeat(100_000)
    const message = pacs008().replace('Conceição &amp; Irmãos', name)
    expect(JSON.parse(resultOf(utf8(message))).debtor.name).toBe(name)
    expect(JSON.parse(resultOf(utf8(pacs008()))).debtor.name).toBe('Conceição & Irmãos')
  })

  test('finds what the whole reading finds, and refuses what that refuses, in the same words', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.integer({ min: 1, max: 3 }), (seed, edits) => {
        const random = createRandom(seed)
        let xml = pacs008({ transactions: 2, signature: '' })
        for (let edit = 0; edit < edits; edit++) xml = mutate(scanner.scan(utf8(xml)), random)
        const document = scanner.scan(utf8(xml))
        const identity = identifyMessage(document)
        if (identity?.type !== 'pacs.008') return
        const whole = readMessage(document, { type: 'pacs.008', version: identity.version })
        for (const enrich of [false, true]) {
          const view = project(document, { type: 'pacs.008', version: identity.version }, enrich)
          expect(view.ok).toBe(whole.ok)
          if (!view.ok && !whole.ok) expect(view.problems).toEqual(whole.problems)
          if (!view.ok || !whole.ok) continue
          expect(JSON.parse(view.result)).toMatchObject(expectedResult(whole.message))
        }
      }),
      { numRuns: 1000 },
    )
  })
})
