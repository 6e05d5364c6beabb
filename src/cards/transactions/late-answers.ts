import type { Queryable } from '#src/platform/database/index.ts'

export type LateAnswerRow = {
  readonly network: string
  /** Its DE 37, or what that may be if it answers the authorization. */
  readonly rrns: readonly string[]
  /** DE 11 and DE 7 of the message that it answers, where DE 37 is not known; otherwise null. */
  readonly stan: string | null
  readonly transmission: string | null
  readonly at: Date
  readonly data: Readonly<Record<string, string | null>>
}

/** A late answer as it was kept. */
export type KeptLateAnswer = {
  readonly eventId: bigint
  readonly id: string
  readonly network: string
  readonly mti: string
  readonly stan: string | null
  readonly responseCode: string | null
}

/** Kept late answers after that event, which are old enough for their requests to be over, oldest first. */
export const lateAnswersAfter = (
  sql: Queryable,
  eventId: bigint,
  ages: { readonly secondsMin: number; readonly secondsMax: number },
  limit: number,
): Promise<readonly KeptLateAnswer[]> => sql<KeptLateAnswer[]>`
  select e.id as "eventId", e.transaction_id as id, t.network, e.data ->> 'mti' as mti,
    e.data ->> 'stan' as stan, e.data ->> 'response_code' as "responseCode"
  from card_events e join card_transactions t on t.id = e.transaction_id
  where e.type = 'late_answer' and e.id > ${eventId}
    and e.at > now() - make_interval(secs => ${ages.secondsMax})
    and e.at < now() - make_interval(secs => ${ages.secondsMin})
    -- What somebody has taken back since needs nobody.
    and not exists (
      select from card_reversals r
      where r.transaction_id = e.transaction_id and (r.ended_at is null or r.ended_at > e.at)
        and e.data ->> 'stan' in (r.original_stan, r.stan))
  order by e.id limit ${limit}`

/** Stores late answers with their transactions. @returns the ids of those found, in order */
export const attachLateAnswers = async (
  sql: Queryable,
  answers: readonly LateAnswerRow[],
): Promise<readonly (string | undefined)[]> => {
  const input = answers.map((answer, at) => ({ ...answer, at: answer.at, position: at }))
  const attached = await sql<{ id: string; position: number }[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json)
        as i(position int, network text, rrns text[], stan text, transmission text, at timestamptz, data jsonb)
    ),
    found as (
      select i.*, t.id from input i cross join lateral (
        select coalesce(
          (select id from card_transactions c
            where c.network = i.network and c.rrn = any(i.rrns)
              and (i.transmission is null or c.transmission = i.transmission)
            order by id desc limit 1),
          -- What follows an authorization has its DE 37, and numbers of its own.
          (select c.id from card_events e join card_transactions c on c.id = e.transaction_id
            where right(e.type, 5) = '_sent' and e.data ->> 'stan' = i.stan
              and e.data ->> 'transmission' = i.transmission and c.network = i.network limit 1),
          (select r.transaction_id from card_reversals r
            where r.network = i.network and r.stan = i.stan and r.transmission = i.transmission limit 1)
        ) as id
      ) t
      where t.id is not null
    ),
    events as (
      insert into card_events (transaction_id, type, data, at)
      select id, 'late_answer', data, at from found
    )
    select id, position from found`
  const ids = new Map(attached.map(({ id, position }) => [position, id]))
  return answers.map((_, at) => ids.get(at))
}
