import type { EmitWithin } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import { statusEvent } from './events.ts'
import { insertionOf } from './insertion.ts'
import { stepsOf } from './steps.ts'
import type { CardChange, NewRow } from './store.ts'
import type { Fragment, WritePart } from './write-part.ts'

type Written = {
  readonly inserted: string | null
  readonly changed: string | null
  /** Whether nobody takes an event of the steps; null where that was not asked. */
  readonly untaken: boolean | null
  /** The types of events that somebody takes, of those that were told. */
  readonly taken: string | null
}

type Results = { readonly inserted: readonly boolean[]; readonly changed: readonly boolean[] }

const run = async (
  sql: Queryable,
  { insertion, steps }: Record<'insertion' | 'steps', WritePart | undefined>,
  { untaken, taken }: Record<'untaken' | 'taken', Fragment | undefined>,
): Promise<Written> => {
  const ctes = [
    ...(untaken === undefined ? [] : [sql`untaken as materialized (select ${untaken} as is_so)`]),
    ...[insertion, steps].flatMap((part) => (part === undefined ? [] : [part.ctes])),
  ].map((part, at) => (at === 0 ? part : sql`, ${part}`))
  const [written] = await sql<[Written]>`
    with ${ctes}
    select ${insertion?.written ?? sql`null`} as inserted, ${steps?.written ?? sql`null`} as changed,
      ${untaken === undefined ? sql`null` : sql`(select is_so from untaken)`} as untaken,
      ${taken ?? sql`null`} as taken`
  return written
}

/**
 * Writes new transactions, and takes others to their next state: any number of both in one statement, which is one round
 * trip and one commit, and costs both sides as much as some ten rows.
 *
 * Whether anybody takes an event is decided by the statement itself. Where nobody did of late, it tells nobody, and
 * changes nothing if there is somebody now; then the steps are taken again, with all that tells them.
 *
 * @param emission tells subscribers of new statuses; undefined if there are none
 * @returns for each whether it was written: false for a new one if its key existed before, and for a step if the
 *   transaction has left the expected state
 */
export const writeTransactions = async (
  sql: Queryable,
  rows: readonly NewRow[],
  changes: readonly CardChange[],
  emission: EmitWithin | undefined,
): Promise<Results> => {
  if (rows.length + changes.length === 0) return { inserted: [], changed: [] }
  const events = changes.flatMap(({ before, after }) => statusEvent(before, after) ?? [])
  const telling = events.length === 0 ? undefined : emission
  const untaken = telling?.unlessTaken(sql, events)
  const insertion = rows.length === 0 ? undefined : insertionOf(sql, rows)
  const condition = untaken === undefined ? sql`true` : sql`(select is_so from untaken)`
  const steps =
    changes.length === 0
      ? undefined
      : stepsOf(sql, changes, condition, untaken === undefined ? telling : undefined)
  const written = await run(
    sql,
    { insertion, steps },
    { untaken, taken: untaken === undefined ? telling?.taken(sql) : undefined },
  )
  const inserted = insertion?.read(written.inserted) ?? []
  if (written.untaken === false) {
    telling?.learned(events, new Set(events.map(({ type }) => type)))
    return { inserted, changed: await changeTransactions(sql, changes, emission) }
  }
  if (telling !== undefined && untaken === undefined) {
    telling.learned(events, new Set(written.taken?.split(' ')))
    if (written.taken !== null) telling.tell(sql)
  }
  return { inserted, changed: steps?.read(written.changed) ?? [] }
}

/** The same of steps alone. */
export const changeTransactions = async (
  sql: Queryable,
  changes: readonly CardChange[],
  emission: EmitWithin | undefined,
): Promise<readonly boolean[]> => (await writeTransactions(sql, [], changes, emission)).changed
