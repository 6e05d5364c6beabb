import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ApiError } from '#src/platform/http/index.ts'
import { decodeResult, readAbi } from '../../../src/drex/contracts/abi.ts'

const abiOf = (type: string, more: object = {}) =>
  readAbi([
    {
      type: 'function',
      name: 'f',
      inputs: [],
      outputs: [{ type, ...more }],
      stateMutability: 'view',
    },
  ])

const refusalOf = async (type: string, data: string, more?: object): Promise<unknown> => {
  const abi = await abiOf(type, more)
  try {
    return decodeResult(abi, 'f()', data)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return [error.definition.code, error.definition.status, error.details]
  }
}

const word = (value: number): string => value.toString(16).padStart(64, '0')

test('what does not fit the ABI is told as it came, cut where it is long', async () => {
  const unreadable = (data: string, bytes: number) => ['answer_unreadable', 422, { data, bytes }]
  expect(await refusalOf('uint256', '0x')).toEqual(unreadable('0x', 0))
  const count = `0x${word(32)}${word(2 ** 20)}`
  expect(await refusalOf('uint256[]', count)).toEqual(unreadable(count, 64))
  const text = `0x${word(32)}${word(4)}${'610062ff'.padEnd(64, '0')}`
  expect(await refusalOf('string', text)).toEqual(unreadable(text, 96))
  const nested = `0x${word(32)}${word(1)}${word(32)}${text.slice(2 + 64)}`
  expect(await refusalOf('string[]', nested)).toEqual(unreadable(nested, 160))
  const within = `0x${word(32)}${word(32)}${text.slice(2 + 64)}`
  const components = [{ name: 'a', type: 'string' }]
  expect(await refusalOf('tuple', within, { components })).toEqual(unreadable(within, 128))
  const long = `0x${'ff'.repeat(100_000)}`
  expect(await refusalOf('string', long)).toEqual(unreadable(long.slice(0, 2 + 2 * 1_024), 100_000))
})

test('whatever a contract answers, it is read or told as it came', async () => {
  const types = ['string', 'bytes', 'bool', 'int8', 'address', 'string[]', 'uint8[2][]', 'bytes4']
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...types),
      fc.array(fc.oneof(fc.constantFrom(0, 1, 32, 64, 96), fc.nat()), { maxLength: 6 }),
      async (type, words) => {
        expect(await refusalOf(type, `0x${words.map(word).join('')}`)).toBeDefined()
      },
    ),
    { numRuns: 500 },
  )
})
