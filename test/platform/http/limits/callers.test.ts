import { expect, test } from 'bun:test'
import {
  callerMsMax,
  createCallers,
  lookEveryMs,
  patienceMs,
} from '#src/platform/http/limits/callers.ts'

test('a process that stood still holds that against nobody who has just come', async () => {
  let nowMs = 0
  const callers = createCallers(() => nowMs)
  const told: string[] = []
  callers.begin({ sinceMs: 0, isTimed: true, giveUp: (reason) => told.push(reason) })
  nowMs += callerMsMax + lookEveryMs
  expect(callers.makeRoom()).toBe(false)
  await Bun.sleep(lookEveryMs + 200)
  expect([callers.makeRoom(), told]).toEqual([false, []])
  nowMs += patienceMs
  expect([callers.makeRoom(), told]).toEqual([true, ['needed']])
})
