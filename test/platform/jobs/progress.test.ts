import { describe, expect, test } from 'bun:test'
import { createLoop, createStallWatch, type Loop } from '#src/platform/jobs/index.ts'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'

const stuckMs = (loop: Loop): number | undefined => {
  const since = loop.stuckSinceMs()
  return since === undefined ? undefined : performance.now() - since
}

/** A clock that moves when told. */
const withClock = async (run: (pass: (ms: number) => void) => Promise<void>): Promise<void> => {
  const real = performance.now
  let passedMs = 0
  performance.now = () => passedMs
  try {
    await run((ms) => {
      passedMs += ms
    })
  } finally {
    performance.now = real
  }
}

describe('a loop', () => {
  test('without work at hand is not stuck, however long', () =>
    withClock(async (pass) => {
      const loop = createLoop('idle')
      pass(1e9)
      expect(loop.stuckSinceMs()).toBeUndefined()
      const work = loop.begin()
      work.end()
      pass(1e9)
      expect(loop.stuckSinceMs()).toBeUndefined()
    }))

  test('is as stuck as the work that has waited longest, even when other work goes on', () =>
    withClock(async (pass) => {
      const loop = createLoop('two')
      const first = loop.begin()
      pass(10)
      const second = loop.begin()
      pass(10)
      expect(stuckMs(loop)).toBe(20)
      second.advance()
      expect(stuckMs(loop)).toBe(20)
      first.advance()
      pass(3)
      expect(stuckMs(loop)).toBe(3)
      first.end()
      second.end()
      expect(stuckMs(loop)).toBeUndefined()
    }))

  test('whose rounds fail is stuck since the first of them, until one succeeds', () =>
    withClock(async (pass) => {
      const loop = createLoop('rounds')
      const failing = () => loop.round(() => Promise.reject(new Error('away')))
      pass(5)
      await expect(failing()).rejects.toThrow('away')
      pass(100)
      await expect(failing()).rejects.toThrow('away')
      expect(stuckMs(loop)).toBe(100)
      expect(await loop.round(async () => 7)).toBe(7)
      expect(loop.stuckSinceMs()).toBeUndefined()
    }))

  test('a round that advances is not stuck', () =>
    withClock(async (pass) => {
      const loop = createLoop('long round')
      await loop.round(async ({ advance }) => {
        pass(50)
        advance()
        pass(2)
        expect(stuckMs(loop)).toBe(2)
      })
    }))
})

describe('the watch', () => {
  const watchOf = (loops: readonly Loop[], stallMs: number) => {
    const lines: string[] = []
    const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
    const metrics = createMetrics({ version: 'test', withProcess: false })
    return {
      lines,
      metrics,
      watch: createStallWatch({ loops: () => loops, stallMs, logger, metrics }),
    }
  }

  test('says nothing below the limit and names the loop at it; the longest comes first', () =>
    withClock(async (pass) => {
      const [slow, slower] = [createLoop('slow'), createLoop('slower')]
      const { watch } = watchOf([slow, slower], 10_000)
      slower.begin()
      pass(1_000)
      const work = slow.begin()
      pass(8_999)
      expect(watch.stalled()).toEqual([])
      pass(1)
      expect(watch.stalled()).toEqual([{ loop: 'slower', seconds: 10 }])
      pass(1_000)
      expect(watch.stalled().map(({ loop }) => loop)).toEqual(['slower', 'slow'])
      work.advance()
      expect(watch.stalled().map(({ loop }) => loop)).toEqual(['slower'])
    }))

  test('loops of one name count as one: the worst of them', () =>
    withClock(async (pass) => {
      const [one, other] = [createLoop('twin'), createLoop('twin')]
      const { watch, metrics } = watchOf([one, other], 1_000)
      other.begin()
      pass(2_000)
      one.begin()
      expect(watch.stalled()).toEqual([{ loop: 'twin', seconds: 2 }])
      const { text } = await metrics.render()
      expect(text).toContain('trilho_loop_stuck_seconds{loop="twin"} 2\n')
    }))

  test('0 turns it off', () =>
    withClock(async (pass) => {
      const loop = createLoop('off')
      loop.begin()
      pass(1e9)
      expect(watchOf([loop], 0).watch.stalled()).toEqual([])
    }))

  test('a stall and its end are each logged once', async () => {
    const loop = createLoop('logged')
    const { watch, lines } = watchOf([loop], 20)
    const until = async (count: number): Promise<void> => {
      while (lines.length < count) await Bun.sleep(2)
    }
    const work = loop.begin()
    watch.start()
    await until(1)
    await Bun.sleep(30)
    work.end()
    await until(2)
    watch.stop()
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 'error', loop: 'logged', msg: expect.stringContaining('stalled') },
      { level: 'info', loop: 'logged', msg: expect.stringContaining('goes on') },
    ])
  })
})
