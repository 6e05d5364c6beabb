import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { headCommit } from './base.ts'
import { readCurves } from './curves.ts'
import { type FigureResult, type GroupResult, type Mode, smoke } from './harness.ts'
import { appendRun, runOf } from './history.ts'
import { page } from './page.ts'
import { keptAtLeast, type PairResult } from './pairs.ts'
import { leftOut } from './peers/program.ts'

export type Results = {
  readonly results: readonly GroupResult[]
  readonly figures: readonly FigureResult[]
  readonly pairs: readonly PairResult[]
}

/** Writes the report as markdown, as JSON and as a page with charts, adds to the history, and returns the markdown. */
export const writeReport = (
  { results, figures, pairs }: Results,
  directory: string,
  mode: Mode,
): string => {
  const title = `Benchmark report (${mode.name})`
  const markdown = [
    `# ${title}`,
    '',
    `Bun ${Bun.version}. CPU time per operation, one process for each contender; ratios are medians over interleaved rounds.`,
    '',
    ...leftOut().map((peer) => `- Left out: ${peer}.`),
    '',
    ...(mode.name === 'smoke'
      ? ['Shows that everything runs: too short to judge a goal by.', '']
      : []),
    ...pairsMarkdown(pairs, mode),
    ...results.flatMap((result) => groupMarkdown(result, mode)),
    ...figuresMarkdown(figures, mode),
  ].join('\n')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'report.md'), markdown)
  writeFileSync(
    join(directory, 'report.json'),
    `${JSON.stringify({ mode: mode.name, results, figures, pairs }, null, 2)}\n`,
  )
  // A smoke run has nothing worth comparing.
  const runs = mode === smoke ? [] : appendRun(directory, runOf(results, headCommit(), new Date()))
  const curves = readCurves(directory)
  writeFileSync(join(directory, 'report.html'), page(title, { results, pairs, curves, runs }))
  return markdown
}

/** The goals, ceilings and bounds that a run missed, and the losses; one line each. */
export const missedGoals = ({ results, figures, pairs }: Results): readonly string[] => [
  ...results.flatMap(({ suite, group, goals, ceilings }) =>
    [...goals, ...ceilings].flatMap(({ ours, reached }) =>
      reached ? [] : [`${suite}: ${group}: ${ours}`],
    ),
  ),
  ...figures.flatMap(({ suite, name, reached }) => (reached ? [] : [`${suite}: ${name}`])),
  ...pairs.flatMap(({ suite, group, contender, base, reached }) =>
    reached ? [] : [`${suite}: ${group}: ${contender}, against ${base}`],
  ),
]

const goalMarkdown = (bound: string, reached: boolean, { name }: Mode): string =>
  name === 'smoke' ? ` (goal ${bound})` : ` (goal ${bound}: ${reached ? 'reached' : 'missed'})`

const pairsMarkdown = (pairs: readonly PairResult[], mode: Mode): string[] =>
  Object.entries(Object.groupBy(pairs, ({ base }) => base)).flatMap(([base, own = []]) => [
    `## Against ${base}`,
    '',
    ...own.map(({ suite, group, contender, ratio, reached }) => {
      const name = `- ${suite}: ${group}: ${contender}`
      if (ratio === undefined) return `${name}: none there, or other work`
      return `${name}: **${ratio.toFixed(2)}×**${goalMarkdown(`${keptAtLeast}×`, reached, mode)}`
    }),
    '',
  ])

const groupMarkdown = (result: GroupResult, mode: Mode): string[] => [
  `## ${result.suite}: ${result.group}`,
  '',
  '| contender | CPU µs | checksum |',
  '|---|---:|---|',
  ...result.contenders.map(
    ({ name, cpuUs: us, checksum }) => `| ${name} | ${us.toFixed(2)} | ${checksum} |`,
  ),
  '',
  ...result.goals.map(
    ({ ours, peer, ratio, atLeast, reached }) =>
      `- ${ours}: **${ratio.toFixed(ratio < 10 ? 2 : 1)}×** ${peer}${goalMarkdown(`${atLeast}×`, reached, mode)}`,
  ),
  ...result.ceilings.map(
    ({ ours, cpuUs: us, cpuUsMax, reached }) =>
      `- ${ours}: **${us.toFixed(1)} µs**${goalMarkdown(`at most ${cpuUsMax} µs`, reached, mode)}`,
  ),
  '',
]

const figuresMarkdown = (figures: readonly FigureResult[], mode: Mode): string[] =>
  figures.length === 0
    ? []
    : [
        '## Figures',
        '',
        ...figures.map((figure) => {
          const { suite, name, value, unit } = figure
          const text = value.toFixed(unit === '×' || value < 10 ? 2 : 0)
          return `- ${suite}, ${name}: **${text} ${unit}**${boundMarkdown(figure, mode)}`
        }),
        '',
      ]

const boundMarkdown = ({ atMost, atLeast, reached }: FigureResult, mode: Mode): string => {
  if (atMost === undefined && atLeast === undefined) return ''
  const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`
  return goalMarkdown(bound, reached, mode)
}
