import type { Client } from '#src/platform/database/index.ts'

/** Makes the database what it was before these transfers were signed, and knew of no nonce: a copy restored since. */
export const rewind = async (sql: Client, ...transfers: readonly string[]): Promise<void> => {
  await sql`
    update drex_transactions set status = 'pending', nonce = null, hash = null, raw = null,
      block_number = null, block_hash = null, mined_hash = null, succeeded = null,
      signed_at = null, broadcast_at = null, mined_at = null, settled_at = null, due_at = now()
    where subject = any(${[...transfers]}::text[])`
  await sql`delete from drex_lanes`
}
