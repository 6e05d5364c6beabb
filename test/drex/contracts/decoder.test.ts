import { expect, test } from 'bun:test'
import { AbiCoder, Interface, type Result } from 'ethers'
import fc from 'fast-check'
import type { ApiError } from '#src/platform/http/index.ts'
import {
  decodeEvent,
  decodeResult,
  explainRevert,
  readAbi,
} from '../../../src/drex/contracts/abi.ts'
import { decodeCall } from '../../../src/drex/contracts/decoding.ts'
import type { Hex } from '../../../src/drex/evm/hex.ts'
import { countProcessorMs } from '../../support/processor-ms.ts'

const word = (value: number): string => value.toString(16).padStart(64, '0')

const abiWith = (type: string) =>
  readAbi([
    `function f(${type} x) view returns (${type} x)`,
    `event E(${type} x)`,
    `error R(${type} x)`,
  ])

/** `bytes[]` of so many offsets that share one content of so many words. */
const shared = (count: number, words: number): string =>
  word(32) +
  word(count) +
  word(count * 32).repeat(count) +
  word(words * 32) +
  'ab'.repeat(words * 32)

const everywhere = async (type: string, data: string) => {
  const abi = await abiWith(type)
  const usedMs = countProcessorMs()
  const result = (() => {
    try {
      return decodeResult(abi, `f(${type})`, `0x${data}`)
    } catch (error) {
      return (error as ApiError).message
    }
  })()
  const selector = abi.getFunction('f')!.selector
  const topics = [abi.getEvent('E')!.topicHash as Hex]
  const event = decodeEvent(abi, `E(${type})`, { topics, data: `0x${data}` })
  const call = decodeCall([abi], `${selector as Hex}${data}`)
  const revert = await explainRevert(`${abi.getError('R')!.selector}${data}`, [abi])
  return { result, event, call, revert: revert?.name, usedMs: usedMs() }
}

test('a content that several offsets share is read as long as no more is read than twice what there is', async () => {
  const fits = await everywhere('bytes[]', shared(4, 3))
  expect(fits).toMatchObject({ event: { x: { length: 4 } }, call: { args: {} }, revert: 'R' })
  expect(fits.result).toHaveLength(4)
  // The list, and one and two words each: 3 n + 1 of 2 (n + 6).
  expect((await everywhere('bytes[]', shared(11, 2))).result).toHaveLength(11)
  expect(await everywhere('bytes[]', shared(12, 2))).toMatchObject({
    result: 'The contract’s answer is not what its ABI says.',
    event: undefined,
    call: undefined,
    revert: 'unknown',
  })
})

test.each([
  ['bytes[]', shared(1_600, 1_600)],
  ['bytes[][]', word(32) + word(200) + word(200 * 32).repeat(200) + shared(200, 100).slice(64)],
  ['uint256[]', word(32) + word(2 ** 40) + word(0)],
  ['uint8[0][]', word(32) + word(90) + word(0)],
  ['uint8[0][1000000000]', word(0)],
])('a contract that answers %s in a way that swells holds up nobody', async (type, data) => {
  const { result, event, call, revert, usedMs } = await everywhere(type, data)
  expect({ event, call, revert }).toEqual({ event: undefined, call: undefined, revert: 'unknown' })
  expect(result).toBe('The contract’s answer is not what its ABI says.')
  expect(usedMs).toBeLessThan(1_000)
})

test('as many bytes of an answer are read as the limit says, and not one word more', async () => {
  const bytesOf = (words: number) =>
    word(32) + word((words - 2) * 32) + 'ab'.repeat((words - 2) * 32)
  const within = await everywhere('bytes', bytesOf(4_096))
  expect(within.result).toHaveLength(2 + 2 * 4_094 * 32)
  expect(within.event).toBeDefined()
  const past = await everywhere('bytes', bytesOf(4_097))
  expect(past.result).toBe('The contract’s answer has more than 131072 bytes.')
  // Whoever reads events and calls has limits of his own, or needs them whole.
  expect(past.event?.['x']).toHaveLength(2 + 2 * 4_095 * 32)
  const text = (words: number) =>
    `0x08c379a0${word(32)}${word(words * 32)}${'61'.repeat(words * 32)}`
  expect((await explainRevert(text(509)))?.name).toBe('Error')
  expect((await explainRevert(text(510)))?.name).toBe('unknown')
})

