import { expect, test } from 'bun:test'
import { TimingWheel, WheelEntry } from '../../../src/cards/networks/timing-wheel.ts'
import { until } from '../../support/card-network.ts'

class Probe extends WheelEntry {
  endedAt: number | undefined
  private readonly onEnd: (probe: Probe) => void

  constructor(onEnd: (probe: Probe) => void) {
    super()
    this.onEnd = onEnd
  }

  override onTimeout(): void {
    this.onEnd(this)
  }
}

/** A wheel whose clock the test moves; its own timer finds nothing to do in between. */
const still = () => {
  let now = 5
  const wheel = new TimingWheel(() => now)
  const add = (delayMs: number): Probe => {
    const probe = new Probe((ended) => {
      if (ended.endedAt !== undefined) throw new Error('ended twice')
      ended.endedAt = now
    })
    wheel.add(probe, delayMs)
    return probe
  }
  return {
    wheel,
    add,
    go: (ms: number) => {
      now += ms
      wheel.advance()
    },
  }
}

test('nothing ends early or more than a tick late, over many rounds of the wheel', () => {
  const { wheel, add, go } = still()
  const delays = Array.from({ length: 3_000 }, (_, index) => (index * 37) % 45_000)
  const probes = delays.map(add)
  expect(wheel.size).toBe(3_000)
  for (let ms = 0; ms <= 45_020; ms++) go(1)
  for (const [index, probe] of probes.entries()) {
    const late = (probe.endedAt ?? Number.NaN) - 5 - (delays[index] ?? 0)
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThanOrEqual(10)
  }
  expect(wheel.size).toBe(0)
})

test('a clock that jumps beyond the whole wheel leaves nothing behind', () => {
  const { wheel, add, go } = still()
  const early = [20, 5_000, 10_240, 29_999].map(add)
  const later = add(60_000)
  go(30_010)
  expect(early.every(({ endedAt }) => endedAt !== undefined)).toBe(true)
  expect(later.endedAt).toBeUndefined()
  go(30_000)
  expect(later.endedAt).toBeDefined()
  expect(wheel.size).toBe(0)
})

test('what was taken out does not end; what is due with others may take those out', () => {
  const { wheel, add, go } = still()
  const [first, second, third] = [100, 100, 100].map(add)
  const fourth = new Probe(() => {
    for (const probe of [first, third]) if (probe !== undefined) wheel.remove(probe)
  })
  // The last one in is the first one told.
  wheel.add(fourth, 100)
  go(200)
  expect([first, second, third].map((probe) => probe?.endedAt !== undefined)).toEqual([
    false,
    true,
    false,
  ])
  const again = add(50)
  wheel.remove(again)
  wheel.remove(again)
  go(100)
  expect(again.endedAt).toBeUndefined()
  expect(wheel.size).toBe(0)
})

test('one that is put in again waits from then on, and may do so in its own end', () => {
  const { wheel, add, go } = still()
  const moved = add(50)
  go(40)
  wheel.add(moved, 50)
  go(20)
  expect(moved.endedAt).toBeUndefined()
  go(50)
  expect(moved.endedAt).toBeDefined()
  let rounds = 0
  const repeated: Probe = new Probe(() => {
    rounds++
    if (rounds < 3) wheel.add(repeated, 10)
  })
  wheel.add(repeated, 10)
  for (let step = 0; step < 10; step++) go(20)
  expect(rounds).toBe(3)
})

test('its own timer ends them, and it rests when it is empty', async () => {
  const wheel = new TimingWheel()
  const started = performance.now()
  const ends: number[] = []
  for (let round = 0; round < 2; round++) {
    wheel.add(new Probe(() => ends.push(performance.now() - started)), 30)
    await until(() => ends.length === round + 1)
    await Bun.sleep(30)
  }
  expect(ends[0]).toBeGreaterThanOrEqual(30)
  // A sleep may end a little early.
  expect(ends[1]).toBeGreaterThanOrEqual(85)
})
