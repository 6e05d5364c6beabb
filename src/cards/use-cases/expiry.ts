import type { EmitWithin } from '#src/events/index.ts'
import type { Client, Transaction } from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Network } from '../networks/index.ts'
import type { InsertReversals } from '../reversals/types.ts'
import { changed } from '../transactions/changes.ts'
import type { CardTransaction } from '../transactions/store.ts'
import { lockExpired } from '../transactions/sweeps.ts'
import { changeTransactions } from '../transactions/writes.ts'
import { reversalsBegun } from './begun-reversals.ts'
import { leftOf } from './operations.ts'

const everyMs = 10_000
const batchMax = 200

/**
 * Releases what nobody captured within its network's time: the whole authorization, or what captures have left of it.
 * Event and reversal are one commit, and the reversal is sent until the network confirms it, so a killed process loses
 * neither. One process of the fleet does each round.
 */
export const createExpiry = (options: {
  readonly sql: Client
  readonly networks: readonly Pick<Network, 'name' | 'authorizationHours' | 'content'>[]
  readonly insertReversals: InsertReversals
  /** Called after a commit with reversals. */
  readonly onReversals: () => void
  readonly emission: EmitWithin | undefined
  readonly logger: Logger
  readonly now: () => Date
}): Job & { readonly sweep: (round?: Round) => Promise<number> } => {
  const { sql, networks, insertReversals, onReversals, emission, logger, now } = options

  const release = async (
    tx: Transaction,
    { name, content }: (typeof networks)[number],
    ageHours: number,
  ): Promise<number> => {
    const takesRest = content.has('partial_reversal')
    const rows = await lockExpired(tx, name, ageHours, batchMax)
    const changes = rows.map((before) => expiredFrom(before, takesRest, now()))
    await changeTransactions(tx, changes, emission)
    await insertReversals(
      tx,
      changes.flatMap(({ before, after }) => reversalsBegun(before, after)),
    )
    return rows.length
  }

  const sweep = async (round?: Round): Promise<number> => {
    let total = 0
    for (const network of networks) {
      const { authorizationHours: hours } = network
      if (hours === undefined) continue
      for (;;) {
        if (round?.signal.aborted === true) return total
        const found = await sql.begin((tx) => release(tx, network, hours))
        if (found > 0) onReversals()
        total += found
        round?.advance()
        if (found < batchMax) break
      }
    }
    if (total > 0) logger.info({ transactions: total }, 'expired card authorizations are released')
    return total
  }

  const name = 'expired card authorizations'
  const fleet = { sql, isBrief: true }
  const job = createJob({ name, everyMs, fleet, run: sweep, logger })
  const isNeeded = networks.some(({ authorizationHours }) => authorizationHours !== undefined)
  return { ...job, start: async () => (isNeeded ? job.start() : undefined), sweep }
}

/** @param takesRest the network takes a message for the rest of what is captured in parts */
const expiredFrom = (before: CardTransaction, takesRest: boolean, at: Date) => {
  const left = leftOf(before)
  const isWhole = before.capturedCents === undefined
  const event = isWhole || (takesRest && left > 0n) ? 'authorization_expired' : 'rest_lapsed'
  const part = event === 'rest_lapsed' || isWhole ? {} : { operationCents: left }
  const voided = isWhole ? { voidedAt: at } : {}
  return {
    before,
    after: changed(before, event, { reason: 'expired', ...voided, ...part }, at),
    events: [{ type: 'expired', data: { amount: Number(left) } }],
  }
}
