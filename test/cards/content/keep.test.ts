import { expect, test } from 'bun:test'
import { dialects } from '#codecs/iso8583'
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
