import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  ArgumentError,
  decodeEvent,
  decodeResult,
  encodeCall,
  encodeEventFilter,
  readAbi,
} from '../../../src/drex/contracts/abi.ts'
import { decodeCall } from '../../../src/drex/contracts/decoding.ts'
import type { Hex } from '../../../src/drex/evm/hex.ts'

/** What a contract may call its arguments, and callers may make of it. */
const nameOf = fc.constantFrom(
  '',
  'a',
  '_a',
  'a_',
  '__a',
  '_',
  '__',
  '_0',
  '_1',
  '_value',
  'amount',
)
const namesOf = fc.array(nameOf, { minLength: 1, maxLength: 6 })

const uints = (names: readonly string[]) => names.map((name) => ({ name, type: 'uint256' }))

/** One function that takes and returns what is so named, and one event. */
const interfaceOf = (names: readonly string[]) => {
  const list = uints(names)
  return readAbi([
    { type: 'function', name: 'f', inputs: list, outputs: list, stateMutability: 'view' },
    {
      type: 'function',
      name: 'g',
      inputs: [{ name: 't', type: 'tuple', components: list }],
      outputs: [],
      stateMutability: 'view',
    },
    { type: 'event', name: 'E', inputs: list.map((each, i) => ({ ...each, indexed: i < 3 })) },
  ])
}

const refusalsOf = (work: () => unknown): readonly string[] => {
  try {
    work()
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error
    return error.violations.map(({ pointer, message }) => `${pointer} ${message}`)
  }
  return []
}

describe('arguments whose names differ only by underscores', () => {
  test('each is given by its own name, and none stands for another', async () => {
    const abi = await interfaceOf(['m', 'amount', '_amount'])
    expect(refusalsOf(() => encodeCall(abi, 'f', { m: 1, amount: 500 }))).toEqual([
      '/params/_amount is missing (uint256)',
    ])
    const { data } = encodeCall(abi, 'f', { m: 1, amount: 500, _amount: 7 })
    expect(data).toBe(encodeCall(abi, 'f', [1, 500, 7]).data)
    expect(
      refusalsOf(() => encodeCall(abi, 'f', { m: 1, __amount: 1, value: 2 })).toSorted(),
    ).toEqual([
      '/params/__amount is not a parameter',
      '/params/_amount is missing (uint256)',
      '/params/amount is missing (uint256)',
      '/params/value is not a parameter',
    ])
    expect(refusalsOf(() => encodeCall(abi, 'g', { t: { m: 1, amount: 500 } }))).toEqual([
      '/params/t/_amount is missing (uint256)',
    ])
  })

  test('where no two do, underscores may be left out or added', async () => {
    const abi = await interfaceOf(['_to', 'value_'])
    const { data } = encodeCall(abi, 'f', [1, 2])
    for (const params of [
      { to: 1, value: 2 },
      { _to: 1, value_: 2 },
      { to_: 1, amount: 2 },
    ]) {
      expect(encodeCall(abi, 'f', params).data).toBe(data)
    }
  })

  test('what is refused is called as its caller called it', async () => {
    const abi = await interfaceOf(['_to', 'value'])
    expect(refusalsOf(() => encodeCall(abi, 'f', { to: -1, amount: '10.00' }))).toEqual([
      '/params/to must be a whole number of uint256',
      '/params/amount must be a whole number of uint256',
    ])
  })

  test('a stream is for the argument that its filter names', async () => {
    const abi = await interfaceOf(['a', '_a', '', 'b'])
    const word = `0x${'5'.padStart(64, '0')}`
    expect(encodeEventFilter(abi, 'E', { _a: 5 }).topics.slice(1)).toEqual([null, word as Hex])
    expect(encodeEventFilter(abi, 'E', { 2: 5 }).topics.slice(1)).toEqual([null, null, word as Hex])
    expect(refusalsOf(() => encodeEventFilter(abi, 'E', { a_: 5 }))).toEqual([
      '/where/a_ is not an argument of the event',
    ])
  })

  test('whatever the names, every value is told, and calls it again where it stood', async () => {
    await fc.assert(
      fc.asyncProperty(namesOf, async (names) => {
        const abi = await interfaceOf(names)
        const values = names.map((_, i) => String(i + 100))
        const { data, signature } = encodeCall(abi, 'f', values)
        const told = decodeCall([abi], data)!.args
        expect(Object.values(told).toSorted()).toEqual(values)
        expect(encodeCall(abi, 'f', told).data).toBe(data)
        expect(encodeCall(abi, 'g', { t: told }).data).toBe(encodeCall(abi, 'g', [values]).data)
        for (const key of Object.keys(told)) {
          const { [key]: _, ...rest } = told
          expect(refusalsOf(() => encodeCall(abi, 'f', rest))).toEqual([
            `/params/${key} is missing (uint256)`,
          ])
        }

        const answer = abi.encodeFunctionResult('f', values)
        const result = decodeResult(abi, signature, answer)
        const results = typeof result === 'string' ? [result] : Object.values(result as object)
        expect(results.toSorted()).toEqual(values)

        const log = abi.encodeEventLog('E', values) as { topics: Hex[]; data: Hex }
        expect(decodeEvent(abi, abi.getEvent('E')!.format(), log)).toEqual(told)
      }),
      { numRuns: 300 },
    )
  })
})
