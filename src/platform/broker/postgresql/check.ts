import type { Client } from '#src/platform/database/index.ts'
import { type Check, checkOf } from '#src/platform/lifecycle/feature.ts'
import { beginning } from './lanes.ts'

const check = checkOf('broker')

/** Whether new messages come after those that wait: a replica of rows alone leaves the sequence behind. */
export const checkOrder = async (sql: Client): Promise<readonly Check[]> => {
  const [row] = await sql<{ last: bigint; largest: bigint }[]>`
    select (select last_value - 1 + is_called::int from broker_queue_order) as last, coalesce(max(place), 0) as largest
    from broker_lanes cross join lateral (
      select id & ((1::bigint << 44) - 1) as place from broker_queue
      where id > (lane::bigint << 44) + ${beginning(sql)} and id < (lane + 1)::bigint << 44
      order by id desc limit 1
    ) newest`
  const { last = 0n, largest = 0n } = row ?? {}
  if (largest <= last) return [check.ok('new messages come last')]
  return [
    check.failed(
      `the sequence is at ${last}, a message at ${largest}`,
      `run: select setval('broker_queue_order', ${largest})`,
    ),
  ]
}
