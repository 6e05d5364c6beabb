import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { shownOnlyAlone, withSecondRuns } from './test-runner/alone.ts'
import { groupsOf } from './test-runner/groups.ts'
import { sumOf } from './test-runner/output.ts'
import { type FileReport, killAll, type Limits, runFiles } from './test-runner/process.ts'

/*
 * Runs the tests in several processes.
 *
 *   bun scripts/test.ts                    all of them
 *   bun scripts/test.ts spi/out/send xml   the files whose paths contain one of these
 *   bun scripts/test.ts --processes 4      default: two more than cores, since tests wait too; one more at the end
 *   bun scripts/test.ts --slowest 20       tells at the end which files took longest, and their processor time
 *
 * It prints the output of a file when the file has ended, repeats the failures at the end, and closes with the counts.
 * If few files fail beside others, they run once more, alone: see `test-runner/alone.ts`.
 */

const root = join(import.meta.dir, '..')
/** It is for what never ends: a crowd makes a test many times as long as it is alone. */
const testTimeoutMs = 120_000
const failureLinesMax = 300
const isLong = process.env['TRILHO_LONG'] === '1'

// A test that runs a whole foreign program is silent until that ends: minutes, beside other work. Long tests have no
// common bound.
const limits: Limits = isLong
  ? { silenceMs: 1_800_000, fileMs: 7_200_000 }
  : { silenceMs: 310_000, fileMs: 900_000 }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    processes: { type: 'string', default: String(availableParallelism() + 2) },
    slowest: { type: 'string', default: '0' },
  },
})

const isMeasured = Number(values.slowest) > 0

const files = [...new Bun.Glob('test/**/*.test.ts').scanSync(root)]
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort()

const command = [process.execPath, 'test', '--timeout', String(testTimeoutMs)]
/** A process of seconds ends before the last optimising of its code, a tenth of its time, has paid. */
const shortLived = isLong ? {} : { BUN_JSC_useFTLJIT: '0' }

const runAll = async (): Promise<readonly FileReport[]> => {
  const reports: FileReport[] = []
  const { early, late } = groupsOf(root, files)
  const groups = [...early, ...late]
  const processes = Math.min(Number(values.processes), groups.length)
  // Loaded here, since only a run of several processes shares a server; a single one starts its own if it needs one.
  const { prepareCluster, preparedServer } = await import('../test/support/database.ts')
  // Otherwise the server would start ten processes a second to look at hundreds of short-lived databases.
  const settings = { autovacuum: isLong ? 'on' : 'off' }
  const shared = processes > 1 ? { [preparedServer]: await prepareCluster(settings) } : {}
  const onFile = (report: FileReport): void => {
    reports.push(report)
    process.stdout.write(`${report.file}:\n${report.lines.join('\n')}\n`)
  }
  const onlyShortOnes = Promise.withResolvers<void>()
  const work = async (index: number): Promise<void> => {
    for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
      if (groups.length < late.length) onlyShortOnes.resolve()
      const portOffset = (index + Math.random()) / (processes + 1)
      const env = {
        ...process.env,
        ...shortLived,
        ...shared,
        TEST_PORT_OFFSET: String(portOffset),
      }
      await runFiles(group, { command, cwd: root, env, limits, isMeasured, onFile })
    }
  }
  const works = Array.from({ length: processes }, (_, index) => work(index))
  // Once no more whole programs begin, there is room for one more.
  if (processes > 1 && processes < late.length) {
    works.push(onlyShortOnes.promise.then(() => work(processes)))
  }
  await Promise.all(works)
  return reports
}

/** Runs one file while nothing else runs, on a database server of its own. */
const runAlone = async (file: string): Promise<FileReport> => {
  const env = { ...process.env, TEST_PORT_OFFSET: String(Math.random()) }
  return new Promise((resolve) => {
    void runFiles([file], { command, cwd: root, env, limits, onFile: resolve })
  })
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(6)} s`

const summary = (reports: readonly FileReport[]): string => {
  const failures = reports.flatMap((report) =>
    report.failures.map((text) => `${report.file}:\n${text}\n`),
  )
  const failed = failures.join('\n').split('\n').slice(-failureLinesMax)
  const slowest = reports
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, Number(values.slowest))
    .map(
      ({ file, ms, processorMs }) =>
        `${seconds(ms)}, ${seconds(processorMs)} of processor  ${file}`,
    )
  const { pass, fail, skip } = sumOf(reports.map(({ counts }) => counts))
  return [...slowest, '', ...failed, ` ${pass} pass`, ` ${fail} fail`, ` ${skip} skip`, ''].join(
    '\n',
  )
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    killAll()
    process.exit(1)
  })
}

const first = await runAll()
const reports = Number(values.processes) > 1 ? await withSecondRuns(first, runAlone) : first
process.stdout.write(shownOnlyAlone(first, reports))
process.stdout.write(summary(reports))
const isGreen = reports.length === files.length && reports.every(({ counts }) => counts.fail === 0)
process.exit(files.length > 0 && isGreen ? 0 : 1)
