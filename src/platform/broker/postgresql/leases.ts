import { type Client, looksLikeOne, textArray } from '#src/platform/database/index.ts'
import { beginning, type Lanes, lowOf } from './lanes.ts'
import { type Claimed, lowWaterOf, newLane, type OwnedLane } from './owned-lane.ts'
import type { Session } from './session.ts'

export type Leases = {
  /** The lanes of a topic that this process has. */
  readonly of: (topic: string) => readonly OwnedLane[]
  readonly find: (lane: number) => OwnedLane | undefined
  /** Renews, shares with other processes, claims: one statement while nothing changes. */
  readonly turn: (lanes: Lanes) => Promise<void>
  /** Tells the next owners of the lanes to begin where we read them now, before we hand out what is there. */
  readonly lower: (lanes: readonly OwnedLane[]) => Promise<void>
  readonly join: (topic: string) => void
  /** Claims no more lanes of a topic, and gives back the idle ones. */
  readonly retire: (topic: string) => void
  /** Gives the lanes of a topic back. */
  readonly leave: (topic: string) => Promise<void>
}

/** How one topic is shared at present. */
type Sharing = {
  readonly topic: string
  readonly lanes: number
  readonly free: number
  readonly others: number
}

const forgetSeconds = 60

/**
 * The lanes that this process reads. Each is leased by a row with an expiry: a process that dies or stands still keeps
 * its lanes no longer than that, and the database's clock alone decides. A lease that lies further ahead than one can
 * be was written by another clock, or came with a dump: it counts as over.
 */
