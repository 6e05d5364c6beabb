import type { Queryable } from '#src/platform/database/index.ts'
import type { Channel } from '../../messages/index.ts'

/** The channel on which we received a payment; undefined when we do not know the payment. */
export const channelOfPayment = async (
  sql: Queryable,
  endToEndId: string,
): Promise<Channel | undefined> => {
  const [row] = await sql<{ channel: Channel | null }[]>`
    select channel from spi_messages
    where id in (select message_id from spi_transactions where end_to_end_id = ${endToEndId})
      and direction = 'INBOUND' and type = 'pacs.008'
    order by id desc limit 1`
  return row?.channel ?? undefined
}
