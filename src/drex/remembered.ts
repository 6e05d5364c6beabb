/** What we remember of each network's chain, and how an operator makes us forget it if it is wrong. */
import type { Client, Queryable } from '#src/platform/database/index.ts'
import { type Actor, writeAudit } from '#src/platform/http/index.ts'
import type { Hex } from './evm/hex.ts'

export type Remembered = {
  readonly network: string
  readonly genesis: Hex
  /** The final block that a node must have to be used; null while there is none. */
  readonly block: number | null
  readonly hash: Hex | null
}

export const listRemembered = (sql: Queryable): Promise<readonly Remembered[]> => sql<Remembered[]>`
  select network, genesis_hash as genesis, checkpoint_number::float8 as block, checkpoint_hash as hash
  from drex_network_state order by network`

/**
 * Forgets the block that was final; the nodes tell another. What has followed a network goes on to remember its blocks, so
 * nobody may.
 * @param genesis the first block, in place of the one that is remembered
 * @throws Error if nothing is remembered of the network, or a process follows it
 */
export const forgetRemembered = (
  sql: Client,
  network: string,
  genesis: Hex | undefined,
  actor: Actor,
): Promise<Remembered> =>
  sql.begin(async (tx) => {
    await tx`select from drex_network_state where network = ${network} for update`
    const before = (await listRemembered(tx)).find((each) => each.network === network)
    if (before === undefined) throw new Error(`nothing is remembered of ${network}`)
    const [follower] = await tx<{ owner: string }[]>`
      select owner from job_leases where name = ${`ledger of ${network}`} and until > now()`
    if (follower !== undefined)
      throw new Error(`${follower.owner} follows ${network}: stop every process with drex first`)
    await tx`
      update drex_network_state set checkpoint_number = null, checkpoint_hash = null,
        genesis_hash = ${genesis ?? before.genesis}
      where network = ${network}`
    await writeAudit(tx, {
      actor,
      action: 'drex.forget',
      object: network,
      outcome: genesis === undefined ? 'block forgotten' : 'first block replaced',
    })
    return before
  })
