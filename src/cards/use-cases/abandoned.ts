import type { EmitWithin } from '#src/events/index.ts'
import type { Client, Transaction } from '#src/platform/database/index.ts'
import { createJob, type Job, nothingFound, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Network } from '../networks/index.ts'
import type { InsertReversals, NewReversal } from '../reversals/types.ts'
import { attention } from '../transactions/card-events.ts'
import { changed } from '../transactions/changes.ts'
import { isStarted } from '../transactions/domain.ts'
import { restored } from '../transactions/resolutions.ts'
import type { CardTransaction } from '../transactions/store.ts'
import { type AgesMs, hasAbandoned, lockAbandoned, lockUnheld } from '../transactions/sweeps.ts'
import { changeTransactions } from '../transactions/writes.ts'
import { unknownAnswer } from './answers.ts'
import { reversalsBegun } from './begun-reversals.ts'
import type { OperationName } from './context.ts'
import { outcomes } from './outcomes.ts'

const everyMsDefault = 5_000
/** While there is none, the time between two looks grows up to this many times. */
const restFactor = 2
/** Time beyond a network's limit, after which no request can still be waiting. */
const marginMsDefault = 15_000
const batchMax = 200

/**
 * Reverses operations that were on the wire when their process ended, because nobody heard the answer. Several
 * instances may sweep at the same time; each takes rows that no other holds.
 */
export const createAbandonedSweep = (options: {
  readonly sql: Client
  readonly insertReversals: InsertReversals
  readonly networks: readonly Pick<Network, 'name' | 'timeoutMs'>[]
  readonly emission: EmitWithin | undefined
  readonly logger: Logger
  readonly now: () => Date
  readonly everyMs?: number
  readonly marginMs?: number
}): Job & { readonly sweep: (round?: Round) => Promise<number> } => {
  const { sql, insertReversals, networks, emission, logger, now } = options
  const { everyMs = everyMsDefault, marginMs = marginMsDefault } = options
  const agesMs: AgesMs = new Map(
    networks.map(({ name, timeoutMs }) => [name, timeoutMs + marginMs]),
  )

  const batch = (tx: Transaction): Promise<number> =>
    reverseAbandoned(tx, { insertReversals, emission }, agesMs, now())

  const sweep = async (round?: Round): Promise<number> => {
    let total = 0
    // Mostly there is none, and one statement without a transaction says so.
    if (!(await hasAbandoned(sql, agesMs))) return total
    for (;;) {
      const found = await sql.begin(batch)
      total += found
      round?.advance()
      if (found < batchMax) break
    }
    if (total > 0) logger.warn({ transactions: total }, 'abandoned card operations are reversed')
    return total
  }

  const name = 'abandoned card operations'
  const job = createJob({
    name,
    everyMs,
    restMs: restFactor * everyMs,
    isVital: true,
    logger,
    run: async (round) => ((await sweep(round)) === 0 ? nothingFound : undefined),
  })
  return { ...job, sweep }
}

const reverseAbandoned = async (
  tx: Transaction,
  {
    insertReversals,
    emission,
  }: { readonly insertReversals: InsertReversals; readonly emission: EmitWithin | undefined },
  agesMs: AgesMs,
  at: Date,
): Promise<number> => {
  const rows = await lockAbandoned(tx, agesMs, batchMax)
  if (rows.length === 0) return 0
  const reversals: NewReversal[] = []
  const changes = rows.map((row) => {
    const reverses = underWay(row)
    const { event, fields, answer } = outcomes[reverses].unknown
    const verdict = { kind: 'unknown', why: 'abandoned' } as const
    const after = changed(row, event, fields(verdict, row, at), at)
    reversals.push(...reversalsBegun(row, after))
    return {
      before: row,
      after,
      events: [{ type: event, data: { reason: 'abandoned' } }],
      // A repetition gets the identifier, and with it can ask for the outcome.
      answer: answer(after, { kind: 'unknown', why: 'timed_out' }),
    }
  })
  await changeTransactions(tx, changes, emission)
  await insertReversals(tx, reversals)
  return rows.length
}

/**
 * Has a person decide on what a restored copy has on the wire: after the copy it may have gone on, and been captured.
 *
 * @returns how many are held now
 */
export const holdOpen = async (sql: Client): Promise<number> => {
  let total = 0
  for (;;) {
    const found = await sql.begin(holdSome)
    total += found
    if (found < batchMax) return total
  }
}

const holdSome = async (tx: Transaction): Promise<number> => {
  const rows = await lockUnheld(tx, batchMax)
  const verdict = { kind: 'unknown', why: 'timed_out' } as const
  const changes = rows.map((row) => ({
    before: row,
    after: { ...row, reason: restored, needsAttention: true, updatedAt: new Date() },
    events: [{ type: 'held', data: { reason: restored, ...attention } }],
    answer: unknownAnswer(row.id, verdict, 'a person decides what becomes of it'),
  }))
  // Nobody is told: no status is another.
  await changeTransactions(tx, changes, undefined)
  return rows.length
}

const underWay = ({ operation }: CardTransaction): OperationName =>
  operation === 'verification' || isStarted(operation) ? operation : 'authorization'
