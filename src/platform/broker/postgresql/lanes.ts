import { type Queryable, textArray } from '#src/platform/database/index.ts'
import { partitionCount } from '../partition.ts'

/** The lower bits of a message's id, its order; the upper ones are its lane. */
const orderBits = 44n

export const laneOf = (id: bigint): number => Number(id >> orderBits)

/** Ids of a lane lie between, both excluded. */
export const lowOf = (lane: number): bigint => BigInt(lane) << orderBits
export const highOf = (lane: number): bigint => lowOf(lane + 1)

/**
 * The order above which waiting messages of a row of `broker_lanes` begin; only very late commits lie below. If the
 * sequence lags, as in a replica of rows alone, it draws ids below that: then the lane begins at its start.
 */
export const beginning = (sql: Queryable) => sql`
  case when low > (select last_value from broker_queue_order) then 0 else low end`

export type Lanes = {
  /** The lane of each partition of each topic. */
  readonly of: (
    topics: Iterable<string>,
    by: Queryable,
  ) => Promise<ReadonlyMap<string, readonly number[]>>
}

/**
 * Knows the lanes of the topics, which never change once they are made. Lanes of another topic are made when it is
 * first named: in a transaction by the transaction itself, as it may hold the only connection. It may roll back lanes
 * that it has made, so we remember lanes that we find there only if it made none.
 */
export const createLanes = (): Lanes => {
  const known = new Map<string, readonly number[]>()
  const makers = new WeakSet<Queryable>()
  return {
    of: async (topics, by) => {
      const names = [...new Set(topics)]
      if (names.every((topic) => known.has(topic))) return known
      let lanes = await readLanes(by)
      const fresh = names.filter((topic) => !lanes.has(topic))
      if (fresh.length > 0) {
        await makeLanes(by, fresh)
        lanes = await readLanes(by)
        if ('savepoint' in by) makers.add(by)
      }
      if (!makers.has(by)) for (const [topic, ofTopic] of lanes) known.set(topic, ofTopic)
      return lanes
    },
  }
}

const readLanes = async (sql: Queryable): Promise<ReadonlyMap<string, readonly number[]>> => {
  const rows = await sql<{ topic: string; lanes: number[] }[]>`
    select topic, json_agg(lane order by partition) as lanes from broker_lanes group by topic`
  return new Map(rows.map(({ topic, lanes }) => [topic, lanes]))
}

const makeLanes = async (sql: Queryable, topics: readonly string[]): Promise<void> => {
  await sql`
    insert into broker_lanes (topic, partition)
    select topic, partition
    from unnest(${textArray([...topics].sort())}::text::text[]) topic
    cross join generate_series(0, ${partitionCount}::int - 1) partition
    on conflict do nothing`
}