const leaves = [
  'uint256',
  'int8',
  'uint64',
  'int256',
  'bool',
  'address',
  'bytes',
  'string',
  'bytes4',
  'bytes32',
]
const types = fc.letrec<{ type: string }>((tie) => ({
  type: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...leaves),
    tie('type').map((each) => `${each}[]`),
    fc.tuple(tie('type'), fc.integer({ min: 1, max: 3 })).map(([each, n]) => `${each}[${n}]`),
    fc.array(tie('type'), { minLength: 1, maxLength: 3 }).map((all) => `tuple(${all.join(',')})`),
  ),
})).type

const plain = (value: unknown): unknown =>
  Array.isArray(value) ? [...(value as unknown as Result).toArray()].map(plain) : value

const theirs = (all: readonly string[], data: string): unknown => {
  try {
    return plain(AbiCoder.defaultAbiCoder().decode(all, data))
  } catch {
    return 'refused'
  }
}

const ours = async (all: readonly string[], data: string): Promise<unknown> => {
  const abi = await readAbi([`function f() view returns (${all.join(',')})`])
  try {
    return abi.decodeFunctionResult('f', data).toArray()
  } catch {
    return 'refused'
  }
}

test('whatever the words, values are those that ethers reads of them', async () => {
  const words = fc.array(
    fc.oneof(
      fc.constantFrom(0, 1, 2, 32, 64, 96, 128).map(word),
      fc
        .uint8Array({ minLength: 32, maxLength: 32 })
        .map((each) => Buffer.from(each).toString('hex')),
    ),
    { maxLength: 24 },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(types, { minLength: 1, maxLength: 3 }), words, async (all, told) => {
      const data = `0x${told.join('')}`
      const expected = theirs(all, data)
      const got = await ours(all, data)
      // What swells is refused, though they would read it.
      if (got !== 'refused') expect(got).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})

const someOf = (type: string): fc.Arbitrary<unknown> => {
  const array = /^(.*)\[(\d*)\]$/.exec(type)
  if (array !== null) {
    const count = array[2] === '' ? undefined : Number(array[2])
    return fc.array(someOf(array[1]!), { minLength: count ?? 0, maxLength: count ?? 4 })
  }
  if (type.startsWith('tuple(')) return fc.tuple(...membersOf(type).map(someOf))
  const bytes = (min: number, max: number) =>
    fc
      .uint8Array({ minLength: min, maxLength: max })
      .map((each) => `0x${Buffer.from(each).toString('hex')}`)
  if (type === 'address') return bytes(20, 20)
  if (type === 'bool') return fc.boolean()
  if (type === 'string') return fc.string({ unit: 'grapheme' })
  if (type.startsWith('bytes')) return bytes(Number(type.slice(5)), Number(type.slice(5) || 70))
  const bits = Number(type.replace(/\D/g, ''))
  const size = 2n ** BigInt(bits)
  return type.startsWith('u') ? fc.bigInt(0n, size - 1n) : fc.bigInt(-size / 2n, size / 2n - 1n)
}

const membersOf = (type: string): readonly string[] =>
  Interface.from([`function f(${type} x)`])
    .getFunction('f')!
    .inputs[0]!.components!.map((each) => each.format('sighash').replace(/(^|[(,])\(/g, '$1tuple('))

test('what an honest encoder writes is read whole', async () => {
  const cases = fc
    .array(types, { minLength: 1, maxLength: 3 })
    .chain((all) => fc.tuple(fc.constant(all), fc.tuple(...all.map(someOf))))
  await fc.assert(
    fc.asyncProperty(cases, async ([all, values]) => {
      const data = AbiCoder.defaultAbiCoder().encode(all, values)
      expect(await ours(all, data)).toEqual(theirs(all, data) as unknown[])
    }),
    { numRuns: 200 },
  )
})
