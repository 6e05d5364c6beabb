import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { count, minuteOf, zone } from './format.ts'

/** A line of a chart; the second and later ones are dashed, so that not only colour tells them apart. */
type Series = { readonly label: string; readonly values: readonly (number | null)[] }

type ChartProps = {
  /** Describes the chart to people who do not see it. */
  readonly label: string
  /** Seconds since 1970, ascending. */
  readonly at: readonly number[]
  readonly series: readonly Series[]
  readonly isFilled?: boolean
}

const heightPx = 96

/** 1, 2, 5, 10, and so on, since counts and milliseconds have no halves. */
const wholeSteps = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((one) => one * 10 ** power),
).flat()

/** The indexes of values without a neighbour. */
const alone = (chart: UPlot, series: number): number[] => {
  const values = chart.data[series] ?? []
  const isThere = (at: number): boolean => typeof values[at] === 'number'
  return [...values.keys()].filter((at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1))
}

/** Reads a colour of the style sheet at each drawing, so that it follows light and dark. */
const inked = (element: Element, property: 'color' | 'borderTopColor' | 'outlineColor') => () =>
  getComputedStyle(element)[property]

const optionsFor = (
  element: HTMLElement,
  { series, isFilled }: ChartProps,
): ConstructorParameters<typeof UPlot>[0] => {
  const [line, faint, second] = [
    inked(element, 'color'),
    inked(element, 'borderTopColor'),
    inked(element, 'outlineColor'),
  ]
  const axis = {
    stroke: faint,
    ticks: { show: false },
    font: '11px Inter, sans-serif',
  }
  return {
    width: element.clientWidth,
    height: heightPx,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), zone),
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 20,
        values: (_, seconds) => seconds.map((one) => minuteOf(one * 1_000)),
      },
      {
        ...axis,
        grid: { stroke: inked(element, 'borderTopColor'), width: 0.25 },
        size: 44,
        space: 28,
        incrs: wholeSteps,
        values: (_, values) => values.map(count),
      },
    ],
    series: [
      {},
      ...series.map(({ label }, at) => ({
        label,
        stroke: at === 0 ? line : second,
        width: 1.5,
        // A value without neighbours makes no line.
        points: { show: isFilled !== true, filter: alone, size: 5 },
        ...(at === 0 ? {} : { dash: [4, 3] }),
        ...(isFilled === true
          ? { paths: UPlot.paths.bars?.({ size: [0.7, 12] }), fill: line, width: 0 }
          : {}),
      })),
    ] as NonNullable<ConstructorParameters<typeof UPlot>[0]['series']>,
  }
}

export const Chart = (props: ChartProps) => {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>()
  const data = [
    props.at,
    ...props.series.map(({ values }) => values),
  ] as unknown as UPlot.AlignedData
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const made = new UPlot(optionsFor(element, props), data, element)
    chart.current = made
    const watch = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: heightPx }),
    )
    watch.observe(element)
    return () => {
      watch.disconnect()
      made.destroy()
    }
  }, [])
  useEffect(() => chart.current?.setData(data), [data])
  return <div ref={place} class="chart" role="img" aria-label={props.label} />
}
