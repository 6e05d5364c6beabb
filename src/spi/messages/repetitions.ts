import { looksLikeOne, type Queryable, textArray, uuidBound } from '#src/platform/database/index.ts'
import type { Repetition } from './domain.ts'

/** Says of a message that it went out after a moment: made, unless that was long before. */
export const isKnown = (sql: Queryable, from: Date) => sql`
  (id >= ${uuidBound(from)}::uuid or sent_at >= ${from} or in_doubt_since >= ${from})`

/**
 * Notes in the history of messages that each was sent once more. The first repetition has an entry of its own; all
 * later ones share another that counts them, so a message that we send again all day has two. Leaves out messages that
 * are decided by now.
 *
 * @returns the number of the repetition, by id, from 1
 */
export const noteRepetitions = async (
  tx: Queryable,
  repetitions: readonly Repetition[],
): Promise<ReadonlyMap<string, number>> => {
  const sorted = textArray(repetitions.map(({ id }) => id).sort())
  // A separate statement takes the locks, so that the next one reads positions that nobody else can change.
  await tx`
    select from unnest(${sorted}::text::uuid[]) as wanted(id)
      cross join lateral (select from spi_messages where id = wanted.id limit 1 for update) locked`
  const rows = await tx<{ id: string; repetition: number }[]>`
    with wanted as (
      select message.id, message.status, given.detail, history.last, history.repetitions
      from json_to_recordset(${JSON.stringify(repetitions)}::text::json)
          as given(id uuid, detail text, nothing text)
        cross join lateral (
          select id, status from spi_messages where id = given.id limit 1
        ) message
        cross join lateral (
          select max(position) as last, coalesce(max(repetition), 0) as repetitions
          from spi_history where message_id = given.id
        ) history
      where ${looksLikeOne(tx)} and message.status in ('QUEUED', 'UNKNOWN')
    ), counted as (
      update spi_history history
      set position = wanted.last + 1, status = wanted.status, at = now(), detail = wanted.detail,
        repetition = wanted.repetitions + 1
      from wanted
      where history.message_id = wanted.id and history.repetition = wanted.repetitions
        and wanted.repetitions > 1
      returning history.message_id as id, history.repetition
    ), added as (
      insert into spi_history (message_id, position, status, detail, repetition)
      select id, last + 1, status, detail, repetitions + 1 from wanted where repetitions < 2
      returning message_id as id, repetition
    )
    select * from counted union all select * from added`
  return new Map(rows.map(({ id, repetition }) => [id, repetition]))
}

export type RepetitionOutcome = Repetition & { readonly repetition: number }

/** Notes the results of repetitions that we had noted before they went out, unless another has followed by now. */
export const setRepetitionOutcomes = async (
  sql: Queryable,
  outcomes: readonly RepetitionOutcome[],
): Promise<void> => {
  if (outcomes.length === 0) return
  await sql`
    update spi_history history set detail = outcome.detail
    from json_to_recordset(${JSON.stringify(outcomes)}::text::json)
      as outcome(id uuid, repetition int, detail text, nothing text)
    where ${looksLikeOne(sql)} and history.message_id = outcome.id
      and history.repetition = outcome.repetition`
}
