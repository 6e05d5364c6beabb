import { type Client, type Queryable, textArray } from '#src/platform/database/index.ts'
import {
  type Actor,
  type AuditEntry,
  type DrawTokens,
  sharedBuckets,
  writeAudit,
} from '#src/platform/http/index.ts'
import { createJob } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { generateKey, type KeyEnvironment } from './api-key.ts'
import type { KeyRecord, KeySource } from './authenticator.ts'
import { previousOf } from './key-file.ts'
import type { KeyStore } from './key-store.ts'
import type { StoredRestrictions } from './restrictions.ts'

const usesWrittenEveryMs = 60_000
const usesMax = 10_000

/** A row as PostgreSQL writes it in JSON: the driver's own reading of times depends on who else uses it. */
type Row = {
  readonly id: string
  readonly name: string
  readonly account: string
  readonly hash: string
  readonly environment: KeyEnvironment | null
  readonly scopes: readonly string[]
  readonly restrictions: StoredRestrictions
  readonly previous_hash: string | null
  readonly previous_until: string | null
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

export type KeyTable = {
  readonly name: 'api_keys'
  readonly keySource: KeySource
  readonly drawTokens: DrawTokens
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Keys from the table `api_keys`, one indexed read per key and cache period. The last use is written once a
 * minute for all keys together, so that a busy key costs no write per request.
 */
export const createKeyTable = (options: {
  readonly sql: Client
  readonly logger: Logger
}): KeyTable => {
  const { sql, logger } = options
  let uses = new Map<string, Date>()

  const writeUses = async (): Promise<void> => {
    if (uses.size === 0) return
    const written = uses
    uses = new Map()
    const times = [...written.values()].map((at) => at.toISOString())
    await sql`
      update api_keys set last_used_at = used.at::timestamptz
      from unnest(${[...written.keys()]}::text[], ${times}::text[]) as used (id, at)
      where api_keys.id = used.id`
  }
  const name = 'last uses of API keys'
  const job = createJob({ name, everyMs: usesWrittenEveryMs, run: writeUses, logger })

  return {
    name: 'api_keys',
    drawTokens: sharedBuckets(sql),
    keySource: {
      find: async (id) => {
        const [found] = await sql<{ row: Row }[]>`
          select to_jsonb(api_keys) as row from api_keys where id = ${id}`
        return found === undefined ? undefined : recordOf(found.row)
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

const recordOf = (row: Row): KeyRecord => {
  const { id, name, account, hash, environment, scopes, expires_at, revoked_at } = row
  return {
    id,
    name,
    account,
    hash,
    grants: scopes,
    previous: previousOf(row.previous_hash, row.previous_until),
    environment: environment ?? undefined,
    restrictions: row.restrictions,
    expiresAt: expires_at === null ? undefined : new Date(expires_at),
    revokedAt: revoked_at === null ? undefined : new Date(revoked_at),
  }
}

const isoOf = (time: string | null): string | null =>
  time === null ? null : new Date(time).toISOString()

/** Keys in the table `api_keys`, for the operator's commands. */
export const createKeyTableStore = (sql: Client, actor: Actor): KeyStore => {
  const audit = (tx: Queryable, action: AuditEntry['action'], id: string, outcome: string) =>
    writeAudit(tx, { actor, action, object: id, outcome })
  return {
    create: async ({ name, account, environment, grants, restrictions = {}, expiresAt }) => {
      const { key, id, hash } = generateKey(environment)
      await sql.begin(async (tx) => {
        await tx`
          insert into api_keys (id, name, account, hash, environment, scopes, restrictions, expires_at)
          values (${id}, ${name}, ${account}, ${hash}, ${environment},
            ${textArray(grants)}::text::text[], ${JSON.stringify(restrictions)}::text::jsonb,
            ${expiresAt?.toISOString() ?? null})`
        await audit(tx, 'keys.create', id, 'created')
      })
      return { id, key }
    },
    list: async () => {
      const found = await sql<{ row: Row }[]>`
        select to_jsonb(api_keys) as row from api_keys order by created_at, id`
      return found.map(({ row: { hash: _hash, previous_hash: _previous, ...row } }) => ({
        ...row,
        created_at: new Date(row.created_at).toISOString(),
        expires_at: isoOf(row.expires_at),
        revoked_at: isoOf(row.revoked_at),
        previous_until: isoOf(row.previous_until),
        last_used_at: isoOf(row.last_used_at),
      }))
    },
    revoke: (id) =>
      sql.begin(async (tx) => {
        const revoked = await tx`
          update api_keys set revoked_at = now() where id = ${id} and revoked_at is null`
        if (revoked.count === 0) return false
        await audit(tx, 'keys.revoke', id, 'revoked')
        return true
      }),
    change: (id, { restrictions, expiresAt }) =>
      sql.begin(async (tx) => {
        const text = restrictions === undefined ? null : JSON.stringify(restrictions)
        const changed = await tx`
          update api_keys set restrictions = coalesce(${text}::text::jsonb, restrictions),
            expires_at = coalesce(${expiresAt?.toISOString() ?? null}::text::timestamptz, expires_at)
          where id = ${id} and revoked_at is null`
        if (changed.count === 0) return false
        await audit(tx, 'keys.change', id, 'changed')
        return true
      }),
    rotate: (id, previousUntil, environment) =>
      sql.begin(async (tx) => {
        const [found] = await tx<{ environment: KeyEnvironment | null }[]>`
          select environment from api_keys where id = ${id} and revoked_at is null for update`
        if (found === undefined) return undefined
        const { key, hash } = generateKey(found.environment ?? environment, id)
        await tx`
          update api_keys set previous_hash = hash, hash = ${hash},
            previous_until = ${previousUntil.toISOString()}::text::timestamptz
          where id = ${id}`
        await audit(tx, 'keys.rotate', id, 'rotated')
        return key
      }),
  }
}
