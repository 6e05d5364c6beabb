import { expect, spyOn, test } from 'bun:test'
import { asideMs, type InHand } from '../../../../src/spi/out/stage/aside.ts'

const setAsideMs = 5_000
const deps = {
  ways: () => ['PRIMARY'] as const,
  channels: ['PRIMARY'] as const,
  health: { isUp: () => true, hasAnsweredSince: () => true },
  setAsideMs,
}

test.each([
  [0, 5_000],
  [20_000, 5_000],
  [60_000, 15_000],
  [8 * 60_000, 120_000],
  [30 * 86_400_000, 120_000],
])('a message of %d ms that is refused access rests for %d ms', (ageMs, restMs) => {
  using clock = spyOn(Date, 'now')
  const nowMs = Date.now()
  clock.mockReturnValue(nowMs)
  const id = Bun.randomUUIDv7('hex', nowMs - ageMs)
  const message = { id, channel: 'PRIMARY', isBound: false, isScheduled: false } as InHand
  const refusal = { status: 403, problem: { type: '', title: '', detail: '' } }
  const refused = { kind: 'unreachable', reason: 'x', isDown: true, refusal } as const
  expect(asideMs(message, refused, true, deps)).toBe(restMs)
  // What is not refused comes back as soon as before.
  const unclear = { kind: 'unknown', reason: 'x', channel: 'PRIMARY' } as const
  expect(asideMs({ ...message, isInDoubt: true }, unclear, true, deps)).toBe(setAsideMs)
})
