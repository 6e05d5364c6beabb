import type { Client } from '#src/platform/database/index.ts'

/** The id of the message with that number, for SQL: a UUIDv7 of `at`. */
const idOf = `(substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`

/** The EndToEndId of a payment with that number, made at the moment that its message tells. */
const endToEndIdOf = `'E12345678' || to_char(at at time zone 'UTC', 'YYYYMMDDHH24MI') || lpad(n::text, 11, '0')`

const document = Buffer.from(
  Bun.zstdCompressSync(Buffer.from(crypto.getRandomValues(new Uint8Array(300)).toHex())),
).toString('hex')

/**
 * Stores payments of the last `days` days with all that belongs to them, by statements of the test's own: half of them
 * sent, half received; of those sent the last 40 are open. Each amount from zero is one payment's, in no order of time.
 *
 * @param first - how many an earlier call has stored
 */
export const storeMany = async (
  sql: Client,
  count: number,
  days: number,
  first = 0,
): Promise<void> => {
  const last = first + count
  await sql.unsafe(`
    set local statement_timeout = 0;
    drop table if exists made;
    create table made as
    select n, ${idOf} as id, ${endToEndIdOf} as e2e,
      case when n % 2 = 0 then 'OUTBOUND' else 'INBOUND' end as direction,
      case when n % 2 = 1 then 'PROCESSED' when n > ${last} - 20 then 'QUEUED'
        when n > ${last} - 40 then 'UNKNOWN' when n > ${last} - 80 then 'SENT'
        else 'ACCEPTED' end as status
    from (
      select n, at, lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as h
      from (
        select n, now() - interval '1 minute' - make_interval(secs => (${last} - n) * ${(days * 86_400) / count}::float8) as at
        from generate_series(${first + 1}, ${last}) n
      ) moments
    ) ids;
    insert into spi_messages (id, type, definition, direction, status, channel, source_ispb, destination_ispb,
      end_to_end_id, biz_msg_idr, resource_id, transaction_count, signature, xml)
    select id, 'pacs.008', 'pacs.008.spi.1.13', direction, status, 'PRIMARY', '12345678', '00038166', e2e,
      'M' || n, 'R' || n, 1, 'NOT_CHECKED', '\\x${document}' from made;
    insert into spi_transactions (message_id, position, end_to_end_id, instruction_id, amount_cents, debtor_ispb,
      creditor_ispb, status)
    select id, 0, e2e, e2e, n * 7919::bigint % ${last}, '12345678', '87654321', case when n % 1000 = 0 then 'RJCT' else 'ACSC' end from made;
    insert into spi_history (message_id, position, status, at) select id, 0, 'QUEUED', now() from made;
    insert into spi_sendings (message_id, xml) select id, '\\x${document}' from made where direction = 'OUTBOUND';
    insert into spi_pending_answers (message_id, reference, outcome)
    select gen_random_uuid(), case when n % 5 = 0 then 'R' else 'X' end || n, 'ACCEPTED' from made where n % ${Math.ceil(count / 50)} = 0;
    insert into spi_message_keys (kind, key, message_id)
    select direction || ':BizMsgIdr', 'M' || n, id from made union all
    select direction || ':ResourceId', 'R' || n, id from made;`)
}

export type Made = { readonly id: string; readonly e2e: string; readonly n: number }

/** Sent and answered messages that {@link storeMany} made, spread over all days. */
export const madeOutbound = (sql: Client, count: number): Promise<readonly Made[]> =>
  sql<Made[]>`
    select id, e2e, n::int from made where status = 'ACCEPTED' order by md5(n::text) limit ${count}`
