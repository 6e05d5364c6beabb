import {
  type Client,
  createGatherer,
  isRowFault,
  joinedBytes,
  looksLikeOne,
  type Queryable,
  type Transaction,
  textArray,
} from '#src/platform/database/index.ts'
import { keptOf, type UnsignedMessage } from '../../messages/index.ts'

/** The bytes of a message that are about to go out for the first time. */
export type Sending = {
  readonly id: string
  readonly bytes: Uint8Array
  /** The message as stored, if we signed it just now. */
  readonly unsigned: UnsignedMessage | undefined
}

export type Sendings = ReturnType<typeof createSendings>

/** Rows of one statement. */
const rowsMax = 200
/** Requests that come while a statement runs share the next: several at once would carry less for the same cost. */
const writersMax = 1
const spacingMs = 10
const waitingMax = 5_000

/**
 * Keeps the bytes of each message before they go out, so that nobody has to guess afterwards: when a process dies, the
 * next one sends the kept bytes and no others, and knows that it is not the first.
 */
export const createSendings = (sql: Client) => {
  const gathered = <Row, Result>(
    write: (rows: readonly Row[]) => Promise<readonly Result[]>,
  ): ((row: Row) => Promise<Result>) =>
    createGatherer({ write, rowsMax, writersMax, waitingMax, spacingMs, isRowFault })
  return {
    /**
     * Resolves when the bytes are kept: the first of them may go out. False when bytes were kept already, perhaps by
     * another process: the central bank may have those, and these must not go.
     */
    begin: gathered((sendings: readonly Sending[]) => insert(sql, sendings)),
    /**
     * Resolves when kept bytes stay, whoever began with them: they may go out again, and the watch knows of them. False
     * when they are gone, or the message has an end.
     */
    hold: gathered((ids: readonly string[]) => sql.begin((tx) => hold(tx, ids))),
    /** Forgets the bytes of a message that surely did not go out, unless another process sends them by now. */
    withdraw: gathered(async (ids: readonly string[]) => {
      await withdraw(sql, ids)
      return ids.map(() => undefined)
    }),
  }
}

const insert = async (sql: Client, sendings: readonly Sending[]): Promise<readonly boolean[]> => {
  const sorted = [...sendings].sort((a, b) => (a.id < b.id ? -1 : 1))
  const kept = sorted.map(({ bytes, unsigned }) => keptOf(bytes, unsigned))
  const { bytes, starts, lengths } = joinedBytes(kept.map(({ xml }) => xml))
  const rows = await sql<{ id: string }[]>`
    insert into spi_sendings (message_id, xml, position, checksum)
    select id, substring(${bytes}::bytea from start for length), position, checksum
    from unnest(${textArray(sorted.map(({ id }) => id))}::text::uuid[],
      ${starts}::text::int[], ${lengths}::text::int[],
      ${textArray(kept.map(({ position }) => position))}::text::int[],
      ${textArray(kept.map(({ checksum }) => checksum))}::text::int[])
      as sending(id, start, length, position, checksum)
    on conflict do nothing returning message_id as id`
  // If two are for one message, only one may go.
  const fresh = new Set(rows.map(({ id }) => id))
  return sendings.map(({ id }) => fresh.delete(id))
}

/** The lock makes it wait for who takes the bytes back, and the second statement see that they are gone. */
const hold = async (tx: Transaction, ids: readonly string[]): Promise<readonly boolean[]> => {
  const queued = await tx<{ id: string }[]>`
    select locked.id from unnest(${textArray([...ids].sort())}::text::uuid[]) as wanted(id)
      cross join lateral (
        select id, status from spi_messages where id = wanted.id limit 1 for update
      ) locked
    where status = 'QUEUED'`
  const rows = await tx<{ id: string }[]>`
    with kept as materialized (
      select wanted.id, null::text as nothing
      from unnest(${textArray(queued.map(({ id }) => id))}::text::uuid[]) as wanted(id)
        cross join lateral (
          select from spi_sendings where message_id = wanted.id limit 1
        ) sending
    )
    update spi_messages message set in_doubt_since = coalesce(in_doubt_since, ${new Date()})
    from kept
    where ${looksLikeOne(tx)} and message.id = kept.id
    returning message.id`
  const held = new Set(rows.map(({ id }) => id))
  return ids.map((id) => held.has(id))
}

/** Deletes the kept bytes of queued messages that the central bank surely does not have: nobody else sends them. */
export const withdraw = async (sql: Queryable, ids: readonly string[]): Promise<void> => {
  await sql`
    with unsent as materialized (
      select message.id, null::text as nothing
      from unnest(${textArray([...ids].sort())}::text::uuid[]) as wanted(id)
        cross join lateral (
          select id from spi_messages
          where id = wanted.id and status = 'QUEUED' and in_doubt_since is null limit 1 for update
        ) message
    )
    delete from spi_sendings using unsent
    where ${looksLikeOne(sql)} and spi_sendings.message_id = unsent.id`
}
