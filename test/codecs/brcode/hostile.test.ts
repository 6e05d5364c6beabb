import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  buildCompositeBrCode,
  buildDynamicBrCode,
  buildStaticBrCode,
  explainBrCode,
  parseBrCode,
} from '#codecs/brcode'
import { CodecError } from '#codecs/bytes'
import { address, amount, asciiText, official, pixKey, sealed, txid } from './support.ts'

const merchant = { merchantName: asciiText(25), merchantCity: asciiText(15) }
const anyCode = fc.oneof(
  fc.record({ ...merchant, key: pixKey, txid, amount }).map(buildStaticBrCode),
  fc.record({ ...merchant, url: address }).map(buildDynamicBrCode),
  fc.record({ ...merchant, recurrenceUrl: address, key: pixKey }).map(buildCompositeBrCode),
)

/** True when the parser refuses, as it must, with a CodecError. */
const refuses = (payload: string | Uint8Array): boolean => {
  try {
    parseBrCode(payload)
    return false
  } catch (error) {
    if (error instanceof CodecError) return true
    throw error
  }
}

test('every change of one character of 50 codes is refused', () => {
  const codes = [...Object.values(official), ...fc.sample(anyCode, 45)]
  expect(codes).toHaveLength(50)
  let tried = 0
  const accepted: string[] = []
  for (const code of codes) {
    for (let at = 0; at < code.length; at++) {
      for (let unit = 0x20; unit < 0x7f; unit++) {
        if (unit === code.charCodeAt(at)) continue
        tried++
        const changed = code.slice(0, at) + String.fromCharCode(unit) + code.slice(at + 1)
        if (!refuses(changed)) accepted.push(changed)
      }
    }
  }
  expect(accepted).toEqual([])
  expect(tried).toBeGreaterThan(500_000)
}, 60_000)

describe('anything at all gives a value or a CodecError', () => {
  test('random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(refuses(bytes)).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  test('changed, cut, repeated and sealed again', () => {
    const edit = fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 8 }),
      insert: fc.string({ unit: 'binary', maxLength: 8 }),
    })
    fc.assert(
      fc.property(anyCode, fc.array(edit, { minLength: 1, maxLength: 4 }), (code, edits) => {
        let text = code.slice(0, -8)
        for (const { at, remove, insert } of edits) {
          const place = at % (text.length + 1)
          text = text.slice(0, place) + insert + text.slice(place + remove)
        }
        const payload = sealed(text)
        const bytes = new TextEncoder().encode(payload)
        const refused = refuses(bytes)
        if (payload.isWellFormed()) expect(refuses(payload)).toBe(refused)
        if (!refused) expect(explainBrCode(bytes).nodes.length).toBeGreaterThan(5)
      }),
      { numRuns: 5000 },
    )
  })

  test('deep and wide nesting', () => {
    let nested = '0001a'
    while (nested.length < 90) nested = `62${String(nested.length).padStart(2, '0')}${nested}`
    expect(refuses(sealed(`000201${nested}`))).toBe(true)
    const wide = Array.from({ length: 19 }, (_, i) => `${String(i).padStart(2, '0')}01a`).join('')
    expect(refuses(sealed(`000201${`26${wide.length}${wide}`.repeat(4)}`))).toBe(true)
  })
})
