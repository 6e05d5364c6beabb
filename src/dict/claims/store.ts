import { claimRoles, claimStatuses } from '#src/events/index.ts'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import { type AgeFilter, agePageOf } from '../pages.ts'
import type { ClaimRow } from '../types.ts'
import type { ClaimStatus, OwnClaim, Role } from './domain.ts'

const parsed = <T>(text: string | null): T | null =>
  text === null ? null : (JSON.parse(text) as T)

const claimOf = (row: ClaimRow): OwnClaim => ({
  ...row,
  content: parsed<NonNullable<OwnClaim['content']>>(row.content),
  wanted: parsed<NonNullable<OwnClaim['wanted']>>(row.wanted),
})

const columns = (sql: Queryable) => sql`
  id, claim_id as "claimId", created_by as "createdBy", role, type, key_type as "keyType", key,
  counterparty, status, content, wanted, refusal, resolution_ends_at as "resolutionEndsAt",
  completion_ends_at as "completionEndsAt", confirm_reason as "confirmReason",
  cancel_reason as "cancelReason", cancelled_by as "cancelledBy", modified_at as "modifiedAt",
  told_at as "toldAt", version, created_at as "createdAt"`

const json = (value: object | null): string | null => value && JSON.stringify(value)

/** @returns false: it is there, or a claim of ours to the key is under way */
export const addClaim = async (
  tx: Queryable,
  claim: OwnClaim,
  due: Date | null,
): Promise<boolean> => {
  const { count } = await tx`
    insert into dict_claims (id, claim_id, created_by, role, type, key_type, key, counterparty,
      status, content, wanted, refusal, resolution_ends_at, completion_ends_at, confirm_reason,
      cancel_reason, cancelled_by, modified_at, told_at, version, due_at, created_at)
    values (${claim.id}, ${claim.claimId}, ${claim.createdBy}, ${claim.role}, ${claim.type},
      ${claim.keyType}, ${claim.key}, ${claim.counterparty}, ${claim.status},
      ${json(claim.content)}, ${json(claim.wanted)}, ${claim.refusal}, ${claim.resolutionEndsAt},
      ${claim.completionEndsAt}, ${claim.confirmReason}, ${claim.cancelReason},
      ${claim.cancelledBy}, ${claim.modifiedAt}, ${claim.toldAt}, ${claim.version}, ${due},
      ${claim.createdAt})
    on conflict do nothing`
  return count > 0
}

/** Writes what may change. @returns false: another has changed it meanwhile */
export const changeClaim = async (
  tx: Queryable,
  before: OwnClaim,
  after: OwnClaim,
  due: Date | null,
): Promise<boolean> => {
  const { count } = await tx`
    update dict_claims set claim_id = ${after.claimId}, counterparty = ${after.counterparty},
      status = ${after.status}, wanted = ${json(after.wanted)}, refusal = ${after.refusal},
      resolution_ends_at = ${after.resolutionEndsAt},
      completion_ends_at = ${after.completionEndsAt}, confirm_reason = ${after.confirmReason},
      cancel_reason = ${after.cancelReason}, cancelled_by = ${after.cancelledBy},
      modified_at = ${after.modifiedAt}, told_at = ${after.toldAt}, due_at = ${due},
      version = version + 1
    where id = ${before.id} and version = ${before.version}`
  return count > 0
}

export const findClaim = async (sql: Queryable, id: string): Promise<OwnClaim | undefined> => {
  const [row] = await sql<ClaimRow[]>`
    select ${columns(sql)} from dict_claims where id = ${id}::uuid`
  return row && claimOf(row)
}

/** The one that the directory knows by this id. */
export const findKnown = async (
  sql: Queryable,
  claimId: string,
  role: Role,
): Promise<OwnClaim | undefined> => {
  const [row] = await sql<ClaimRow[]>`
    select ${columns(sql)} from dict_claims where claim_id = ${claimId}::uuid and role = ${role}`
  return row && claimOf(row)
}

/** One of ours to a key that the directory was asked to open, and whose answer nobody got. */
export const findOpening = async (sql: Queryable, key: string): Promise<OwnClaim | undefined> => {
  const [row] = await sql<ClaimRow[]>`
    select ${columns(sql)} from dict_claims
    where key = ${key} and role = 'claimer' and status = 'opening' and told_at is not null`
  return row && claimOf(row)
}

export type ClaimFilter = AgeFilter<Role, ClaimStatus> & { readonly key: string | undefined }

/** Newest first. */
export const listClaims = async (
  sql: Queryable,
  { key, ...filter }: ClaimFilter,
): Promise<readonly OwnClaim[]> => {
  const claims = {
    columns: columns(sql),
    table: sql`dict_claims`,
    isOne: sql`true`,
    few:
      key === undefined
        ? undefined
        : sql`(select * from dict_claims where key = ${key} offset 0) of_key`,
    waits: waiting(sql),
    roles: claimRoles,
    statuses: claimStatuses,
  }
  return (await agePageOf<ClaimRow>(sql, claims, filter)).map(claimOf)
}

/** The condition in the words of its index. */
const waiting = (sql: Queryable) => sql`
  wanted is null and (role = 'donor' and status = 'waiting_resolution'
    or role = 'claimer' and status = 'confirmed' and type = 'OWNERSHIP')`

export const dueClaims = async (
  sql: Client,
  now: Date,
  limit: number,
): Promise<readonly { readonly id: string }[]> => sql<{ id: string }[]>`
  select id from dict_claims where due_at <= ${now} order by due_at limit ${limit}`

/** Leaves it alone until then. */
export const postponeClaim = async (
  sql: Queryable,
  { id }: Pick<OwnClaim, 'id'>,
  due: Date | null,
): Promise<void> => {
  await sql`update dict_claims set due_at = ${due} where id = ${id}::uuid and due_at is not null`
}
