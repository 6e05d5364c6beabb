import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeCurve } from '../../bench/curves.ts'
import { judgeFigure, smoke } from '../../bench/harness.ts'
import { appendRun, type Run, runsMax } from '../../bench/history.ts'
import { page } from '../../bench/page.ts'
import { ratioOfTwo } from '../../bench/pairs.ts'
import { missedGoals } from '../../bench/report.ts'
import { requireConfirmed } from '../../bench/suites/drex.ts'
import { noContenderCode, startWorker, WorkerEndedError } from '../../bench/worker-process.ts'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

test('a report names what was missed, and nothing else', () => {
  const goal = { ours: 'ours', peer: 'theirs', atLeast: 2 }
  const group = { suite: 'xml', group: 'reading', contenders: [] }
  const results = [
    {
      ...group,
      goals: [
        { ...goal, ratio: 2, reached: true },
        { ...goal, ours: 'slow', ratio: 1.99, reached: false },
      ],
      ceilings: [{ ours: 'dear', cpuUsMax: 5, cpuUs: 6, reached: false }],
    },
  ]
  const figures = [
    judgeFigure('start', { name: 'ready', value: 100, unit: 'ms', atMost: 100 }),
    judgeFigure('start', { name: 'memory', value: 101, unit: 'MB', atMost: 100 }),
  ]
  const pair = { suite: 'xml', group: 'reading', contender: 'ours', base: 'v1' }
  const pairs = [
    { ...pair, ratio: 0.9, reached: true },
    { ...pair, ratio: 0.89, reached: false },
  ]
  expect(missedGoals({ results, figures, pairs })).toEqual([
    'xml: reading: slow',
    'xml: reading: dear',
    'start: memory',
    'xml: reading: ours, against v1',
  ])
  expect(missedGoals({ results: [], figures: [], pairs: [] })).toEqual([])
})

test('throughput of digital currency is that of transfers which are all confirmed, page after page', async () => {
  const pages: Readonly<Record<string, object>> = {
    '': { transfers: [{ transfer_id: 'trf_3' }, { transfer_id: 'trf_2' }], next_cursor: 'trf_2' },
    trf_2: { transfers: [{ transfer_id: 'trf_1' }], next_cursor: null },
  }
  const call = async (_: string, path: string) => {
    const { searchParams } = new URL(path, 'http://gateway')
    expect(searchParams.get('status')).toBe('confirmed')
    return { status: 200, json: pages[searchParams.get('cursor') ?? ''] as never }
  }
  await requireConfirmed({ call }, ['trf_1', 'trf_2', 'trf_3'])
  await expect(requireConfirmed({ call }, ['trf_1', 'trf_4'])).rejects.toThrow(
    '1 of 2 transfers are not confirmed',
  )
})

const workerOf = (cpuUs: number, single = '1') => ({
  name: 'ours',
  single,
  checksum: '1',
  round: () => Promise.resolve({ cpuUs, checksum: '1' }),
  stop: () => {},
})