export const createLeases = (deps: {
  readonly session: Session
  readonly leaseMs: number
  readonly onClaimed: (topic: string) => void
}): Leases => {
  const { session, leaseMs, onClaimed } = deps
  /** New at every start: a process that comes back under the same name must not find its old leases. */
  const me = crypto.randomUUID()
  const joined = new Set<string>()
  const owned = new Map<number, OwnedLane>()
  const seconds = leaseMs / 1000
  /** Asks run one after the other: a claim must not follow the leaving of its topic. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (work: (sql: Client) => Promise<void>): Promise<void> => {
    const turn = last.then(() => session.ask(work))
    last = turn.catch(() => {})
    return turn
  }

  const lose = (lane: OwnedLane): void => {
    owned.delete(lane.lane)
    lane.gone.abort()
  }
  const of = (topic: string): readonly OwnedLane[] =>
    [...owned.values()].filter((lane) => lane.topic === topic)

  const renew = async (sql: Client): Promise<readonly Sharing[]> => {
    const askedMs = performance.now()
    const before = [...owned.values()]
    const [row] = await renewAll(sql, me, [...joined], before, seconds)
    const renewed = new Set(row?.renewed)
    for (const lane of before) {
      if (renewed.has(lane.lane)) lane.untilMs = askedMs + leaseMs
      else lose(lane)
    }
    return row?.sharing ?? []
  }

  const release = async (sql: Client, lanes: readonly OwnedLane[]): Promise<void> => {
    if (lanes.length === 0) return
    const mine = reachedIn(sql, lanes)
    for (const lane of lanes) lose(lane)
    await sql`
      update broker_lanes set owner = null, until = null, low = reached from ${mine}
      where ${looksLikeOne(sql)} and lane = held and owner = ${me}`
  }

  const claim = async (sql: Client, wanted: readonly Wanted[]): Promise<void> => {
    const untilMs = performance.now() + leaseMs
    const claimed = await claimLanes(sql, me, wanted, seconds)
    for (const one of claimed) {
      const known = owned.get(one.lane)
      if (known !== undefined) lose(known)
      owned.set(one.lane, newLane(one, me, untilMs))
    }
    for (const topic of new Set(claimed.map(({ topic }) => topic))) onClaimed(topic)
  }

  return {
    of,
    find: (lane) => owned.get(lane),
    join: (topic) => {
      joined.add(topic)
    },
    retire: (topic) => {
      joined.delete(topic)
    },
    turn: (lanes) =>
      inTurn(async (sql) => {
        // Makes the lanes of topics that nobody has named before.
        await lanes.of(joined, sql)
        const { surplus, wanted } = shareOf(await renew(sql), of)
        const retired = [...owned.values()].filter((one) => !joined.has(one.topic) && isIdle(one))
        await release(sql, [...surplus, ...retired])
        const still = wanted.filter(({ topic }) => joined.has(topic))
        if (still.length > 0) await claim(sql, still)
      }),
    lower: (lanes) =>
      inTurn(async (sql) => {
        await sql`
          update broker_lanes set low = reached from ${reachedIn(sql, lanes)}
          where ${looksLikeOne(sql)} and lane = held and owner = ${me}`
      }),
    leave: async (topic) => {
      await inTurn(async (sql) => {
        joined.delete(topic)
        await release(sql, of(topic))
        if (joined.size === 0) await sql`delete from broker_members where member = ${me}`
      })
    },
  }
}

type Wanted = { readonly topic: string; readonly count: number }

/** The lanes that this process must give back, or may take, so that all processes have equally many. */
const shareOf = (
  sharing: readonly Sharing[],
  of: (topic: string) => readonly OwnedLane[],
): { readonly surplus: readonly OwnedLane[]; readonly wanted: readonly Wanted[] } => {
  const surplus: OwnedLane[] = []
  const wanted: Wanted[] = []
  for (const { topic, lanes, free, others } of sharing) {
    const mine = of(topic)
    const due = Math.ceil(lanes / (others + 1))
    // We keep lanes at work rather than idle ones, which we can give back at once.
    const busyFirst = [...mine].sort((a, b) => Number(isIdle(a)) - Number(isIdle(b)))
    for (const [place, lane] of busyFirst.entries()) lane.isSurplus = place >= due
    surplus.push(...mine.filter((lane) => lane.isSurplus && isIdle(lane)))
    const count = Math.min(due - mine.length, free)
    if (count > 0) wanted.push({ topic, count })
  }
  return { surplus, wanted }
}

const isIdle = ({ inHand }: OwnedLane): boolean => inHand === undefined

/** For a `from`: lanes, and the order that each has reached. */
const reachedIn = (sql: Client, lanes: readonly OwnedLane[]) => sql`
  unnest(${textArray(lanes.map(({ lane }) => lane))}::text::int[],
    ${textArray(lanes.map((one) => lowWaterOf(one) - lowOf(one.lane)))}::text::bigint[],
    null::text[]) as mine(held, reached, nothing)`

/** A lane that is ours in its row alone, because an answer was lost, is not renewed: its lease ends. */
const renewAll = (
  sql: Client,
  me: string,
  topics: readonly string[],
  held: readonly OwnedLane[],
  seconds: number,
) =>
  sql<{ renewed: number[]; sharing: Sharing[] }[]>`
    with me as (
      insert into broker_members (member, topics, until)
      values (${me}, ${textArray(topics)}::text::text[], now() + make_interval(secs => ${seconds}))
      on conflict (member) do update set topics = excluded.topics, until = excluded.until
    ), forgotten as (
      delete from broker_members where until < now() - make_interval(secs => ${forgetSeconds})
    ), renewed as (
      update broker_lanes set until = now() + make_interval(secs => ${seconds}), low = reached
      from ${reachedIn(sql, held)}
      where ${looksLikeOne(sql)} and lane = held and owner = ${me} and until > now() returning lane
    ), sharing as (
      select topic, count(*)::int as lanes,
        count(*) filter (where until is null
          or until not between now() and now() + make_interval(secs => ${2 * seconds}))::int as free,
        (select count(*)::int from broker_members m
          where m.member <> ${me} and lanes.topic = any(m.topics)
            and m.until between now() and now() + make_interval(secs => ${2 * seconds})) as others
      from broker_lanes lanes
      where topic = any(${textArray(topics)}::text::text[]) group by topic
    )
    select coalesce((select json_agg(lane) from renewed), '[]') as renewed,
      coalesce((select json_agg(sharing) from sharing), '[]') as sharing`

const claimLanes = (
  sql: Client,
  me: string,
  wanted: readonly Wanted[],
  seconds: number,
): Promise<readonly Claimed[]> => sql<Claimed[]>`
  with free as materialized (
    select lanes.lane, lanes.owner
    from unnest(${textArray(wanted.map(({ topic }) => topic))}::text::text[],
      ${textArray(wanted.map(({ count }) => count))}::text::int[]) as wanted(topic, count)
    cross join lateral (
      select lane, owner from broker_lanes
      where broker_lanes.topic = wanted.topic and (until is null
        or until not between now() and now() + make_interval(secs => ${2 * seconds}))
      order by lane limit wanted.count for update skip locked
    ) lanes
  )
  update broker_lanes set owner = ${me}, until = now() + make_interval(secs => ${seconds})
  from free where broker_lanes.lane = free.lane
  returning broker_lanes.lane, topic, partition, ${beginning(sql)} as low, free.owner as before`
