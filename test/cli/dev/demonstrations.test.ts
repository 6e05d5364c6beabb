import { expect, test } from 'bun:test'
import { demonstrate } from '../../../src/cli/dev/demonstrations.ts'

const demo = (title: string) => ({ title, command: 'curl', output: '{}' })

test('what ends otherwise than planned is told, with what was shown before it, and ends nothing', async () => {
  const { demos, notes } = await demonstrate([
    {
      name: 'cards',
      show: async function* () {
        yield demo('authorized')
        throw new Error('POST http://127.0.0.1/capture was answered 502:\n{}')
      },
    },
    { name: 'transfers', show: () => Promise.reject(new Error('x'.repeat(10_000))) },
    { name: 'codes', show: async () => [demo('a code')] },
  ])
  expect(demos.map(({ title }) => title)).toEqual(['authorized', 'a code'])
  expect(notes).toHaveLength(2)
  expect(notes[0]).toBe('cards not shown: POST http://127.0.0.1/capture was answered 502: {}')
  expect(notes[1]).toStartWith('transfers not shown: xxx')
  expect(notes[1]?.length).toBeLessThan(400)
})

test('what does not end is left behind', async () => {
  const never = { name: 'payments', show: () => new Promise<never>(() => {}) }
  const { demos, notes } = await demonstrate([never], 10)
  expect([demos, notes]).toEqual([[], ['payments not shown: no answer within 10 ms']])
})
