import { expect, test } from 'bun:test'
import { SchemaError } from '#codecs/iso20022'
import {
  entitiesMax,
  entityCharsMax,
  withoutDoctype,
} from '../../../../codecs/iso20022/schema/doctype.ts'
import { countProcessorMs } from '../../../support/processor-ms.ts'

const cut = (text: string): string =>
  new TextDecoder().decode(withoutDoctype('a.xsd', new TextEncoder().encode(text)))
const entities = (count: number, chars = 1): string =>
  Array.from({ length: count }, (_, i) => `<!ENTITY e${i} "${'x'.repeat(chars)}">`).join('')

test('a document without a declaration stays as it is', () => {
  const bytes = new TextEncoder().encode('<a>&lt;!DOCTYPE a></a>')
  expect(withoutDoctype('a.xsd', bytes)).toBe(bytes)
  expect(cut('<a><!-- <!DOCTYPE b> --></a>')).toBe('<a><!-- <!DOCTYPE b> --></a>')
})

test('lines stay, entities stand for their texts', () => {
  const doctype = `<!DOCTYPE a [\n<!ENTITY one "1]>">\n<!ENTITY two '2'>\n<!-- <!ENTITY three "3"> ' -->\n]>`
  expect(cut(`<?xml version="1.0"?>\n${doctype}\n<a b="&one;">&two;&three;</a>`)).toBe(
    `<?xml version="1.0"?>\n${doctype.replace(/[^\n]/g, ' ')}\n<a b="1]>">2&three;</a>`,
  )
})

test('lines of any end stay', () => {
  expect(cut('<!DOCTYPE a [\r\n\r]><a/>')).toBe('             \r\n\r  <a/>')
})

test('what has no end, too many entities, long ones and ones of ones are refused', () => {
  expect(cut(`<!DOCTYPE a [${entities(entitiesMax)}]><a/>`)).toEndWith('<a/>')
  expect(cut(`<!DOCTYPE a [${entities(1, entityCharsMax)}]><a/>`)).toEndWith('<a/>')
  for (const wrong of [
    '<!DOCTYPE a [ ]',
    '<!DOCTYPE a "',
    `<!DOCTYPE a [${entities(entitiesMax + 1)}]><a/>`,
    `<!DOCTYPE a [${entities(1, entityCharsMax + 1)}]><a/>`,
    '<!DOCTYPE a [<!ENTITY x "&y;">]><a/>',
    '<!DOCTYPE a [<!ENTITY x "<b/>">]><a/>',
  ]) {
    expect(() => cut(wrong)).toThrow(SchemaError)
  }
})

test('what stands before it is read once, whatever it looks like', () => {
  const comments = '<!-- --><!-- <!DOCTYPE b> -->'.repeat(3)
  expect(cut(`\ufeff${comments}<a/>`)).toEndWith('<a/>')
  expect(
    cut(`<?xml version="1.0"?> ${comments}<!DOCTYPE a [${entities(1)}]><a>&e0;</a>`),
  ).toEndWith(`${comments}${' '.repeat(13 + entities(1).length + 2)}<a>x</a>`)
  expect(cut(`${'<!-- -->'.repeat(2_000)}<!-- -- >`)).toEndWith('<!-- -- >')
  expect(() => cut(`<!DOCTYPE a [${'<!--'.repeat(20_000)}`)).toThrow(SchemaError)
})

test('openings of comments within its texts are none, however many', () => {
  const usedMs = countProcessorMs()
  expect(cut(`<!DOCTYPE a "${'<!--'.repeat(60_000)}"><a/>`)).toEndWith('<a/>')
  expect(usedMs()).toBeLessThan(2_000)
  const hidden = '<!ENTITY one "<!--"><!ENTITY two "2"><!-- -->'
  expect(() => cut(`<!DOCTYPE a [${hidden}]><a>&two;</a>`)).toThrow('entity one')
})
