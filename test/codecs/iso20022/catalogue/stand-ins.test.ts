/** Schemas that stand for versions which have none: any number of them may be named. */
import { expect, test } from 'bun:test'
import { createMessageScanner, nearestSchema, ourCatalogue } from '#codecs/iso20022'
import { nativeText } from '#src/platform/runtime/index.ts'
import { pacs008, shapedSignature, utf8 } from '../../../support/messages.ts'

const signature = shapedSignature.replaceAll('q=', 'A=')
const kept = 64

const standInOf = (version: string) => {
  const found = nearestSchema(ourCatalogue, 'pacs.008', version)
  if (found === undefined) throw new Error('no schema')
  return found.schema
}

test('the one that was asked for is kept while fewer than 64 others are', () => {
  const [first, second] = [standInOf('3.1'), standInOf('3.2')]
  const others = Array.from({ length: kept - 1 }, (_, i) => {
    const made = standInOf(`4.${i}`)
    expect(standInOf('3.1') === first).toBe(true)
    return made
  })
  others.forEach((made, i) => {
    expect(standInOf(`4.${i}`) === made).toBe(true)
  })
  expect(standInOf('3.1') === first).toBe(true)
  expect(standInOf('3.2') === second).toBe(false)
})

test('what was learned with one that is given up is given up too', async () => {
  const scanner = createMessageScanner(nativeText)
  const made: WeakRef<object>[] = []
  let recurred = 0
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < kept + 2; i++) {
      const version = `5.${i}`
      const document = scanner.scan(utf8(pacs008({ version, signature })))
      if (document.shape !== undefined) recurred++
      const schema = standInOf(version)
      expect(scanner.validate(schema, document).valid).toBe(true)
      made.push(new WeakRef(schema))
    }
  }
  expect(recurred).toBeGreaterThan(kept)
  // What was referred to in this turn of the event loop stays until its end.
  await Bun.sleep(0)
  Bun.gc(true)
  const alive = new Set(made.map((one) => one.deref()).filter((one) => one !== undefined))
  expect(alive.size).toBeLessThan(2 * kept)
})
