import type { Client } from '#src/platform/database/index.ts'

/** An active endpoint that takes these events: without one they are not written. */
export const subscribe = async (sql: Client, events: readonly string[] = ['*']): Promise<void> => {
  await sql`
    insert into webhook_endpoints (id, url, events)
    values (${`whk_${Bun.randomUUIDv7()}`}, 'https://receiver.example/hook', ${[...events]}::text[])`
}
