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

test('the next outage is told at once', () => {
  const { lines, outage } = logOf()
  outage.failed(new Error('first'))
  outage.worked()
  outage.failed(new Error('second'))
  expect(lines.at(-1)).toBe('warn | it is away | second | {"group":"g"}')
})
