import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { secondRunsMax, shownOnlyAlone, withSecondRuns } from '../../scripts/test-runner/alone.ts'
import { groupsOf } from '../../scripts/test-runner/groups.ts'
import { type FileReport, runFiles } from '../../scripts/test-runner/process.ts'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** Runs test files with these bodies in one process, as far as that goes. */
const run = async (
  bodies: Readonly<Record<string, string>>,
  limits = { silenceMs: 60_000, fileMs: 60_000 },
): Promise<ReadonlyMap<string, FileReport>> => {
  const cwd = temporaryDirectory()
  const files = Object.keys(bodies).map((name) => `${name}.test.ts`)
  for (const [name, body] of Object.entries(bodies)) {
    writeFileSync(
      join(cwd, `${name}.test.ts`),
      `import { expect, test } from 'bun:test'\n${body}\n`,
    )
  }
  const reports = new Map<string, FileReport>()
  await runFiles(files, {
    command: [process.execPath, 'test', '--timeout', '10000'],
    cwd,
    env: process.env,
    limits,
    isMeasured: true,
    onFile: (report) => {
      expect(reports.has(report.file)).toBe(false)
      reports.set(report.file, report)
    },
  })
  return reports
}

const countsOf = (reports: ReadonlyMap<string, FileReport>) =>
  Object.fromEntries([...reports].map(([file, { counts }]) => [file.split('.')[0], counts]))

const passing = `test('passes', () => {})`

test('every test is counted in its file, and a failure is told with its error', async () => {
  const reports = await run({
    mixed: `${passing}\ntest.skip('later', () => {})\ntest.todo('some day')\ntest('fails', () => expect(1).toBe(2))`,
    green: passing,
  })
  expect(countsOf(reports)).toEqual({
    mixed: { pass: 1, fail: 1, skip: 2 },
    green: { pass: 1, fail: 0, skip: 0 },
  })
  const [failure = ''] = reports.get('mixed.test.ts')?.failures ?? []
  expect(failure).toMatch(/Expected: 2\nReceived: 1[\s\S]*\(fail\) fails/)
})

test('each file has the processor time of its own process and of what that started', async () => {
  const busy = 'let sum = 0; for (let i = 0; i < 1e9; i++) sum += i; console.log(sum)'
  const reports = await run({
    busy: `test('works', () => { Bun.spawnSync([process.execPath, '-e', '${busy}']) })`,
    idle: `test('waits', () => Bun.sleep(500))`,
  })
  const [busyMs = 0, idleMs = 0] = [...reports.values()].map(({ processorMs }) => processorMs)
  expect(busyMs).toBeGreaterThan(idleMs + 300)
})

test('what blocks the event loop is killed and named, and the other files are run', async () => {
  const reports = await run(
    {
      first: passing,
      blocks: `${passing}\ntest('never ends', () => { for (;;); })`,
      last: passing,
    },
    { silenceMs: 5_000, fileMs: 60_000 },
  )
  expect(countsOf(reports)).toEqual({
    first: { pass: 1, fail: 0, skip: 0 },
    blocks: { pass: 1, fail: 1, skip: 0 },
    last: { pass: 1, fail: 0, skip: 0 },
  })
  expect(reports.get('blocks.test.ts')?.failures[0]).toContain('blocks the event loop')
}, 60_000)

test('a file that goes on printing for too long is killed, too', async () => {
  const prints = `test('prints', () => { for (;;) { console.log('.'); Bun.sleepSync(50) } })`
  const reports = await run({ prints, last: passing }, { silenceMs: 60_000, fileMs: 4_000 })
  expect(reports.get('prints.test.ts')?.failures[0]).toContain('took longer than 4000 ms')
  expect(reports.get('last.test.ts')?.counts.pass).toBe(1)
}, 60_000)

