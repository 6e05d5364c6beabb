import { expect, test } from 'bun:test'
import { zstdCompressed, zstdDecompressed } from '#src/platform/runtime/index.ts'

test('bytes come back, and what was compressed once is not compressed again', () => {
  const bytes = Buffer.from('<a>text</a>'.repeat(100))
  const compressed = zstdCompressed(bytes)
  expect(compressed.length).toBeLessThan(bytes.length / 4)
  expect(zstdCompressed(bytes)).toBe(compressed)
  const back = zstdDecompressed(compressed)
  expect(Buffer.compare(back, bytes)).toBe(0)
  expect(zstdCompressed(back)).toBe(compressed)
  expect(() => zstdDecompressed(bytes)).toThrow()
})
