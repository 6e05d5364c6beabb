import { expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import { createXmlScanner, explainXmlError, lineColumnAt, linesAt, xmlLimits } from '#codecs/xml'
import { explainedBytesMax } from '../../../codecs/xml/explain.ts'
import { utf8 } from '../../support/messages.ts'

const scanner = createXmlScanner()

const explain = (bytes: Uint8Array) => {
  try {
    scanner.scan(bytes)
  } catch (error) {
    if (error instanceof CodecError) return explainXmlError(bytes, error)
    throw error
  }
  throw new Error('is accepted')
}

test('the place is the scanner’s, the reason in the words of the second parser', () => {
  expect(explain(utf8('<a>\n<b></a>'))).toEqual({
    code: 'tag_mismatch',
    line: 2,
    column: 4,
    reason: 'unexpected close tag',
  })
})

test('lines end with LF, CR LF or CR, and columns are characters', () => {
  const text = '<a>\n<b>\r\n<c>\r<d>\r\r\n\n😀é<e>'
  const bytes = utf8(text)
  const placeOf = (mark: string) =>
    lineColumnAt(bytes, utf8(text.slice(0, text.indexOf(mark))).length)
  expect(['<a>', '<b>', '<c>', '<d>', '<e>'].map(placeOf)).toEqual([
    { line: 1, column: 1 },
    { line: 2, column: 1 },
    { line: 3, column: 1 },
    { line: 4, column: 1 },
    { line: 7, column: 3 },
  ])
  const offsets = Array.from(bytes, (_, at) => at)
  expect([...linesAt(bytes, offsets.toReversed())]).toEqual(
    offsets.map((at) => [at, lineColumnAt(bytes, at).line]),
  )
})

const deep = '<a>'.repeat(xmlLimits.depthMax + 1)
const wide = Array.from({ length: xmlLimits.attributesMax + 1 }, (_, i) => ` a${i}=""`).join('')

test.each([
  ['doctype_forbidden', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', 'document type declarations'],
  ['processing_instruction_forbidden', '<a><?b c?></a>', 'processing instructions'],
  ['depth_exceeded', deep, 'elements nest deeper'],
  ['attributes_exceeded', `<a${wide}><b></a>`, 'more attributes'],
  ['name_too_long', `<${'a'.repeat(xmlLimits.nameBytesMax + 1)}>`, 'a name is over'],
  ['text_too_long', `<a>${'x'.repeat(xmlLimits.textBytesMax + 1)}</b>`, 'a run of text'],
  ['elements_exceeded', `<a>${'<b/>'.repeat(xmlLimits.elementsMax)}`, 'more elements'],
  ['document_too_large', ' '.repeat(xmlLimits.documentBytesMax + 1), 'limit of bytes'],
  ['encoding_unsupported', '<?xml version="1.0" encoding="UTF-16"?><a>', 'as UTF-8'],
])('%s, which is ours alone, is told as what it is', (code, xml, reason) => {
  const explanation = explain(utf8(xml))
  expect(explanation.code).toBe(code)
  expect(explanation.reason).toContain(reason)
})

test('so are bytes that are no UTF-8', () => {
  expect(explain(new Uint8Array([0x3c, 0x61, 0x3e, 0xff]))).toMatchObject({
    code: 'utf8_invalid',
    reason: expect.stringContaining('not valid UTF-8'),
  })
})

test('the second parser reads no more than the beginning of a document', () => {
  const filler = (bytes: number) => `<a>${' '.repeat(bytes - 3)}`
  const behind = (bytes: number) => explain(utf8(`${filler(bytes)}<b></a>`)).reason
  expect(behind(explainedBytesMax - 64)).toBe('unexpected close tag')
  expect(behind(explainedBytesMax + 64)).toContain('end tag does not match')
})
