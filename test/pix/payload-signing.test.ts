import { expect, test } from 'bun:test'
import { createPayloadSigner, keptMax, toTheSecond } from '../../src/pix/payloads/signing.ts'

/** @returns the signer, and what it has had signed */
const start = (clock: () => Date = () => new Date(0)) => {
  const signed: string[] = []
  const sign = createPayloadSigner(async (text) => {
    signed.push(text)
    if (text === 'wrong' && signed.length === 1) throw new Error('no key')
    return `${text}.${signed.length}`
  }, clock)
  return { sign, signed }
}

test('texts that are asked for at once are signed once', async () => {
  const { sign, signed } = start()
  expect(await Promise.all([sign('a'), sign('a'), sign('b')])).toEqual(['a.1', 'a.1', 'b.2'])
  expect(signed).toEqual(['a', 'b'])
})

test('a second later all is signed anew', async () => {
  let clock = new Date(999)
  const { sign } = start(() => clock)
  expect(await sign('a')).toBe('a.1')
  clock = new Date(1_000)
  expect(await sign('a')).toBe('a.2')
})

test('what could not be signed is signed when it is asked for again', async () => {
  const { sign } = start()
  expect(sign('wrong')).rejects.toThrow('no key')
  await Bun.sleep(0)
  expect(await sign('wrong')).toBe('wrong.2')
})

test.each([
  [keptMax, 'a.1'],
  [keptMax + 1, `a.${keptMax + 2}`],
])('of %p texts the first is then %p', async (count, told) => {
  const { sign } = start()
  const texts = ['a', ...Array.from({ length: count - 1 }, (_, at) => String(at))]
  for (const text of texts) await sign(text)
  expect(await sign('a')).toBe(told)
})

test('a moment is cut to the second, before 1970 too', () => {
  expect(toTheSecond(new Date(-1))).toEqual(new Date(-1_000))
  expect(toTheSecond(new Date(1_999))).toEqual(new Date(1_000))
})
