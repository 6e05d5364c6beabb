import { type Client, textArray, uuidBound } from '#src/platform/database/index.ts'
import { type ActivityRows, readActivity } from '#src/platform/http/index.ts'
import { endStatuses, type MessageFilter, type Page } from './domain.ts'
import { createManyMatches } from './many-matches.ts'
import { findMessage, listMessages, readDocument } from './queries.ts'

export type MessageService = ReturnType<typeof createMessageService>

export const createMessageService = (sql: Client) => {
  const many = createManyMatches()
  return {
    list: (filter: MessageFilter, page: Page) => listMessages(sql, filter, page, many),
    find: (id: string) => findMessage(sql, id),
    activity: (minutes: number) => readActivity(sql, minutes, paymentActivity(sql)),
    document: (id: string) => readDocument(sql, id),
  }
}

/** The moment that a UUIDv7 tells of. */
const atOf = (sql: Client) => sql`
  to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`

/** Payments of late, sent and received, by the index of types; history and reasons by their keys. */
const paymentActivity =
  (sql: Client): ActivityRows =>
  ({ from, limit }) =>
    sql`
    select m.at, m.status, h.ms,
      case when m.status in ('REJECTED', 'FAILED') then coalesce(
        (select t.refusal from spi_transactions t
          where t.message_id = m.id and t.refusal is not null limit 1),
        m.error_code) end as reason
    from (
      select id, status, error_code, ${atOf(sql)} as at from spi_messages
      where type = 'pacs.008' and id >= ${uuidBound(from)}::uuid
      order by type desc, id desc limit ${limit}
    ) m left join lateral (
      select extract(epoch from h.at - m.at)::float8 * 1000 as ms from spi_history h
      where h.message_id = m.id and h.repetition is null and h.status = m.status
        and h.status = any(${textArray(endStatuses)}::text[])
      order by h.position desc limit 1
    ) h on true`
