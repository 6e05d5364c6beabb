import type { Client } from '#src/platform/database/index.ts'
import { type Actor, type DrawTokens, type Route, sharedBuckets } from '#src/platform/http/index.ts'
import { createJob } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { createKeyManagement } from '../key-management/index.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { KeyRecord, KeySource } from './authenticator.ts'
import { previousOf } from './key-file.ts'
import { type KeyRow, keyStatements } from './key-statements.ts'
import type { KeyStore } from './key-store.ts'

const usesWrittenEveryMs = 60_000
const usesMax = 10_000

export type KeyTable = {
  readonly name: 'api_keys'
  readonly keySource: KeySource
  readonly drawTokens: DrawTokens
  readonly routes: readonly Route[]
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Keys from the table `api_keys`, one indexed read per key and cache period. The last use is written once a
 * minute for all keys together, so that a busy key costs no write per request.
 */
export const createKeyTable = (options: {
  readonly sql: Client
  /** Seals with the master key. If undefined, only this process keeps secrets for repetitions of a request. */
  readonly sealer?: Sealer | undefined
  readonly logger: Logger
}): KeyTable => {
  const { sql, sealer, logger } = options
  let uses = new Map<string, Date>()

  const writeUses = async (): Promise<void> => {
    if (uses.size === 0) return
    const written = uses
    uses = new Map()
    const times = [...written.values()].map((at) => at.toISOString())
    try {
      // Processes lock the rows in one order, so that none waits for another in a circle.
      await sql`
        with used as (
          select * from unnest(${[...written.keys()]}::text[], ${times}::text[]) as used (id, at)
        ), held as (
          select id from api_keys where id in (select id from used) order by id for no key update
        )
        update api_keys set last_used_at = greatest(last_used_at, used.at::timestamptz)
        from used join held using (id) where api_keys.id = used.id`
    } catch (error) {
      uses = new Map([...written, ...uses])
      throw error
    }
  }
  const name = 'last uses of API keys'
  const job = createJob({ name, everyMs: usesWrittenEveryMs, run: writeUses, logger })

  return {
    name: 'api_keys',
    drawTokens: sharedBuckets(sql),
    routes: createKeyManagement({ sql, sealer }),
    keySource: {
      find: async (id) => {
        const askedMs = Date.now()
        const [found] = await sql<{ row: KeyRow; nowMs: number }[]>`
          select to_jsonb(api_keys) as row, extract(epoch from now())::float8 * 1000 as "nowMs"
          from api_keys where id = ${id}`
        return found && recordOf(found.row, askedMs - found.nowMs)
      },
      used: (id, at) => {
        if (uses.size < usesMax) uses.set(id, at)
      },
    },
    start: job.start,
    stop: async () => {
      await job.stop()
      await writeUses().catch((err: unknown) => logger.warn({ err }, `${name}: not written`))
    },
  }
}

/**
 * A key whose times are the database's, by which all processes count.
 *
 * @param aheadMs by how much this process's clock is ahead of that
 */
const recordOf = (row: KeyRow, aheadMs: number): KeyRecord => {
  const { id, name, account, hash, environment, scopes, expires_at, revoked_at } = row
  const previous = previousOf(row.previous_hash, row.previous_until)
  const here = (time: Date): Date => new Date(time.getTime() + aheadMs)
  return {
    id,
    name,
    account,
    hash,
    grants: scopes,
    previous: previous && {
      ...previous,
      until: here(previous.until),
      storedUntil: previous.until,
    },
    environment: environment ?? undefined,
    restrictions: row.restrictions,
    expiresAt: expires_at === null ? undefined : here(new Date(expires_at)),
    storedExpiresAt: expires_at === null ? undefined : new Date(expires_at),
    revokedAt: revoked_at === null ? undefined : new Date(revoked_at),
  }
}

/** Keys in the table `api_keys`, for the operator's commands. */
export const createKeyTableStore = (sql: Client, actor: Actor): KeyStore => ({
  create: (key) => sql.begin((tx) => keyStatements(tx, actor).create(key)),
  list: () => keyStatements(sql, actor).list(),
  revoke: (id) => sql.begin((tx) => keyStatements(tx, actor).revoke(id)),
  change: (id, change) => sql.begin((tx) => keyStatements(tx, actor).change(id, change)),
  rotate: (id, overlapSeconds, environment) =>
    sql.begin((tx) => keyStatements(tx, actor).rotate(id, overlapSeconds, environment)),
})
