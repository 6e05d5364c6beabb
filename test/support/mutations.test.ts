import { expect, test } from 'bun:test'
import { createXmlScanner } from '#codecs/xml'
import { createRandom, mutate } from './mutations.ts'

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

test('nothing is picked from an empty list, and that is told', () => {
  expect(() => createRandom(1).pick([])).toThrow(RangeError)
})

test('a document with no element, or no value, to change comes back well-formed', () => {
  const scanner = createXmlScanner()
  for (const text of ['<a/>', '<a>text</a>', '<a><b/></a>', '<a><b><c/></b><d/></a>']) {
    for (let seed = 0; seed < 200; seed++) {
      const changed = mutate(scanner.scan(utf8(text)), createRandom(seed * 7919))
      expect(scanner.scan(utf8(changed)).root).toBeGreaterThanOrEqual(0)
    }
  }
})
