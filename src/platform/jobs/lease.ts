import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Client } from '../database/index.ts'

/** `leftMs`: how long another process still has it. */
type Claim = { readonly fence: bigint } | { readonly leftMs: number }

/** The right to a round of a job, which one process of the fleet has. Only the database's clock counts. */
export type Lease = {
  readonly leaseMs: number
  /** A round that ends within its lease need not give it back. */
  readonly isBrief: boolean
  readonly claim: () => Promise<Claim>
  /** @returns false when it was lost: another process may have begun a round */
  readonly renew: (fence: bigint) => Promise<boolean>
  /** Nobody begins another round for `pauseMs`. */
  readonly release: (fence: bigint, pauseMs: number) => Promise<void>
}

export type FleetOptions = {
  readonly sql: Client
  /** Tests set it; otherwise it is this process. */
  readonly owner?: string
  /** How long a process that died or froze keeps the others from the job. */
  readonly leaseMs?: number
  /** Rounds are much shorter than the period: a lease lasts until the next is due, and need not be given back. */
  readonly isBrief?: boolean
}

const leaseMsDefault = 60_000
/** Less than a period, so that the same process's next look, which is spread, finds the lease over. */
const partOfPeriod = 0.9
const processName = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`

/**
 * A lease in one row, taken and given back by single statements: no session and no advisory lock is held, so it works
 * behind PgBouncer, and a restored backup holds at worst a lease that ends by itself.
 *
 * @param everyMs how far ahead a lease can lie at most: one beyond was written by a clock that was set back since
 */
export const createLease = (
  name: string,
  everyMs: number,
  { sql, owner = processName, leaseMs: given = leaseMsDefault, isBrief = false }: FleetOptions,
): Lease => {
  const leaseMs = isBrief ? everyMs * partOfPeriod : given
  const seconds = leaseMs / 1000
  const secondsMax = (everyMs + leaseMs) / 1000
  return {
    leaseMs,
    isBrief,
    claim: async () => {
      const [row] = await sql<{ fence: bigint | null; leftMs: number | null }[]>`
        with claimed as (
          insert into job_leases as held (name, owner, until, fence)
          values (${name}, ${owner}, clock_timestamp() + make_interval(secs => ${seconds}), 1)
          on conflict (name) do update
            set owner = excluded.owner, until = excluded.until, fence = held.fence + 1
            where held.until not between clock_timestamp()
              and clock_timestamp() + make_interval(secs => ${secondsMax})
          returning fence
        )
        select (select fence from claimed) as fence, (
            select extract(epoch from until - clock_timestamp())::float8 * 1000 from job_leases
            where name = ${name}
          ) as "leftMs"`
      const { fence = null, leftMs = null } = row ?? {}
      return fence === null ? { leftMs: Math.max(0, leftMs ?? 0) } : { fence }
    },
    renew: async (fence) => {
      const renewed = await sql`
        update job_leases set until = clock_timestamp() + make_interval(secs => ${seconds})
        where name = ${name} and fence = ${fence} and until > clock_timestamp()`
      return renewed.count > 0
    },
    release: async (fence, pauseMs) => {
      await sql`
        update job_leases set until = clock_timestamp() + make_interval(secs => ${pauseMs / 1000})
        where name = ${name} and fence = ${fence}`
    },
  }
}
