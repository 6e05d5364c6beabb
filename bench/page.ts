import { init, type XAXisComponentOption as XAxisOption } from 'echarts'
import type { Curve } from './curves.ts'
import type { GroupResult } from './harness.ts'
import type { Run } from './history.ts'
import { keptAtLeast, type PairResult } from './pairs.ts'

const colours = { ours: '#0a7d5a', peer: '#9aa5b1', lost: '#c0392b' } as const
const width = 1_100
const barHeight = 26
const roomForNames = 460

type Bar = { readonly name: string; readonly value: number; readonly colour: string }

/** Horizontal bars in the given order from above, over an axis that begins at `startValue`. */
const bars = (all: readonly Bar[], axis: XAxisOption, mark?: number): string => {
  const chart = init(null, null, {
    renderer: 'svg',
    ssr: true,
    width,
    height: all.length * barHeight + 60,
  })
  chart.setOption({
    animation: false,
    grid: { left: roomForNames, right: 70, top: 8, bottom: 44 },
    xAxis: { nameLocation: 'middle', nameGap: 26, ...axis },
    yAxis: {
      type: 'category',
      inverse: true,
      data: all.map(({ name }) => name),
      axisLabel: { width: roomForNames - 16, overflow: 'truncate' },
    },
    series: [
      {
        type: 'bar',
        data: all.map(({ value, colour }) => ({ value, itemStyle: { color: colour } })),
        label: {
          show: true,
          position: 'right',
          formatter: ({ value }: { readonly value: unknown }) => Number(value).toPrecision(3),
        },
        ...(mark === undefined
          ? {}
          : { markLine: { symbol: 'none', silent: true, data: [{ xAxis: mark }] } }),
      },
    ],
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}

/** The CPU time of an operation, ours beside the others. */
const groupChart = ({ contenders, goals, ceilings }: GroupResult): string => {
  const ours = new Set([...goals, ...ceilings].map((goal) => goal.ours))
  const least = Math.min(...contenders.map(({ cpuUs }) => cpuUs))
  const min = 10 ** Math.floor(Math.log10(least) - 0.2)
  return bars(
    contenders.map(({ name, cpuUs }) => ({
      name,
      value: cpuUs,
      colour: ours.has(name) ? colours.ours : colours.peer,
    })),
    { type: 'log', name: 'CPU µs an operation', min, startValue: min },
  )
}

const pairsChart = (pairs: readonly PairResult[]): string =>
  bars(
    pairs.flatMap(({ suite, contender, group, ratio, reached }) =>
      ratio === undefined
        ? []
        : [
            {
              name: `${suite}: ${group}, ${contender}`,
              value: ratio,
              colour: reached ? colours.ours : colours.lost,
            },
          ],
    ),
    {
      type: 'value',
      name: 'speed, as a multiple of the earlier commit’s',
      scale: true,
      startValue: 1,
    },
    keptAtLeast,
  )

type Line = { readonly name: string; readonly points: readonly (readonly [unknown, number])[] }

const linesHeight = 340

const lines = (all: readonly Line[], xAxis: XAxisOption, y: string): string => {
  const chart = init(null, null, {
    renderer: 'svg',
    ssr: true,
    width,
    height: linesHeight + all.length * barHeight,
  })
  chart.setOption({
    animation: false,
    grid: { left: 70, right: 40, top: 30, bottom: 60 + all.length * barHeight },
    legend: { orient: 'vertical', left: 60, bottom: 0, selectedMode: false },
    xAxis: { nameLocation: 'middle', nameGap: 30, ...xAxis },
    yAxis: { type: 'log', name: y, nameTextStyle: { align: 'left' } },
    series: all.map(({ name, points }) => ({ type: 'line', name, data: points })),
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}

const curveChart = ({ x, y, lines: all }: Curve): string =>
  lines(all, { type: 'log', name: x, min: 'dataMin', max: 'dataMax' }, y)

/** The history of a group, a line for each of its ratios. */
const historyChart = (name: string, runs: readonly Run[]): string => {
  const names = new Set(runs.flatMap(({ ratios }) => Object.keys(ratios)))
  const all = [...names]
    .filter((one) => one.startsWith(`${name}: `))
    .map((one) => ({
      name: one.slice(name.length + 2),
      points: runs.flatMap(({ ratios }, at) => {
        const ratio = ratios[one]
        return ratio === undefined ? [] : [[at, ratio] as const]
      }),
    }))
  const data = runs.map(({ at, commit }) => `${at.slice(0, 10)} ${commit}`)
  return lines(all, { type: 'category', data }, 'times as fast as the peer')
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:${width}px;margin:2rem auto;padding:0 1rem}
svg{max-width:100%;height:auto}h2{margin-top:2.5rem}`

export type Charts = {
  readonly results: readonly GroupResult[]
  readonly pairs: readonly PairResult[]
  readonly curves: readonly Curve[]
  /** This run and the earlier ones, the oldest first. */
  readonly runs: readonly Run[]
}

/** One page of HTML that needs no other file: a chart for each group, each earlier commit, each curve. */
export const page = (title: string, { results, pairs, curves, runs }: Charts): string => {
  const section = (heading: string, svg: string): string =>
    `<h2>${Bun.escapeHTML(heading)}</h2>\n${svg}`
  const measured = pairs.filter(({ ratio }) => ratio !== undefined)
  const bases = Object.entries(Object.groupBy(measured, ({ base }) => base))
  return [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${Bun.escapeHTML(title)}</title>`,
    `<style>${style}</style><h1>${Bun.escapeHTML(title)}</h1>`,
    ...bases.map(([base, own = []]) => section(`Against ${base}`, pairsChart(own))),
    ...curves.map((curve) => section(curve.title, curveChart(curve))),
    ...results.flatMap((one) => {
      const name = `${one.suite}: ${one.group}`
      const hasHistory = runs.length > 1 && one.goals.length > 0
      const history = hasHistory ? [section(`${name}, run by run`, historyChart(name, runs))] : []
      return [section(name, groupChart(one)), ...history]
    }),
    '</html>',
    '',
  ].join('\n')
}
