import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { SendBuffer } from '#src/platform/runtime/index.ts'

const put = (buffer: SendBuffer, bytes: Uint8Array): boolean => {
  if (!buffer.reserve(bytes.length)) return false
  buffer.bytes.set(bytes, buffer.end)
  buffer.commit(buffer.end + bytes.length)
  return true
}

test('whatever the kernel takes, every byte goes out once and in order, and none stays behind', () => {
  const step = fc.record({
    add: fc.uint8Array({ minLength: 0, maxLength: 9_000, min: 1 }),
    takes: fc.array(fc.integer({ min: -1, max: 12_000 }), { maxLength: 4 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const buffer = new SendBuffer(40_000)
      const wanted: number[] = []
      const out: number[] = []
      for (const { add, takes } of steps) {
        const before = buffer.pendingBytes
        const isTaken = put(buffer, add)
        expect(isTaken).toBe(before + add.length <= 40_000)
        if (isTaken) wanted.push(...add)
        const left = [...takes]
        buffer.flush((bytes) => {
          const taken = Math.min(left.shift() ?? 0, bytes.length)
          if (taken > 0) out.push(...bytes.subarray(0, taken))
          return taken
        })
        expect(buffer.sent).toBe(out.length)
        expect(buffer.committed).toBe(wanted.length)
        expect(buffer.pendingBytes).toBe(wanted.length - out.length)
        const kept = buffer.bytes.filter((byte) => byte !== 0).length
        expect(kept).toBe(buffer.pendingBytes)
      }
      buffer.flush((bytes) => {
        out.push(...bytes)
        return bytes.length
      })
      expect(Buffer.compare(Buffer.from(out), Buffer.from(wanted))).toBe(0)
      expect(buffer.bytes.every((byte) => byte === 0)).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('it takes up to its limit and not one byte more', () => {
  const buffer = new SendBuffer(100)
  expect(put(buffer, new Uint8Array(100).fill(1))).toBe(true)
  expect(buffer.reserve(1)).toBe(false)
  buffer.flush(() => 1)
  expect(buffer.pendingBytes).toBe(0)
  expect(put(buffer, new Uint8Array(101))).toBe(false)
})

test('clear wipes and starts the stream anew', () => {
  const buffer = new SendBuffer(100)
  put(buffer, new Uint8Array(50).fill(7))
  buffer.clear()
  expect(buffer.bytes.every((byte) => byte === 0)).toBe(true)
  expect([buffer.pendingBytes, buffer.committed, buffer.sent]).toEqual([0, 0, 0])
})

test('what is offered counts as sent until the kernel has said what it took', () => {
  const buffer = new SendBuffer(100)
  put(buffer, new Uint8Array(50).fill(7))
  const seen: number[] = []
  buffer.flush(() => {
    seen.push(buffer.sent)
    return seen.length === 1 ? 20 : 0
  })
  expect(seen).toEqual([50, 50])
  expect(buffer.sent).toBe(20)
})

test('a stream that ends during a write leaves nothing in the next one', () => {
  const buffer = new SendBuffer(100)
  put(buffer, new Uint8Array(50).fill(7))
  buffer.flush(() => {
    buffer.clear()
    return 50
  })
  expect([buffer.pendingBytes, buffer.committed, buffer.sent]).toEqual([0, 0, 0])
  put(buffer, Uint8Array.of(1, 2, 3))
  const out: number[] = []
  buffer.flush((bytes) => {
    out.push(...bytes)
    return bytes.length
  })
  expect([out, buffer.sent]).toEqual([[1, 2, 3], 3])
})
