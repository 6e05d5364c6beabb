import { type Client, constants, type Queryable } from '#src/platform/database/index.ts'
import { createJob } from '#src/platform/jobs/index.ts'
import type { BookLine, Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { countedMax, momentOf, openStatuses } from './domain.ts'

const lookEveryMsDefault = 10_000
/** A message that nobody has sent for so long: a sender sends within seconds, and a queue that grows is told sooner. */
const queuedLongSeconds = 30

/**
 * What is QUEUED waits to be sent, unless it stands in the line of a channel that may take no more yet: however long that
 * lasts, nothing is wrong.
 */
const states = [...openStatuses, 'IN_LINE'] as const
type State = (typeof states)[number]

type Open = {
  readonly status: State
  readonly count: number
  readonly oldest: Date | null
  readonly ageSeconds: number
}

/**
 * Tells, in every process that has the database, how many messages are open and how old the oldest is: that nobody sends
 * can only be told by those who do not.
 */
export const createOpenMessages = (deps: {
  readonly sql: Client
  readonly logger: Logger
  readonly metrics: Metrics
  readonly lookEveryMs?: number
}): Feature => {
  const { sql, logger, metrics, lookEveryMs = lookEveryMsDefault } = deps
  let known: readonly Open[] = []
  const job = createJob({
    name: 'open messages',
    everyMs: lookEveryMs,
    isAwaited: true,
    logger,
    run: async () => {
      known = await findOpen(sql)
    },
  })
  const show = (name: string, help: string, read: (open: Open) => number): void => {
    metrics.gauge(name, help, ['status'], (gauge) => {
      for (const open of known) gauge.set({ status: open.status }, read(open))
    })
  }
  show(
    'trilho_spi_messages_open',
    `Messages in a state that does not last, up to ${countedMax} of each, seen by any process.`,
    ({ count }) => count,
  )
  show(
    'trilho_spi_messages_open_oldest_seconds',
    'Age of the oldest of them.',
    ({ ageSeconds }) => ageSeconds,
  )
  return {
    name: 'payments',
    book: async () => bookOf(await findOpen(sql), await lastMessage(sql)),
    start: job.start,
    drain: job.stop,
    health: () => {
      const detail = Object.fromEntries(
        known.map(({ status, count, ageSeconds }) => [
          status.toLowerCase(),
          { count, oldest_seconds: Math.round(ageSeconds) },
        ]),
      )
      const queued = known.find(({ status }) => status === 'QUEUED')?.ageSeconds ?? 0
      if (queued < queuedLongSeconds) return { status: 'ok', ready: true, detail }
      // They are kept, and sent once somebody does: no reason to refuse more.
      const reason = `a message has waited to be sent for ${Math.round(queued)} s`
      return { status: 'degraded', ready: true, reason, detail }
    },
  }
}

const bookOf = (open: readonly Open[], last: Date | null): readonly BookLine[] => [
  { what: 'instant payments', open: 0, oldestOpen: null, last },
  ...open.map(({ status, count, oldest }) => ({
    what: `instant payments ${status}`,
    open: count,
    oldestOpen: oldest,
    last: null,
  })),
]

const lastMessage = async (sql: Client): Promise<Date | null> => {
  const [row] = await sql<{ id: string }[]>`select id from spi_messages order by id desc limit 1`
  return row === undefined ? null : momentOf(row.id)
}

/**
 * Reads a bounded part of an index of each state; the age is of the database's clock. Each state stands in the statement:
 * of one that comes as a value the planner thinks it holds a fair share of all messages, and reads them all.
 */
const findOpen = async (sql: Client): Promise<readonly Open[]> => {
  const rows = await sql<{ status: State; count: number; oldest: string | null; now: Date }[]>`
    ${states.map(
      (state, index) => sql`
        ${index === 0 ? sql`` : sql`union all`}
        select ${state} as status, clock_timestamp() as now, count(*)::int as count,
          min(id::text collate "C") as oldest
        from (select id from spi_messages where ${inState(sql, state)} limit ${countedMax}) as counted`,
    )}`
  return rows.map(({ status, count, oldest, now }) => ({
    status,
    count,
    oldest: oldest === null ? null : momentOf(oldest),
    ageSeconds:
      oldest === null ? 0 : Math.max(0, (now.getTime() - momentOf(oldest).getTime()) / 1000),
  }))
}

/** Ends with the order of the index that has them. */
const inState = (sql: Queryable, state: State) => {
  if (state === 'QUEUED') {
    return sql`status = 'QUEUED' and waits_for is null order by requeue_after, id`
  }
  if (state === 'IN_LINE') {
    return sql`status = 'QUEUED' and waits_for is not null order by waits_for, id`
  }
  return sql`status = ${constants(sql, [state])} order by status, id`
}
