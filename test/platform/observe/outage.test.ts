import { expect, test } from 'bun:test'
import { createOutageLog, remindEveryMs } from '#src/platform/observe/index.ts'

const logOf = () => {
  const lines: string[] = []
  const clock = { ms: 0 }
  const write =
    (level: string) =>
    ({ err, ...fields }: Readonly<Record<string, unknown>>, message: string): void => {
      const about = err instanceof Error ? [err.message] : []
      lines.push([level, message, ...about, JSON.stringify(fields)].join(' | '))
    }
  const logger = { info: write('info'), warn: write('warn'), error: write('error') }
  const about = { group: 'g' }
  const words = { level: 'warn', away: 'it is away', back: 'it is back', about } as const
  return { clock, lines, outage: createOutageLog(logger, words, () => clock.ms) }
}

test('an outage is told at once, again from time to time, and when it is over', () => {
  const { clock, lines, outage } = logOf()
  outage.worked()
  expect(lines).toEqual([])
  const fail = (at: number, name: string) => {
    clock.ms = at
    outage.failed(new Error(name), { topic: 't' })
  }
  fail(1_000, 'first')
  fail(1_001, 'second')
  fail(1_000 + remindEveryMs - 1, 'third')
  fail(1_000 + remindEveryMs, 'fourth')
  fail(1_001 + remindEveryMs, 'fifth')
  clock.ms = 41_000
  outage.worked()
  outage.worked()
  expect(lines).toEqual([
    'warn | it is away | first | {"group":"g","topic":"t"}',
    'warn | it is away | fourth | {"group":"g","topic":"t","failures":4,"for_seconds":30}',
    'info | it is back | {"group":"g","failures":5,"after_seconds":40}',
  ])
})

test('what comes and goes is one outage, until it fails or works for longer', () => {
  const { clock, lines, outage } = logOf()
  const flap = (fromMs: number, toMs: number) => {
    for (clock.ms = fromMs; clock.ms < toMs; clock.ms += 250) {
      outage.failed(new Error(`at ${clock.ms}`))
      outage.worked()
    }
  }
  flap(0, remindEveryMs)
  expect(lines).toEqual([
    'warn | it is away | at 0 | {"group":"g"}',
    'info | it is back | {"group":"g","failures":1,"after_seconds":0}',
  ])
  flap(remindEveryMs, remindEveryMs + 1_000)
  expect(lines.slice(2)).toEqual([
    'warn | it is away | at 30000 | {"group":"g","failures":120,"for_seconds":30}',
    'info | it is back | {"group":"g","failures":120,"after_seconds":30}',
  ])
})

test('what fails again soon is told once that has lasted, and later at once', () => {
  const { clock, lines, outage } = logOf()
  const failAt = (ms: number) => {
    clock.ms = ms
    outage.failed(new Error(`at ${ms}`))
  }
  failAt(0)
  outage.worked()
  failAt(1_000)
  failAt(5_999)
  expect(lines).toHaveLength(2)
  failAt(6_000)
  outage.worked()
  expect(lines.slice(2)).toEqual([
    'warn | it is away | at 6000 | {"group":"g","failures":3,"for_seconds":5}',
    'info | it is back | {"group":"g","failures":3,"after_seconds":5}',
  ])
  failAt(7_000)
  outage.worked()
  failAt(6_000 + remindEveryMs)
  outage.worked()
  failAt(6_000 + 2 * remindEveryMs)
  expect(lines.slice(4)).toEqual([
    'warn | it is away | at 36000 | {"group":"g","failures":2,"for_seconds":29}',
    'info | it is back | {"group":"g","failures":2,"after_seconds":29}',
    'warn | it is away | at 66000 | {"group":"g"}',
  ])
})
