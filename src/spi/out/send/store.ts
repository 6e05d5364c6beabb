import { type Queryable, textArray } from '#src/platform/database/index.ts'
import { trustedVerdicts } from '../../messages/domain.ts'
import type { Channel } from '../../messages/index.ts'

/** Transactions with one EndToEndId, of which the payment is among the first: what comes later cites it. */
const sameIdMax = 1_000

/** The channel on which we received a payment, the last of them; undefined when we do not know the payment. */
export const channelOfPayment = async (
  sql: Queryable,
  endToEndId: string,
): Promise<Channel | undefined> => {
  const [row] = await sql<{ channel: Channel | null }[]>`
    select m.channel from (
        select message_id from spi_transactions where end_to_end_id = ${endToEndId}
        order by end_to_end_id, message_id limit ${sameIdMax}
      ) t
      cross join lateral (
        select id, channel, direction, type from spi_messages where id = t.message_id limit 1
      ) m
    where m.direction = 'INBOUND' and m.type = 'pacs.008'
    order by m.id desc limit 1`
  return row?.channel ?? undefined
}

/** Who paid a payment that was received here, and who was paid; null where its message does not say. */
type PaidParties = {
  readonly endToEndId: string
  readonly debtorIspb: string | null
  readonly creditorIspb: string | null
}

/** Leaves out payments that were not received here. */
export const partiesOfReceived = (
  sql: Queryable,
  endToEndIds: readonly string[],
): Promise<readonly PaidParties[]> => sql<PaidParties[]>`
  select wanted.id as "endToEndId", received.*
  from unnest(${textArray(endToEndIds)}::text::text[]) as wanted(id)
    cross join lateral (
      select t.debtor_ispb as "debtorIspb", t.creditor_ispb as "creditorIspb"
      from (
          select message_id, debtor_ispb, creditor_ispb from spi_transactions
          where end_to_end_id = wanted.id order by end_to_end_id, message_id limit ${sameIdMax}
        ) t
        cross join lateral (
          select direction, type, signature from spi_messages where id = t.message_id limit 1
        ) m
      where m.direction = 'INBOUND' and m.type = 'pacs.008'
        and m.signature = any(${textArray(trustedVerdicts)}::text::text[])
      order by t.message_id limit 1
    ) received`
