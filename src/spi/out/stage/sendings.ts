import {
  bytesArray,
  type Client,
  createGatherer,
  isTransientDatabaseError,
  type Queryable,
  textArray,
} from '#src/platform/database/index.ts'
import { keptOf, type UnsignedMessage } from '../../messages/index.ts'

/** What is about to go out of a message for the first time. */
export type Sending = {
  readonly id: string
  readonly bytes: Uint8Array
  /** What is stored of it, where that was signed just now. */
  readonly unsigned: UnsignedMessage | undefined
}

export type Sendings = {
  /**
   * Resolves when the bytes are kept: the first of them may go out. False when something was kept already, by another
   * process, say: that may be with the central bank, and these bytes must not go.
   */
  readonly begin: (sending: Sending) => Promise<boolean>
  /** Of what surely did not go out. */
  readonly withdraw: (id: string) => Promise<void>
}

/** Of one statement. */
const rowsMax = 200
/** What comes while a statement runs shares the next one: several at once would each carry less for the same cost. */
const writersMax = 1
const spacingMs = 10
const waitingMax = 5_000

/**
 * Keeps what goes out of each message before it does, so that nobody has to guess afterwards: a process that dies
 * leaves its bytes, and the next one sends those and no others and knows that it is not the first.
 */
export const createSendings = (sql: Client): Sendings => {
  const limits = { rowsMax, writersMax, waitingMax, spacingMs }
  const isRowFault = (error: unknown): boolean => !isTransientDatabaseError(error)
  return {
    begin: createGatherer<Sending, boolean>({
      write: (sendings) => insert(sql, sendings),
      ...limits,
      isRowFault,
    }),
    withdraw: createGatherer<string, void>({
      write: async (ids) => {
        await withdraw(sql, ids)
        return ids.map(() => undefined)
      },
      ...limits,
      isRowFault,
    }),
  }
}

const insert = async (sql: Client, sendings: readonly Sending[]): Promise<readonly boolean[]> => {
  const sorted = [...sendings].sort((a, b) => (a.id < b.id ? -1 : 1))
  const kept = sorted.map(({ bytes, unsigned }) => keptOf(bytes, unsigned))
  const rows = await sql<{ id: string }[]>`
    insert into spi_sendings (message_id, xml, position, checksum)
    select * from unnest(${textArray(sorted.map(({ id }) => id))}::text::uuid[],
      ${bytesArray(kept.map(({ xml }) => xml))}::text::bytea[],
      ${textArray(kept.map(({ position }) => position))}::text::int[],
      ${textArray(kept.map(({ checksum }) => checksum))}::text::int[])
    on conflict do nothing returning message_id as id`
  // Of two for one message only one may go.
  const fresh = new Set(rows.map(({ id }) => id))
  return sendings.map(({ id }) => fresh.delete(id))
}

/** What was kept of messages that are surely not with the central bank. */
export const withdraw = async (sql: Queryable, ids: readonly string[]): Promise<void> => {
  await sql`
    delete from spi_sendings where message_id = any(${textArray(ids)}::text::uuid[])`
}
