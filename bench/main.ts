import { parseArgs } from 'node:util'
import { progressLine } from '../src/cli/progress.ts'
import { checkOut } from './base.ts'
import { outDirectory } from './curves.ts'
import { notAmong, refuse } from './e2e/options.ts'
import {
  type FigureResult,
  full,
  type GroupResult,
  judgeFigure,
  runGroup,
  smoke,
} from './harness.ts'
import { comparePairs, type PairResult } from './pairs.ts'
import reference from './reference.json'
import { missedGoals, writeReport } from './report.ts'
import { suites } from './suites/index.ts'

/**
 * Measures, and writes to bench/out or where `--out` says. `--base origin/main`, once or more, also measures ours at
 * that commit, in turns; `--reference` does so at the commit in reference.json, which stays the same, so that small
 * losses do not add up. Who moves it says in the commit why the speed of that day is good enough.
 */
const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    base: { type: 'string', multiple: true, default: [] },
    reference: { type: 'boolean', default: false },
    out: { type: 'string', default: outDirectory },
  },
})

refuse(notAmong('only', values.only ?? [], Object.keys(suites)))

const mode = values.smoke ? smoke : full
const results: GroupResult[] = []
const figures: FigureResult[] = []
const pairs: PairResult[] = []
const bases = [...values.base, ...(values.reference ? [reference.commit] : [])].map(checkOut)
const chosen = Object.entries(suites).filter(([name]) => values.only?.includes(name) ?? true)
const startMs = performance.now()
for (const [done, [, load]] of chosen.entries()) {
  const suite = await load()
  for (const [at, group] of (await suite.groups(mode)).entries()) {
    const pace = { done, total: chosen.length, afterMs: performance.now() - startMs }
    console.error(`${suite.name}: ${group.name} (${progressLine('suites', pace)})`)
    results.push(await runGroup(suite.name, group, mode, at === 0))
    for (const base of bases) pairs.push(...(await comparePairs(suite.name, group, base, mode)))
  }
  for (const figure of (await suite.figures?.(mode)) ?? []) {
    figures.push(judgeFigure(suite.name, figure))
  }
}
for (const base of bases) base[Symbol.dispose]()
const all = { results, figures, pairs }
console.log(writeReport(all, values.out, mode))
// A smoke run is too short to judge a goal by.
const missed = values.smoke ? [] : missedGoals(all)
for (const one of missed) console.error(`missed: ${one}`)
if (missed.length > 0) process.exitCode = 1

// A server or database connection of a suite must not keep a finished run alive.
process.exit(process.exitCode ?? 0)
