import { expect, spyOn, test } from 'bun:test'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createSupervisor, type SupervisorOptions } from '../../src/cli/workers/supervisor.ts'
import { quietLogger } from '../support/database.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const directory = temporaryDirectory()
const script = (name: string, text: string): string => {
  const path = join(directory, `${name}.js`)
  writeFileSync(path, text)
  return path
}

const supervise = (command: readonly string[], change: Partial<SupervisorOptions> = {}) => {
  const pids: number[] = []
  const logger: typeof quietLogger = {
    ...quietLogger,
    error: () => {},
    info: ({ pid }) => pids.push(Number(pid)),
  }
  const supervisor = createSupervisor({
    count: 1,
    command,
    environmentOf: () => ({ PATH: process.env['PATH'] ?? '' }),
    onLines: () => {},
    metrics: createMetrics({ version: 'test', withProcess: false }),
    logger,
    stallMs: 0,
    stopMs: 5_000,
    ...change,
  })
  return { supervisor, pids }
}

test('a worker that the system cannot start for a while is started once it can', async () => {
  const runtime = join(directory, 'runtime')
  symlinkSync(process.execPath, runtime)
  const serving = script(
    'serving',
    `process.on('message', () => {}); process.send({ kind: 'listening', urls: {} })`,
  )
  const { supervisor, pids } = supervise([runtime, serving])
  await supervisor.start()
  const [first] = pids
  rmSync(runtime)
  process.kill(Number(first), 'SIGKILL')
  // The first try, a second later, finds no runtime.
  await Bun.sleep(1_500)
  expect(pids).toEqual([Number(first)])
  symlinkSync(process.execPath, runtime)
  await until(() => pids.length === 2)
  expect(await supervisor.stop('SIGKILL')).toBe(false)
}, 60_000)

test('the level that one worker is told to log from is that of all, also of one that starts later', async () => {
  const crew = join(import.meta.dir, '../../src/cli/workers/crew.ts')
  const logging = script(
    'logging',
    `import { joinCrew } from ${JSON.stringify(crew)}
    const logger = { level: 'info' }
    const crew = joinCrew(Number(process.env.NUMBER))
    const share = crew.shareLevel([logger])
    process.on('SIGUSR2', () => share('debug'))
    setInterval(() => console.log(process.env.NUMBER + ' ' + logger.level), 20)
    crew.listening({})`,
  )
  let lines = ''
  const { supervisor, pids } = supervise([process.execPath, logging], {
    count: 2,
    environmentOf: (number) => ({ PATH: process.env['PATH'] ?? '', NUMBER: String(number) }),
    onLines: (text) => {
      lines += text
    },
  })
  await supervisor.start()
  process.kill(Number(pids[0]), 'SIGUSR2')
  await until(() => lines.includes('1 debug') && lines.includes('2 debug'))
  process.kill(Number(pids[1]), 'SIGKILL')
  await until(() => pids.length === 3)
  lines = ''
  await until(() => lines.includes('2 debug'))
  await supervisor.stop('SIGKILL')
}, 60_000)

test('a worker that hangs before it listens is ended', async () => {
  const hanging = script('hanging', 'for (;;) {}')
  const { supervisor } = supervise([process.execPath, hanging], { stallMs: 600 })
  await expect(supervisor.start()).rejects.toThrow('ended before it listened')
  await supervisor.stop('SIGKILL')
}, 60_000)

test('a worker that worked for long is started again at once, however often it failed before', async () => {
  const serving = script(
    'lasting',
    `process.send({ kind: 'listening', urls: {} })
    setInterval(() => {}, 1_000)`,
  )
  const pauses: unknown[] = []
  const pids: number[] = []
  const { supervisor } = supervise([process.execPath, serving], {
    logger: {
      ...quietLogger,
      info: ({ pid }) => pids.push(Number(pid)),
      error: ({ again_in_ms }) => pauses.push(again_in_ms),
    },
  })
  await supervisor.start()
  process.kill(Number(pids[0]), 'SIGKILL')
  await until(() => pids.length === 2)
  process.kill(Number(pids[1]), 'SIGKILL')
  await until(() => pids.length === 3)
  const now = performance.now.bind(performance)
  const later = spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
  process.kill(Number(pids[2]), 'SIGKILL')
  await until(() => pauses.length === 3)
  later.mockRestore()
  expect(pauses).toEqual([1_000, 2_000, 1_000])
  await supervisor.stop('SIGKILL')
}, 60_000)

test('once it is told to stop no worker is started', async () => {
  const started: number[] = []
  let lines = ''
  const slow = script(
    'slow',
    `process.on('SIGTERM', () => {
      process.send({ kind: 'listening', urls: {} })
      setTimeout(() => process.exit(0), 200)
    })
    console.log('starts')
    setInterval(() => {}, 1_000)`,
  )
  const { supervisor } = supervise([process.execPath, slow], {
    count: 2,
    environmentOf: (number) => {
      started.push(number)
      return { PATH: process.env['PATH'] ?? '' }
    },
    onLines: (text) => {
      lines += text
    },
  })
  const start = supervisor.start()
  start.catch(() => {})
  await until(() => lines.includes('starts'))
  expect(await supervisor.stop('SIGTERM')).toBe(true)
  await expect(start).rejects.toThrow('ended before it listened')
  expect(started).toEqual([1])
}, 60_000)

test('a worker that ends by the signal before it listens has ended in order', async () => {
  const starting = script('starting', 'setInterval(() => {}, 1_000)')
  const { supervisor } = supervise([process.execPath, starting])
  supervisor.start().catch(() => {})
  expect(await supervisor.stop('SIGTERM')).toBe(true)
})
