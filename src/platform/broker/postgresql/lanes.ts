import { type Client, type Queryable, textArray } from '#src/platform/database/index.ts'
import { partitionCount } from '../partition.ts'

/** The lower bits of a message's id, its order; the upper ones are its lane. */
const orderBits = 44n

export const laneOf = (id: bigint): number => Number(id >> orderBits)

/** Ids of a lane lie between, both excluded. */
export const lowOf = (lane: number): bigint => BigInt(lane) << orderBits
export const highOf = (lane: number): bigint => lowOf(lane + 1)

export type Lanes = {
  /** The lane of each partition of each topic. */
  readonly of: (
    topics: Iterable<string>,
    by: Queryable,
  ) => Promise<ReadonlyMap<string, readonly number[]>>
  /** None before the topic was named here. */
  readonly known: (topic: string) => readonly number[]
}

/**
 * Knows the lanes of the topics, which never change once they are made. Lanes of another topic are made when it is first
 * named, outside of the caller's transaction: they stay if that fails.
 */
export const createLanes = (sql: Client): Lanes => {
  const known = new Map<string, readonly number[]>()
  const load = async (by: Queryable): Promise<void> => {
    const rows = await by<{ topic: string; lanes: number[] }[]>`
      select topic, json_agg(lane order by partition) as lanes from broker_lanes group by topic`
    for (const { topic, lanes } of rows) known.set(topic, lanes)
  }
  return {
    of: async (topics, by) => {
      const unknown = () => [...new Set(topics)].filter((topic) => !known.has(topic))
      if (unknown().length > 0) await load(by)
      const fresh = unknown()
      if (fresh.length > 0) {
        await makeLanes(sql, fresh)
        await load(sql)
      }
      return known
    },
    known: (topic) => known.get(topic) ?? [],
  }
}

const makeLanes = async (sql: Client, topics: readonly string[]): Promise<void> => {
  await sql`
    insert into broker_lanes (topic, partition)
    select topic, partition
    from unnest(${textArray([...topics].sort())}::text::text[]) topic
    cross join generate_series(0, ${partitionCount}::int - 1) partition
    on conflict do nothing`
}
