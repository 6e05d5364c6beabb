import { definitionOf, messageTypes } from '#codecs/iso20022'
import { type Queryable, textArray } from '#src/platform/database/index.ts'

const acknowledgement = 'admi.004'

/** Types that no message answers, whatever they say. */
const unawaitedTypes = messageTypes.filter((type) => {
  const { answeredWith } = definitionOf(type).exchange
  return answeredWith === null || answeredWith === acknowledgement
})

/**
 * Says of the row `message` that no answer is due. Limits keep the planner from reading all rows of the tables that it
 * looks into.
 */
export const isUnawaited = (sql: Queryable) => sql`(
  message.type = any(${textArray(unawaitedTypes)}::text::text[])
  or (message.type = 'pacs.002' and (
    select position from spi_transactions
    where message_id = message.id and (status is null or status <> 'RJCT') limit 1) is null)
  or (message.type = 'camt.055' and (
    select status from spi_recurrence_steps where message_id = message.id limit 1) = 'DHIP'))`

/** Returns those of these messages to which no answer is due. */
export const unawaitedAmong = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (ids.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    select message.id from unnest(${textArray(ids)}::text::uuid[]) as wanted(id)
      cross join lateral (
        select id, type from spi_messages where id = wanted.id limit 1
      ) message
    where ${isUnawaited(sql)}`
  return new Set(rows.map(({ id }) => id))
}
