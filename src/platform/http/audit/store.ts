import { userInfo } from 'node:os'
import type { PendingQuery, Row } from 'postgres'
import { type Queryable, rowCount, uuidBound } from '#src/platform/database/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import type { Actor, AuditEntry, AuditFilter, AuditRecord } from './domain.ts'

/** Records the action of the caller's transaction: both commit, or neither. */
export const writeAudit = async (
  tx: Queryable,
  { actor, action, object, outcome }: AuditEntry,
): Promise<void> => {
  await tx`
    insert into audit_log (id, actor, action, object, outcome, request_id)
    values (${newUuid()}, ${actor.id}, ${action}, ${object}, ${outcome},
      ${actor.requestId ?? null})`
}

/**
 * For the `with` of a statement that records its own effect.
 *
 * @param entries a query of actor, action, object, outcome and request id, and an id (a UUIDv7 as text) before them
 */
export const auditInsert = (sql: Queryable, entries: PendingQuery<Row[]>) => sql`
  insert into audit_log (id, actor, action, object, outcome, request_id)
  select id::uuid, actor, action, object, outcome, request_id
  from (${entries}) as entry(id, actor, action, object, outcome, request_id)`

/** Newest first; with an id, only those before it. */
export const listAudit = (
  sql: Queryable,
  { actor, action, object, from, to }: AuditFilter,
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): Promise<readonly AuditRecord[]> => sql<AuditRecord[]>`
  select id, actor, action, object, outcome, request_id as "requestId" from audit_log
  where true
    ${actor === undefined ? sql`` : sql`and actor = ${actor}`}
    ${action === undefined ? sql`` : sql`and action = ${action}`}
    ${object === undefined ? sql`` : sql`and object = ${object}`}
    ${from === undefined ? sql`` : sql`and id >= ${uuidBound(from)}::uuid`}
    ${to === undefined ? sql`` : sql`and id < ${uuidBound(to)}::uuid`}
    ${before === undefined ? sql`` : sql`and id < ${before}::uuid`}
  order by id desc limit ${rowCount(sql, limit)}`

/** The user that runs a command on this machine. */
export const commandActor = (): Actor => ({ id: `cli:${userName()}`, requestId: undefined })

const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    // In a container the number may have no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}