test.each([
  ['ends its process with 3', `test('ends', () => process.exit(3))`, 'ended with 3'],
  ['ends its process with 0', `test('ends', () => process.exit(0))`, 'ended with 0'],
  ['kills its process', `test('ends', () => process.kill(process.pid, 9))`, 'ended with'],
  ['cannot be loaded', `import './not-there.ts'\n${passing}`, 'Cannot find module'],
  [
    'throws outside a test',
    `setTimeout(() => { throw new Error('loose') })\nawait Bun.sleep(50)`,
    'loose',
  ],
])(
  'a file that %s has failed, and the next is run',
  async (_, body, reason) => {
    const reports = await run({ bad: body, next: passing })
    expect(reports.get('bad.test.ts')?.failures.join()).toContain(reason)
    expect(countsOf(reports)['next']).toEqual({ pass: 1, fail: 0, skip: 0 })
  },
  60_000,
)

test('a killed process takes with it what it started', async () => {
  const marker = join(temporaryDirectory(), 'alive')
  const child = `setInterval(() => require('node:fs').writeFileSync(${JSON.stringify(marker)}, String(Date.now())), 50)`
  const body = `test('starts', async () => {
    Bun.spawn([process.execPath, '-e', ${JSON.stringify(child)}])
    await Bun.sleep(700)
    for (;;);
  })`
  await run({ starts: body }, { silenceMs: 5_000, fileMs: 60_000 })
  expect(await Bun.file(marker).exists()).toBe(true)
  const wroteLast = await Bun.file(marker).text()
  await Bun.sleep(400)
  expect(await Bun.file(marker).text()).toBe(wroteLast)
}, 60_000)

test('every file is in one group, and what needs Kafka is together', () => {
  const files = [...new Bun.Glob('test/**/*.test.ts').scanSync(root)].sort()
  const { early, late } = groupsOf(root, files)
  const groups = [...early, ...late]
  expect(groups.flat().toSorted()).toEqual(files)
  const withKafka = groups.filter((group) => group.some((file) => file.includes('/kafka/')))
  expect(withKafka).toHaveLength(1)
  expect(withKafka[0]).toContain('test/e2e/spi-roles.test.ts')
  // They share a browser, and more than one at once is slower than their tests allow.
  const withScreens = groups.filter((group) => group.some((file) => file.includes('/console/')))
  expect(withScreens).toHaveLength(1)
})

describe('a second run', () => {
  const reportOf = (file: string, fail: number): FileReport => ({
    file,
    ms: 1,
    processorMs: 0,
    lines: [],
    add: () => {},
    counts: { pass: 1, fail, skip: 0 },
    failures: Array(fail).fill(`why ${file}`),
  })
  const failed = (count: number) => Array.from({ length: count }, (_, i) => reportOf(`${i}`, 1))
  const asked: string[] = []
  const answering = (fail: number) => async (file: string) => {
    asked.push(file)
    return reportOf(file, fail)
  }

  test('is for files that failed, and tells by name which passed only so', async () => {
    asked.length = 0
    const first = [reportOf('green', 0), reportOf('shaken', 1)]
    const reports = await withSecondRuns(first, answering(0))
    expect(asked).toEqual(['shaken'])
    expect(reports.map(({ counts }) => counts.fail)).toEqual([0, 0])
    expect(shownOnlyAlone(first, reports)).toBe('PASSED ONLY ALONE: shaken\nwhy shaken\n')
    expect(shownOnlyAlone(first, first)).toBe('')
  })

  test('leaves failed what fails again', async () => {
    const first = failed(secondRunsMax)
    const reports = await withSecondRuns(first, answering(1))
    expect(reports.every(({ counts }) => counts.fail === 1)).toBe(true)
    expect(shownOnlyAlone(first, reports)).toBe('')
  })

  test('is for few: one file more, and all stay as they are', async () => {
    asked.length = 0
    const first = failed(secondRunsMax + 1)
    expect(await withSecondRuns(first, answering(0))).toBe(first)
    expect(asked).toEqual([])
  })
})
