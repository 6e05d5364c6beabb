import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { progressLine } from '../src/cli/progress.ts'
import {
  type FigureResult,
  full,
  type GroupResult,
  judgeFigure,
  missedGoals,
  runGroup,
  smoke,
  writeReport,
} from './harness.ts'
import { suites } from './suites/index.ts'

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
})

const mode = values.smoke ? smoke : full
const results: GroupResult[] = []
const figures: FigureResult[] = []
const chosen = Object.entries(suites).filter(([name]) => values.only?.includes(name) ?? true)
const startMs = performance.now()
for (const [done, [, load]] of chosen.entries()) {
  const suite = await load()
  for (const group of await suite.groups()) {
    const pace = { done, total: chosen.length, afterMs: performance.now() - startMs }
    console.error(`${suite.name}: ${group.name} (${progressLine('suites', pace)})`)
    results.push(await runGroup(suite.name, group, mode))
  }
  for (const figure of (await suite.figures?.(mode)) ?? []) {
    figures.push(judgeFigure(suite.name, figure))
  }
}
console.log(writeReport(results, figures, join(import.meta.dir, 'out'), mode))
// A smoke run is too short to judge a goal by.
const missed = values.smoke ? [] : missedGoals(results, figures)
for (const one of missed) console.error(`missed: ${one}`)
if (missed.length > 0) process.exitCode = 1

// A server or a database connection of some suite must not keep a finished run alive.
process.exit(process.exitCode ?? 0)
