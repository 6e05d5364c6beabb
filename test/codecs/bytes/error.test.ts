import { expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'

test('a CodecError carries code, offset and numbers', () => {
  const error = new CodecError('depth_exceeded', 12, 'nesting is deeper than 64', { depthMax: 64 })
  expect(error).toBeInstanceOf(Error)
  expect(error.message).toBe('nesting is deeper than 64')
  expect(error.code).toBe('depth_exceeded')
  expect(error.offset).toBe(12)
  expect(error.context).toEqual({ depthMax: 64 })
})