describe('a contender and itself at an earlier commit', () => {
  const timesHere = (...us: readonly number[]) => {
    const left = [...us]
    const start = () =>
      Promise.resolve({ there: workerOf(90), here: workerOf(left.shift() ?? Number.NaN) })
    return { start, left }
  }

  test('a loss that a disturbance made is measured again, another stays one', async () => {
    expect(await ratioOfTwo(timesHere(200, 90).start, smoke)).toBe(1)
    expect(await ratioOfTwo(timesHere(200, 180).start, smoke)).toBe(0.5)
    const once = timesHere(100, 50)
    expect(await ratioOfTwo(once.start, smoke)).toBe(0.9)
    expect(once.left).toEqual([50])
  })

  test('what is new, or does other work, has no ratio', async () => {
    expect(await ratioOfTwo(() => Promise.resolve(undefined), smoke)).toBeUndefined()
    const other = { there: workerOf(1, '2'), here: workerOf(9) }
    expect(await ratioOfTwo(() => Promise.resolve(other), smoke)).toBeUndefined()
  })

  test('a worker says that its tree has no such contender, and nothing else by the same code', async () => {
    const ended = (address: Parameters<typeof startWorker>[0], tree?: string) =>
      startWorker(address, 1, tree).then(
        () => 'started',
        (error: unknown) => (error instanceof WorkerEndedError ? error.code : error),
      )
    expect(await ended(['brcode', 'no such group', 'ours'])).toBe(noContenderCode)
    expect(await ended(['brcode', 'no such group', 'ours'], temporaryDirectory())).toBe(1)
  })

  test('by the command, with a page of charts', async () => {
    const out = temporaryDirectory()
    const lines = [
      { name: 'p99', points: [[100, 2] as [number, number], [200, 9] as [number, number]] },
    ]
    writeCurve('latency-cards', { title: 'Latency of cards', x: 'requests', y: 'ms', lines }, out)
    const command = ['bench/main.ts', '--smoke', '--only', 'brcode', '--base', 'HEAD', '--out', out]
    const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, ...command], {
      cwd: root,
    })
    expect({ exitCode, err: exitCode === 0 ? '' : stderr.toString() }).toEqual({
      exitCode: 0,
      err: '',
    })
    expect(stdout.toString()).toMatch(
      /## Against HEAD \([0-9a-f]{8}\)\n\n- brcode: .*: \*\*[\d.]+×\*\*/,
    )
    const page = await Bun.file(join(out, 'report.html')).text()
    expect(page.match(/<svg /g)?.length).toBeGreaterThan(3)
    expect(page).toContain('pix-utils')
    expect(page).toContain('<h2>Latency of cards</h2>\n<svg ')
    expect(existsSync(join(out, 'history.json'))).toBe(false)
  })
})

describe('the history of runs', () => {
  const runAt = (day: number, ratio: number): Run => ({
    at: new Date(Date.UTC(2026, 0, 1 + day)).toISOString(),
    commit: `c${day}`,
    ratios: { 'xml: scan: ours / theirs': ratio },
  })

  test('keeps what stands there, adds behind it, and drops the oldest beyond its bound', () => {
    const directory = temporaryDirectory()
    const kept = Array.from({ length: runsMax }, (_, day) => appendRun(directory, runAt(day, day)))
    expect(kept.at(-1)?.length).toBe(runsMax)
    expect(kept.at(-1)?.[0]).toEqual(runAt(0, 0))
    const after = appendRun(directory, runAt(runsMax, 7))
    expect(after.length).toBe(runsMax)
    expect([after[0], after.at(-1)]).toEqual([runAt(1, 1), runAt(runsMax, 7)])
  })

  test('is refused where it is none, and not overwritten', async () => {
    const directory = temporaryDirectory()
    const file = join(directory, 'history.json')
    await Bun.write(file, '[{"at":"yesterday"}]')
    expect(() => appendRun(directory, runAt(0, 1))).toThrow('datetime')
    expect(await Bun.file(file).text()).toBe('[{"at":"yesterday"}]')
  })

  test('is drawn, a line for each ratio of a group', () => {
    const goal = { ours: 'ours', peer: 'theirs', atLeast: 2, ratio: 3, reached: true }
    const contenders = [{ name: 'ours', cpuUs: 1, checksum: '1' }]
    const result = { suite: 'xml', group: 'scan', contenders, goals: [goal], ceilings: [] }
    const charts = { results: [result], pairs: [], curves: [] }
    expect(page('Report', { ...charts, runs: [runAt(0, 2)] })).not.toContain('run by run')
    const drawn = page('Report', { ...charts, runs: [runAt(0, 2), runAt(1, 3)] })
    expect(drawn).toContain('<h2>xml: scan, run by run</h2>\n<svg ')
    expect(drawn).toContain('ours / theirs')
  })
})
