import { afterAll, beforeAll, expect, jest, test } from 'bun:test'
import { loadConsole } from './load-console.ts'

/* A stream that stays silent is lost: its page asks by itself, and comes back. */

type Live = {
  readonly whenChanged: (list: string) => (ask: () => void) => () => void
}

const sources: Source[] = []
class Source extends EventTarget {
  static readonly CLOSED = 2
  readonly readyState = 1
  isClosed = false
  constructor() {
    super()
    sources.push(this)
  }
  close(): void {
    this.isClosed = true
  }
}

const page = { document: { hidden: false }, EventSource: Source }

beforeAll(() => {
  jest.useFakeTimers()
  for (const [name, value] of Object.entries(page)) {
    Object.defineProperty(globalThis, name, { value, configurable: true })
  }
})
afterAll(() => {
  jest.useRealTimers()
  for (const name of Object.keys(page)) Reflect.deleteProperty(globalThis, name)
})

test('a stream that tells nothing is given up, one that tells that it is there is not', async () => {
  const { whenChanged } = await loadConsole<Live>(['live.ts'])
  let asked = 0
  const end = whenChanged('/health')(() => {
    asked += 1
  })
  jest.advanceTimersByTime(0)
  for (let seconds = 0; seconds < 60; seconds += 5) {
    sources[0]?.dispatchEvent(new Event('beat'))
    jest.advanceTimersByTime(5_000)
  }
  expect([sources.length, asked]).toEqual([1, 0])
  jest.advanceTimersByTime(15_001)
  expect([sources.length, sources[0]?.isClosed, asked]).toEqual([1, true, 1])
  // The next stream never opens.
  jest.advanceTimersByTime(10_000)
  expect(sources.length).toBe(2)
  jest.advanceTimersByTime(20_001)
  expect([sources[1]?.isClosed, asked]).toEqual([true, 2])
  end()
})
