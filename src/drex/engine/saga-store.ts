/** SQL of allowances: who holds one for a swap, and which of them nobody needs any more. */
import { constants, type Queryable, type Transaction } from '#src/platform/database/index.ts'
import { begunStatuses, openStatuses } from '../domain.ts'
import type { Hex } from '../evm/hex.ts'

type Allowance = {
  /** The step that gives it. */
  readonly id: string
  readonly network: string
  readonly subject: string
  readonly sender: Hex
  readonly recipient: Hex
  readonly data: Hex
  readonly requestAttempt: number
  readonly createdBy: string
  /** Whether the allowance is deep enough on the chain. */
  readonly isGiven: boolean
  /** How many steps were to take it back, and did not. */
  readonly lost: number
}

/**
 * Allowances that these transfers gave, or that are on their way, and that nothing takes back yet. A failed taking back
 * does not count: it may have ended before its allowance was given, or found it used up on a chain that has changed
 * since. Only the last of several tries counts (an approval's first 74 characters name who may take the money). While
 * the swap that it is for may come, we leave an allowance alone.
 */
export const openAllowances = (
  sql: Transaction,
  network: string,
  subjects: readonly string[],
): Promise<readonly Allowance[]> => sql<Allowance[]>`
    select given.id, network, subject, sender, recipient, data, request_attempt as "requestAttempt",
      created_by as "createdBy", given.status = 'confirmed' as "isGiven",
      (select count(*)::int from drex_transactions l where l.after_id = given.id and l.kind = 'revoke'
        and l.status in ('failed', 'reverted')) as lost
    from (
      select distinct on (subject, sender, recipient, left(data, 74)) *
      from drex_transactions
      where subject = any(${[...subjects]}::text[]) and network = ${network}
        and kind = 'approve' and status in (${constants(sql, begunStatuses)})
      order by subject, sender, recipient, left(data, 74), id desc
    ) given
    where not exists (
        select from drex_transactions r where r.after_id = given.id and r.kind = 'revoke'
          and r.status in (${constants(sql, [...openStatuses, 'confirmed'])}))
      and not exists (
        select from drex_transactions u where u.subject = given.subject
          and u.kind in ('swap', 'propose', 'pledge') and u.status in (${constants(sql, openStatuses)}))
    order by given.id`

/**
 * An allowance is a sum, not a change: a second swap of the same owner and token would overwrite that of the first. So
 * one swap at a time has the lane, from its approval's signature until nothing of it is open.
 *
 * @returns those approvals whose lane another transfer has
 */
export const heldLanes = async (
  sql: Queryable,
  network: string,
  approvals: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (approvals.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    select distinct t.id
    from drex_transactions o
    join drex_transactions a on a.subject = o.subject and a.kind = 'approve'
      and a.status in (${constants(sql, begunStatuses)})
    join drex_transactions t on t.sender = a.sender and t.recipient = a.recipient
      and t.subject <> a.subject
      -- One that was given for an earlier try, which has ended, is no longer waited for: two such would wait for each other.
      and (o.kind = 'revoke' or not exists (
        select from drex_transactions x where x.subject = o.subject and x.id > a.id and x.id < o.id
          and x.kind in ('swap', 'propose', 'pledge')))
    where o.network = ${network} and o.kind in ('swap', 'propose', 'pledge', 'revoke') and o.status in (${constants(sql, openStatuses)})
      and t.id = any(${[...approvals]}::text[])`
  return new Set(rows.map(({ id }) => id))
}
