import type { Queryable } from '#src/platform/database/index.ts'

export type LateAnswerRow = {
  readonly network: string
  readonly rrn: string
  readonly at: Date
  readonly data: Readonly<Record<string, string | null>>
}

/** Stores late answers with their transactions. @returns the ids of those found, in order */
export const attachLateAnswers = async (
  sql: Queryable,
  answers: readonly LateAnswerRow[],
): Promise<readonly (string | undefined)[]> => {
  const input = answers.map((answer, at) => ({ ...answer, at: answer.at, position: at }))
  const attached = await sql<{ id: string; position: number }[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json)
        as i(position int, network text, rrn text, at timestamptz, data jsonb)
    ),
    found as (
      select i.*, t.id from input i cross join lateral (
        select id from card_transactions c where c.network = i.network and c.rrn = i.rrn
        order by id desc limit 1
      ) t
    ),
    events as (
      insert into card_events (transaction_id, type, data, at)
      select id, 'late_answer', data, at from found
    )
    select id, position from found`
  const ids = new Map(attached.map(({ id, position }) => [position, id]))
  return answers.map((_, at) => ids.get(at))
}
