import type { Client } from './database.ts'

/**
 * NOTIFY, in a transaction of its own: it makes the commits of a server wait for each other, so none that has work to
 * do may hold it. Its own commit waits for neither disk nor standby, as a hint may be lost. Never throws.
 */
export const hint = async (sql: Client, channel: string, payload: string): Promise<void> => {
  await sql`
    select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, ${payload})`.catch(
    () => {},
  )
}
