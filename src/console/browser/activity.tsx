import { getJson, useLoaded } from './api.ts'
import { Chart } from './chart.tsx'
import { count, duration, percent, timeOf } from './format.ts'
import { whenChanged } from './live.ts'
import { type Outcome, shownOf, sumOf } from './outcomes.ts'
import { overviewWords as w } from './overview-words.ts'
import { Card, Facts, Shown } from './parts.tsx'
import { type Rail, railLists } from './rails.ts'
import { Link } from './router.tsx'
import { Badge, toneOf } from './state.tsx'
import { fill, words } from './words.ts'

/** The window moves on even if nothing happens. */
const everyMs = 30_000
const gatherMs = 3_000
/** How many of the latest payments we watch for changes. */
const followedMax = 50

type Activity = {
  readonly from: string
  readonly to: string
  readonly complete: boolean
  readonly step_seconds: number
  readonly steps: readonly {
    readonly at: string
    readonly count: number
    readonly p50_ms: number | null
    readonly p99_ms: number | null
  }[]
  readonly outcomes: readonly Outcome[]
  readonly p50_ms: number | null
  readonly p99_ms: number | null
}

/** A rail at a glance: how much, how well, how fast. */
export const RailActivity = ({
  rail,
  minutes,
}: {
  readonly rail: Rail
  readonly minutes: number
}) => {
  const { label, list } = railLists[rail]
  const loaded = useLoaded(
    `activity ${rail} ${minutes}`,
    (purpose) => getJson<Activity>(`${list}/activity?minutes=${minutes}`, purpose),
    whenChanged(`${list}?limit=${followedMax}`, everyMs, gatherMs),
  )
  return (
    <Card title={label} aside={<Link to={`/payments?rail=${rail}`}>{words.all}</Link>}>
      <Shown loaded={loaded}>
        {(activity) =>
          activity.outcomes.length === 0 ? (
            <p class="empty">{w.quiet}</p>
          ) : (
            <Glance label={label} activity={activity} />
          )
        }
      </Shown>
    </Card>
  )
}

/**
 * The tone of an outcome. A void without a reason, or as `expired`, ends a payment that had succeeded; with another
 * reason, nobody knew its outcome, or there never was a payment.
 */
const toneOfOutcome = ({ status, reason }: Outcome): string => {
  if (status === 'refunded') return 'settled'
  if (status !== 'voided') return toneOf(status)
  return reason === null || reason === 'expired' ? 'settled' : 'failed'
}

const ofTone = (outcomes: readonly Outcome[], tone: string): number =>
  sumOf(outcomes.filter((one) => toneOfOutcome(one) === tone))

const msText = (ms: number | null): string => (ms === null ? '–' : duration(ms))

const Glance = ({ label, activity }: { readonly label: string; readonly activity: Activity }) => {
  const { outcomes, complete, from } = activity
  const all = sumOf(outcomes)
  const minutes = (Date.parse(activity.to) - Date.parse(from)) / 60_000
  const [settled, failed] = [ofTone(outcomes, 'settled'), ofTone(outcomes, 'failed')]
  const { shown, rest } = shownOf(outcomes)
  const isEnded = settled + failed > 0
  return (
    <>
      <p class="rate">
        <strong>{count(Math.round((all / minutes) * 10) / 10)}</strong> {w.perMinute}
      </p>
      <Facts
        isWide
        facts={[
          { name: w.success, value: isEnded ? percent(settled, settled + failed) : '–' },
          { name: w.median, value: msText(activity.p50_ms) },
          { name: w.late, value: msText(activity.p99_ms) },
          { name: w.open, value: count(ofTone(outcomes, 'pending')) },
        ]}
      />
      <Charts label={label} activity={activity} />
      <Facts
        facts={shown.map((one) => ({
          name: <Reason {...one} />,
          key: `${one.status} ${one.reason}`,
          value: count(one.count),
        }))}
      />
      {rest.length > 0 && (
        <p class="quiet">
          {fill(w.moreOutcomes, { kinds: count(rest.length), count: count(sumOf(rest)) })}
        </p>
      )}
      {!complete && <p class="quiet">{fill(w.part, { count: count(all), time: timeOf(from) })}</p>}
    </>
  )
}

const Reason = ({ status, reason }: Outcome) => (
  <>
    <Badge status={status} /> {reason !== null && <span class="mono">{reason}</span>}
  </>
)

/** Shows every step of the window: a step in which nothing began is a zero, not a gap. */
const Charts = ({ label, activity }: { readonly label: string; readonly activity: Activity }) => {
  const { from, to, step_seconds: step, steps } = activity
  const byAt = new Map(steps.map((one) => [Date.parse(one.at) / 1_000, one]))
  const first = Math.floor(Date.parse(from) / 1_000 / step) * step
  const many = Math.max(1, Math.ceil((Date.parse(to) / 1_000 - first) / step))
  const at = Array.from({ length: many }, (_, index) => first + index * step)
  const counts = at.map((second) => byAt.get(second)?.count ?? 0)
  const max = count(Math.max(...counts))
  return (
    <>
      <p class="caption">{w.count}</p>
      <Chart
        label={fill(w.chartOfCount, { rail: label, max })}
        at={at}
        isFilled
        series={[{ label: w.count, values: counts }]}
      />
      <p class="caption">{w.time} · p50 — · p99 ┄</p>
      <Chart
        label={fill(w.chartOfTime, { rail: label })}
        at={at}
        series={[
          { label: w.median, values: at.map((second) => byAt.get(second)?.p50_ms ?? null) },
          { label: w.late, values: at.map((second) => byAt.get(second)?.p99_ms ?? null) },
        ]}
      />
    </>
  )
}
