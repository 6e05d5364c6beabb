import { expect, test } from 'bun:test'
import { dialects, parseDialect } from '#codecs/iso8583'
import { contentForm, createContent } from '../../../src/cards/content/index.ts'
import { sampleFacts } from '../../../src/cards/content/samples.ts'
import { hexOf } from './support.ts'

const contentOf = (json: unknown, dialect = dialects['ascii']!) =>
  createContent(dialect, contentForm.parse(json))

const facts = (kept: Readonly<Record<string, string>>) => ({
  ...sampleFacts(new Map(), 'capture')[0]!,
  details: { kept },
})

test('an amount with its sign is kept, and sent to a field of such amounts', () => {
  for (const name of ['ascii', 'bcd', 'ebcdic']) {
    const dialect = dialects[name]!
    const content = contentOf(
      {
        keep: { fee: { field: 28 } },
        messages: { capture: { fields: { 28: { from: 'kept.fee' } } } },
      },
      dialect,
    )
    const kept = content.keeper?.keep(() => Buffer.from('D00000100'))
    expect(kept).toEqual({ values: { fee: 'D00000100' }, unread: [] })
    const sent = content.build('capture', facts({ ...kept?.values }))
    expect(String(sent.more?.get(28))).toBe('D00000100')
    expect(hexOf(dialect, sent)).toMatch(/^[0-9a-f]+$/)
  }
  const constant = contentOf({ messages: { capture: { fields: { 28: 'C00000250' } } } })
  expect(String(constant.build('capture', facts({})).more?.get(28))).toBe('C00000250')
})

const of44 = { type: 'b', max: 25, prefixDigits: 2, encoding: 'binary' }
const bytesOf44 = parseDialect({ name: 'test', extends: 'ascii', fields: { 44: of44 } }, dialects)

test.each([
  { shape: 'tlv', id_digits: 2, length_digits: 2 },
  { shape: 'ltv', id_digits: 2, length_digits: 2 },
  { shape: 'ltv', id_digits: 2, length_digits: 3, length_encoding: 'bcd' },
])('packed digits without a length have two for each byte of their field: %j', (shape) => {
  const entry = { id: '01', encoding: 'bcd', from: 'kept.trace' }
  const content = contentOf(
    {
      composites: { 44: { ...shape, entries: [entry] } },
      keep: { trace: { field: 44, path: ['01'] } },
      messages: { capture: { fields: { 44: 'composite' } } },
    },
    bytesOf44,
  )
  for (const digits of ['12345678901234567890123456', '12'.repeat(21)]) {
    const sent = content.build('capture', facts({ trace: digits })).more?.get(44)
    expect(sent).toBeInstanceOf(Uint8Array)
    expect(content.keeper?.keep(() => sent as Uint8Array)).toEqual({ values: { trace: digits }, unread: [] })
  }
})
