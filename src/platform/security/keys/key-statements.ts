import { type Queryable, textArray } from '#src/platform/database/index.ts'
import { type Actor, type AuditEntry, writeAudit } from '#src/platform/http/index.ts'
import { generateKey, type KeyEnvironment } from './api-key.ts'
import type { KeyChange, KeyStore, ListedKey } from './key-store.ts'
import type { StoredRestrictions } from './restrictions.ts'

/** A row as PostgreSQL writes it in JSON: the driver's own reading of times depends on who else uses it. */
export type KeyRow = ListedKey & {
  readonly hash: string
  readonly previous_hash: string | null
}

const isoOf = (time: string | null): string | null =>
  time === null ? null : new Date(time).toISOString()

/** Member by member: whatever else a row may have is not shown. */
const listed = (row: KeyRow): ListedKey => ({
  id: row.id,
  name: row.name,
  account: row.account,
  environment: row.environment,
  scopes: row.scopes,
  restrictions: row.restrictions,
  created_at: new Date(row.created_at).toISOString(),
  expires_at: isoOf(row.expires_at),
  revoked_at: isoOf(row.revoked_at),
  previous_until: isoOf(row.previous_until),
  last_used_at: isoOf(row.last_used_at),
})

type KeyReplacement = KeyChange & {
  /** The change happens only if the restrictions are these; undefined: whatever they are. */
  readonly replaces?: StoredRestrictions | undefined
}

/** A page of an account's keys: behind which, and how many. */
type KeyPage = {
  readonly account: string
  /** The id of the last key of the page before. */
  readonly after: string | undefined
  readonly limit: number
}

/** The changes of keys in the table `api_keys`, each with its entry in the audit log, for use in a transaction. */
export const keyStatements = (tx: Queryable, actor: Actor) => {
  const audit = (action: AuditEntry['action'], id: string, outcome: string) =>
    writeAudit(tx, { actor, action, object: id, outcome })
  return {
    create: async ({ name, account, environment, grants, restrictions = {}, expiresAt }) => {
      const { key, id, hash } = generateKey(environment)
      await tx`
        insert into api_keys (id, name, account, hash, environment, scopes, restrictions, expires_at)
        values (${id}, ${name}, ${account}, ${hash}, ${environment},
          ${textArray(grants)}::text::text[], ${JSON.stringify(restrictions)}::text::jsonb,
          ${expiresAt?.toISOString() ?? null})`
      await audit('keys.create', id, 'created')
      return { id, key }
    },
    list: async () => {
      const found = await tx<{ row: KeyRow }[]>`
        select to_jsonb(api_keys) as row from api_keys order by created_at, id`
      return found.map(({ row }) => listed(row))
    },
    /** Newest first. */
    page: async ({ account, after, limit }: KeyPage) => {
      const found = await tx<{ row: KeyRow }[]>`
        select to_jsonb(k) as row from (
          select * from api_keys where account = ${account}
          ${
            after === undefined
              ? tx``
              : tx`and (created_at, id) < (select created_at, id from api_keys where id = ${after})`
          }
          order by created_at desc, id desc limit ${limit}
        ) k order by created_at desc, id desc`
      return found.map(({ row }) => listed(row))
    },
    /** Held until the end of the transaction. */
    find: async (account: string, id: string) => {
      const [found] = await tx<{ row: KeyRow }[]>`
        select to_jsonb(k) as row from api_keys k
        where id = ${id} and account = ${account} for update`
      return found && listed(found.row)
    },
    revoke: async (id) => {
      const revoked = await tx`
        update api_keys set revoked_at = now() where id = ${id} and revoked_at is null`
      if (revoked.count === 0) return false
      await audit('keys.revoke', id, 'revoked')
      return true
    },
    change: async (id, { restrictions, expiresAt, replaces }: KeyReplacement) => {
      const text = restrictions === undefined ? null : JSON.stringify(restrictions)
      const seen = replaces === undefined ? null : JSON.stringify(replaces)
      const changed = await tx`
        update api_keys set restrictions = coalesce(${text}::text::jsonb, restrictions),
          expires_at = coalesce(${expiresAt?.toISOString() ?? null}::text::timestamptz, expires_at)
        where id = ${id} and revoked_at is null
          and restrictions = coalesce(${seen}::text::jsonb, restrictions)`
      if (changed.count === 0) return false
      await audit('keys.change', id, 'changed')
      return true
    },
    rotate: async (id, overlapSeconds, environment) => {
      const [found] = await tx<{ environment: KeyEnvironment | null }[]>`
        select environment from api_keys where id = ${id} and revoked_at is null for update`
      if (found === undefined) return undefined
      const { key, hash } = generateKey(found.environment ?? environment, id)
      const [rotated] = await tx<{ until: string }[]>`
        update api_keys set previous_hash = hash, hash = ${hash},
          previous_until = now() + make_interval(secs => ${overlapSeconds})
        where id = ${id} returning to_jsonb(previous_until) #>> '{}' as until`
      if (rotated === undefined) return undefined
      await audit('keys.rotate', id, 'rotated')
      return { key, previousUntil: new Date(rotated.until) }
    },
  } satisfies KeyStore & Record<string, unknown>
}
