import type { Queryable } from '#src/platform/database/index.ts'
import type { Channel } from '../../messages/index.ts'

/** Transactions with one EndToEndId. */
const sameIdMax = 100

/** The channel on which we received a payment; undefined when we do not know the payment. */
export const channelOfPayment = async (
  sql: Queryable,
  endToEndId: string,
): Promise<Channel | undefined> => {
  const [row] = await sql<{ channel: Channel | null }[]>`
    select m.channel from (
        select message_id from spi_transactions where end_to_end_id = ${endToEndId}
        order by end_to_end_id desc, message_id desc limit ${sameIdMax}
      ) t
      cross join lateral (
        select id, channel, direction, type from spi_messages where id = t.message_id limit 1
      ) m
    where m.direction = 'INBOUND' and m.type = 'pacs.008'
    order by m.id desc limit 1`
  return row?.channel ?? undefined
}
