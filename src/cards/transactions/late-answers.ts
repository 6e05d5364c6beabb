import { type Queryable, rowCount, textArray } from '#src/platform/database/index.ts'
import { isAdviceRow } from '../reversals/store.ts'

export type LateAnswerRow = {
  readonly network: string
  /** Its DE 37, or what that may be if it answers the authorization. */
  readonly rrns: readonly string[]
  /** DE 11 and DE 7 of the message that it answers, where DE 37 is not known; otherwise null. */
  readonly stan: string | null
  readonly transmission: string | null
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
  /** Other transactions keep it too, as nobody knows which of them it is about. */
  readonly isOneOfSeveral: boolean
  /** Somebody has taken back since what it is about: it needs nobody. */
  readonly isTakenBack: boolean
  /** True: no row with a lower id can be committed any more. */
  readonly isSettled: boolean
}

/** Longer than a commit takes: ids are given before it, and may come to light in another order. */
const settledSeconds = 60
/** We look for the last one that is too old among so many of the last ones. */
const lookedAtMax = 1_000_000

/** The last kept late answer that is too old; those before it are so, too, and need not be read. */
export const lateAnswersEndedBefore = async (sql: Queryable, seconds: number): Promise<bigint> => {
  const [last] = await sql<{ id: bigint }[]>`
    select id from (
      select id, at from card_events where type = 'late_answer'
      order by id desc limit ${rowCount(sql, lookedAtMax)}
    ) e where at <= now() - make_interval(secs => ${seconds}) limit 1`
  return last?.id ?? 0n
}

/** Kept late answers after that event, which are old enough for their requests to be over, oldest first. */
export const lateAnswersAfter = (
  sql: Queryable,
  eventId: bigint,
  ages: { readonly secondsMin: number; readonly secondsMax: number },
  limit: number,
): Promise<readonly KeptLateAnswer[]> => sql<KeptLateAnswer[]>`
  select e.id as "eventId", e.transaction_id as id, t.network, e.data ->> 'mti' as mti,
    e.data ->> 'stan' as stan, e.data ->> 'response_code' as "responseCode",
    e.data -> 'candidates' is not null as "isOneOfSeveral",
    exists (
      select from card_reversals r
      where r.transaction_id = e.transaction_id and (r.ended_at is null or r.ended_at > e.at)
        and e.data ->> 'stan' in (r.original_stan, r.stan)) as "isTakenBack",
    e.at < now() - make_interval(secs => ${settledSeconds}) as "isSettled"
  from card_events e join card_transactions t on t.id = e.transaction_id
  where e.type = 'late_answer' and e.id > ${eventId}
    and e.at > now() - make_interval(secs => ${ages.secondsMax})
    and e.at < now() - make_interval(secs => ${ages.secondsMin})
  order by e.id limit ${limit}`

/** Late answers that a transaction keeps: a network may repeat itself without end, and twenty say all that it says. */
const keptMax = 20

/** Whether another late answer of the transaction `f` is kept. */
const hasRoom = (sql: Queryable) => sql`(
  select count(*) from (
    select from card_events e where e.transaction_id = f.id and e.type = 'late_answer' limit ${keptMax}
  ) kept) < ${keptMax}`

/**
 * Stores late answers with their transactions, at the time of the database: the one that whatever is compared with them
 * has, whichever process heard them.
 *
 * @returns the ids of those found, in order
 */
export const attachLateAnswers = async (
  sql: Queryable,
  answers: readonly LateAnswerRow[],
): Promise<readonly (string | undefined)[]> => {
  const input = answers.map((answer, position) => ({ ...answer, position }))
  const attached = await sql<{ id: string; position: number }[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json)
        as i(position int, network text, rrns text[], stan text, transmission text, data jsonb)
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
      select f.id, 'late_answer', f.data, now() from found f where ${hasRoom(sql)}
    )
    select id, position from found`
  const ids = new Map(attached.map(({ id, position }) => [position, id]))
  return answers.map((_, at) => ids.get(at))
}

/** An answer that has neither DE 37 nor DE 7; undefined is what it leaves out. */
export type NamelessAnswer = {
  readonly network: string
  readonly stan: string
  /** The possible DE 37 of the authorization that it answers. */
  readonly rrns: readonly string[]
  readonly answers: 'payment' | 'void'
  /** DE 4, DE 49 by letters, DE 41 and DE 42. */
  readonly amountCents: bigint | undefined
  readonly currency: string | undefined
  readonly terminalId: string | undefined
  readonly merchantId: string | undefined
}

/** How long a message may be without its answer for one that has its DE 11 alone. */
export const namelessHours = 4

/**
 * The transactions of which a message had its DE 11 of late, and agrees with what else it tells: those of its merchant,
 * if there are any; newest first.
 */
export const candidatesOf = async (
  sql: Queryable,
  answer: NamelessAnswer,
  limit: number,
): Promise<readonly string[]> => {
  const { network, stan, currency = null, terminalId = null, merchantId = null } = answer
  const amountCents = answer.amountCents === undefined ? null : String(answer.amountCents)
  const isVoid = answer.answers === 'void'
  const found = await sql<{ id: string; isOfMerchant: boolean | null }[]>`
    with named as (
      select id, greatest(amount_cents, requested_cents) as cents from card_transactions
      where not ${isVoid}::boolean and network = ${network} and stan = ${stan}
        and rrn = any(${textArray(answer.rrns)}::text::text[])
      union all
      select e.transaction_id, (e.data ->> 'amount')::bigint from card_events e
      where right(e.type, 5) = '_sent' and e.data ->> 'stan' = ${stan}
        and e.at > now() - make_interval(hours => ${namelessHours})
        and ${isVoid}::boolean = (e.type in ('void_sent', 'partial_void_sent', 'release_sent'))
      union all
      select r.transaction_id, r.amount_cents from card_reversals r
      where r.network = ${network} and r.stan = ${stan}
        and r.last_attempt_at > now() - make_interval(hours => ${namelessHours})
        and ${isVoid}::boolean <> (${isAdviceRow(sql)})
    )
    select t.id, bool_or(t.merchant_id = ${merchantId}::text) as "isOfMerchant"
    from named n join card_transactions t on t.id = n.id
    where t.network = ${network}
      and (n.cents is null or ${amountCents}::bigint is null or n.cents >= ${amountCents}::bigint)
      and (${currency}::text is null or t.currency = ${currency}::text)
      and (t.terminal_id is null or ${terminalId}::text is null or t.terminal_id = ${terminalId}::text)
    group by t.id order by "isOfMerchant" desc nulls last, t.id desc limit ${limit}`
  const ofMerchant = found.filter(({ isOfMerchant }) => isOfMerchant === true)
  return (ofMerchant.length > 0 ? ofMerchant : found).map(({ id }) => id)
}

/** Stores a late answer with each transaction that it may belong to. */
export const keepLateAnswer = async (
  sql: Queryable,
  ids: readonly string[],
  data: LateAnswerRow['data'],
): Promise<void> => {
  const told = JSON.stringify(ids.length === 1 ? data : { ...data, candidates: ids.length })
  await sql`
    insert into card_events (transaction_id, type, data, at)
    select f.id, 'late_answer', ${told}::text::jsonb, now()
    from unnest(${textArray(ids)}::text::text[]) as f(id) where ${hasRoom(sql)}`
}
