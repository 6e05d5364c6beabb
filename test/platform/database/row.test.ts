import { expect, test } from 'bun:test'
import { optionalBigint, optionalNumber, valueOfRow } from '#src/platform/database/index.ts'

test('a row is a value with our names, and undefined for null', () => {
  const at = new Date(0)
  const row = {
    id: 'a',
    created_at: at,
    mined_block_hash: null,
    terms: { block_hash: null },
    n: 1n,
  }
  const value = valueOfRow<Record<string, unknown>>(row)
  expect(value).toStrictEqual({
    id: 'a',
    createdAt: at,
    minedBlockHash: undefined,
    n: 1n,
    // What a column of JSON holds stays as it is.
    terms: { block_hash: null },
  })
  expect('minedBlockHash' in value).toBe(true)
})

test('numbers of a row may be absent', () => {
  expect([optionalNumber(7n), optionalNumber('8'), optionalNumber(undefined)]).toEqual([
    7,
    8,
    undefined,
  ])
  const large = '123456789012345678901234567890'
  expect([optionalBigint(large), optionalBigint(undefined)]).toEqual([BigInt(large), undefined])
})
