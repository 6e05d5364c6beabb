import type { Client } from './database.ts'

/**
 * NOTIFY, in a transaction of its own: it makes the commits of a server wait for each other, so no transaction with
 * work to do may hold it. Its own commit waits for neither disk nor standby, as a hint may be lost. Never throws.
 */
export const hint = async (sql: Client, channel: string, payload: string): Promise<void> => {
  await sql`
    select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, ${payload})`.catch(
    () => {},
  )
}

const gatherMs = 2

export type Hints = {
  readonly tell: () => void
  /** No hint is sent after it. */
  readonly close: () => void
}

/**
 * Hints at commits: those within some milliseconds, or while a hint is under way, share one. A reader that misses it
 * finds the news a little later.
 *
 * @param take what is told of all that came since the last one
 */
export const createHints = (sql: Client, channel: string, take: () => string): Hints => {
  let isMore = false
  let isTelling = false
  let isClosed = false
  const tellAll = async (): Promise<void> => {
    isTelling = true
    while (isMore && !isClosed) {
      await Bun.sleep(gatherMs)
      isMore = false
      if (!isClosed) await hint(sql, channel, take())
    }
    isTelling = false
  }
  return {
    tell() {
      isMore = true
      if (!isTelling) void tellAll()
    },
    close() {
      isClosed = true
    },
  }
}
