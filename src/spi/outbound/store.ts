import type { Queryable } from '#src/platform/database/index.ts'
import { uuidBound } from '#src/platform/partitions/index.ts'
import { bytesArray, textArray } from '#src/platform/sql/index.ts'
import type { Channel, MessageStatus } from '../messages/index.ts'

/** A message of ours as far as sending it needs. */
export type StoredOutbound = {
  readonly id: string
  readonly type: string
  readonly status: MessageStatus
  readonly channel: Channel
  readonly endToEndId: string | null
  readonly bizMsgIdr: string
}

export const findOutbound = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredOutbound>> => {
  const rows = await sql<StoredOutbound[]>`
    select id, type, status, channel, end_to_end_id as "endToEndId", biz_msg_idr as "bizMsgIdr"
    from spi_messages
    where id = any(${textArray(ids)}::text::uuid[]) and direction = 'OUTBOUND'`
  return new Map(rows.map((row) => [row.id, row]))
}

/** Faster than gzip's least, and smaller. */
const compressionLevel = 1

/** Keeps what was sent in place of what was queued: the same message, now with its signature. */
export const replaceDocuments = async (
  sql: Queryable,
  documents: readonly { readonly id: string; readonly xml: Uint8Array }[],
): Promise<void> => {
  if (documents.length === 0) return
  const compressed = documents.map(({ xml }) =>
    Bun.zstdCompressSync(xml, { level: compressionLevel }),
  )
  await sql`
    update spi_messages message set xml = given.xml
    from unnest(${textArray(documents.map(({ id }) => id))}::text::uuid[],
      ${bytesArray(compressed)}::text::bytea[]) as given(id, xml)
    where message.id = given.id`
}

export type Unanswered = StoredOutbound & { readonly xml: Uint8Array }

/** Types whose answer decides over money. */
const answeredTypes = ['pacs.008', 'pacs.004']

/**
 * Payments and returns sent between two moments that nobody has answered, oldest first. The rows are locked until the
 * transaction ends; those another process works on are left out.
 */
export const lockUnanswered = async (
  sql: Queryable,
  range: { readonly from: Date; readonly to: Date },
  limit: number,
  except: readonly string[],
): Promise<readonly Unanswered[]> => {
  const rows = await sql<(Omit<Unanswered, 'xml'> & { readonly xml: Buffer })[]>`
    select id, type, status, channel, end_to_end_id as "endToEndId", biz_msg_idr as "bizMsgIdr", xml
    from spi_messages
    where status in ('SENT', 'UNKNOWN') and direction = 'OUTBOUND'
      and type = any(${textArray(answeredTypes)}::text::text[])
      and id >= ${uuidBound(range.from)}::uuid and id < ${uuidBound(range.to)}::uuid
      and id <> all(${textArray(except)}::text::uuid[])
    order by id limit ${limit} for update skip locked`
  return rows.map(({ xml, ...row }) => ({ ...row, xml: Bun.zstdDecompressSync(xml) }))
}

/** How many payments and returns wait for an answer past the limit. */
export const countUnknown = async (sql: Queryable): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from spi_messages
    where status = 'UNKNOWN' and direction = 'OUTBOUND'`
  return row?.count ?? 0
}
