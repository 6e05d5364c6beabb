import type { PendingQuery, Row } from 'postgres'
import { z } from 'zod'
import type { Client } from '../database/index.ts'
import { whole } from './text.ts'

/** A rail's recent work, for people and dashboards: a bounded part of it, however much is stored. */

const minutesMax = 1_440
const minutesDefault = 60
const bucketsOfWindow = 60
/** Activity counts at most this many rows, the newest. If there are more, `complete` says so. */
export const activityRowsMax = 5_000

export const activityQuery = z.strictObject({
  minutes: whole(1, minutesMax, minutesDefault).meta({
    description: 'How far back, in sixty steps of equal length.',
  }),
})

export const activitySchema = z
  .object({
    from: z.iso.datetime().meta({
      description: 'What began from here on is told of: later than was asked for if incomplete.',
    }),
    to: z.iso.datetime(),
    complete: z.boolean().meta({
      description: `False: there is more than the newest ${activityRowsMax}, which are told of.`,
    }),
    step_seconds: z.int(),
    steps: z
      .array(
        z.object({
          at: z.iso.datetime().meta({ description: 'Beginning of the step.' }),
          count: z.int().meta({ description: 'How many began in it.' }),
          p50_ms: z.int().nullable().meta({
            description: 'Half of those that have an outcome had it so soon; null where none has.',
          }),
          p99_ms: z.int().nullable(),
        }),
      )
      .meta({ description: 'Steps in which something began, the earliest first.' }),
    outcomes: z
      .array(z.object({ status: z.string(), reason: z.string().nullable(), count: z.int() }))
      .meta({ description: 'The state of each now, with the code of its reason; most first.' }),
    p50_ms: z.int().nullable(),
    p99_ms: z.int().nullable(),
  })
  .meta({ id: 'Activity' })

export type Activity = z.infer<typeof activitySchema>

/**
 * The rows that a rail looks at: at most one more than {@link activityRowsMax}, of the columns `at` (timestamptz),
 * `status`,
 * `reason` (text, null where there is none) and `ms` (float8, from its beginning to its outcome; null before that).
 */
export type ActivityRows = (window: {
  readonly from: Date
  readonly limit: number
}) => PendingQuery<Row[]>

type Found = {
  readonly counted: number
  readonly since: Date | null
  readonly middle: number | null
  readonly late: number | null
  readonly steps: readonly {
    readonly second: number
    readonly count: number
    readonly p50: number | null
    readonly p99: number | null
  }[]
  readonly outcomes: Activity['outcomes']
}

export const readActivity = async (
  sql: Client,
  minutes: number,
  rows: ActivityRows,
): Promise<Activity> => {
  const to = new Date()
  const asked = new Date(to.getTime() - minutes * 60_000)
  const stepSeconds = (minutes * 60) / bucketsOfWindow
  const [found] = await sql<Found[]>`
    with recent as materialized (${rows({ from: asked, limit: activityRowsMax + 1 })}),
    steps as (
      select floor(extract(epoch from at) / ${stepSeconds}) * ${stepSeconds} as second,
        count(*)::int as count,
        round(percentile_disc(0.5) within group (order by ms)) as p50,
        round(percentile_disc(0.99) within group (order by ms)) as p99
      from recent group by 1
    ),
    outcomes as (
      select status, reason, count(*)::int as count from recent group by 1, 2
      order by 3 desc, 1, 2 limit 100
    )
    select count(*)::int as counted, min(at) as since,
      round(percentile_disc(0.5) within group (order by ms)) as middle,
      round(percentile_disc(0.99) within group (order by ms)) as late,
      coalesce((select json_agg(s order by second) from steps s), '[]') as steps,
      coalesce((select json_agg(o) from outcomes o), '[]') as outcomes
    from recent`
  const isComplete = (found?.counted ?? 0) <= activityRowsMax
  const from = isComplete ? asked : (found?.since ?? asked)
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    complete: isComplete,
    step_seconds: stepSeconds,
    steps: (found?.steps ?? []).map(({ second, count, p50, p99 }) => ({
      at: new Date(second * 1_000).toISOString(),
      count,
      p50_ms: p50,
      p99_ms: p99,
    })),
    outcomes: found?.outcomes ?? [],
    p50_ms: found?.middle ?? null,
    p99_ms: found?.late ?? null,
  }
}
