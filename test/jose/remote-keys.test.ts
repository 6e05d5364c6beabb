import { expect, test } from 'bun:test'
import { OutsideError } from '#src/platform/http/index.ts'
import { createRemoteKeys } from '../../src/jose/remote-keys.ts'

const url = 'https://partner.example/keys'

/** A partner who can go away, or answer when told. */
const partner = async () => {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ])
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const body = Buffer.from(JSON.stringify({ keys: [{ kty, crv, x, y, kid: 'a' }] }))
  const state = { nowMs: 0, asked: 0, answer: Promise.resolve() }
  const keys = createRemoteKeys(
    async () => {
      state.asked++
      await state.answer
      return { status: 200, mediaType: 'application/jwk-set+json', body }
    },
    () => state.nowMs,
  )
  return { state, keys: (url: string, isFresh?: boolean) => keys(url, 'us', isFresh) }
}

const isAway = () => {
  const answer = Promise.reject(new OutsideError('timeout', 'away'))
  answer.catch(() => undefined)
  return answer
}

test('a set that was read serves on while its partner is away, until it is too old', async () => {
  const { state, keys } = await partner()
  const known = await keys(url)
  expect(known).toHaveLength(1)
  state.nowMs = 20_000
  state.answer = isAway()
  await expect(keys(url, true)).rejects.toThrow('away')
  expect(await keys(url)).toBe(known)
  state.nowMs = 300_000
  await expect(keys(url, true)).rejects.toThrow('away')
  await expect(keys(url)).rejects.toThrow('away')
})

test('while a newer one is read, only who needs it waits', async () => {
  const { state, keys } = await partner()
  const known = await keys(url)
  const { promise, resolve } = Promise.withResolvers<void>()
  state.nowMs = 20_000
  state.answer = promise
  const newer = [keys(url, true), keys(url, true)]
  expect(await keys(url)).toBe(known)
  resolve()
  const [first, second] = await Promise.all(newer)
  expect(second).toBe(first)
  expect<unknown>(await keys(url)).toBe(first)
  expect(state.asked).toBe(2)
})

test('a set that cannot be read is asked for no more often than one that is new', async () => {
  const { state, keys } = await partner()
  state.answer = isAway()
  for (const isFresh of [false, true, false]) {
    await expect(keys(url, isFresh)).rejects.toThrow('away')
  }
  expect(state.asked).toBe(1)
  state.nowMs = 10_000
  state.answer = Promise.resolve()
  const known = await keys(url)
  state.nowMs = 20_000
  state.answer = isAway()
  for (let at = 0; at < 3; at++) await expect(keys(url, true)).rejects.toThrow('away')
  expect(await keys(url)).toBe(known)
  expect(state.asked).toBe(3)
  state.nowMs = 30_000
  state.answer = Promise.resolve()
  expect(await keys(url, true)).toHaveLength(1)
})

test('a reading that was refused for others is tried again at once', async () => {
  let asked = 0
  const keys = createRemoteKeys(
    async () => {
      asked++
      throw new Error('as many are read as may be')
    },
    () => 0,
  )
  for (let at = 0; at < 2; at++) await expect(keys(url, 'us')).rejects.toThrow('as many')
  expect(asked).toBe(2)
})
