import type { EmitWithin } from '#src/events/index.ts'
import {
  type Client,
  createGatherer,
  isRowFault,
  isTransientDatabaseError,
  Writers,
} from '#src/platform/database/index.ts'
import { ApiError } from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import type { InsertReversals, NewReversal } from '../reversals/types.ts'
import { type CardChange, type NewRow, transactionById } from './store.ts'
import { changeTransactions, writeTransactions } from './writes.ts'

const rowsMax = 200
/**
 * Statements at a time, of whatever kind. Each runs on one processor of the server: with one alone, 64 callers wait for
 * one another's rows while the other processors have nothing to do.
 */
const writersMax = 2
/**
 * So many share a statement before another starts beside it, or before the spacing is over. A row in a statement of its
 * own costs PostgreSQL five times as much as a row in one of fifty.
 */
const rowsEnough = 32
/** New transactions that may wait. Steps of those that were sent always find room. */
const waitingMax = 10_000
/** Rows that come within this time share a statement, and so all that follows: messages of one turn, and answers. */
const spacingMs = 4
/** A caller who is alone has an answer in a fifth of the time when neither of its two rows waits for company. */
const crowdMin = 8
/** The network has acted, so we retry its answer while the database is away for a moment. */
const attemptsMax = 4
const retryMs = 50

type Write = { readonly row: NewRow } | { readonly change: CardChange }

type ReversingChange = CardChange & { readonly reversals: readonly NewReversal[] }

/** Writes that come at the same time share statements and commits. */
export type CardWriter = {
  /** @returns false if the key was used before; @throws ApiError `cards_too_busy` */
  readonly insert: (row: NewRow) => Promise<boolean>
  /** @returns false if the transaction has left the expected state */
  readonly change: (change: CardChange) => Promise<boolean>
  /** The same, with reversals in the same commit. */
  readonly reverse: (change: ReversingChange) => Promise<boolean>
}

/** Tell a transaction whose step was written from one whose step another process has taken back, or has done itself. */
const told = [
  ...(['status', 'operation', 'operationStan', 'captureStan'] as const),
  ...(['amountCents', 'capturedCents', 'refundedCents', 'reversedCents'] as const),
]

/** @param onReversals called after a commit with reversals */
export const createCardWriter = (
  sql: Client,
  insertReversals: InsertReversals,
  onReversals: () => void,
  emission: EmitWithin | undefined,
): CardWriter => {
  const bounds = {
    rowsMax,
    writersMax,
    writers: new Writers(),
    besideMin: rowsEnough,
    rowsEnough,
    spacingMs,
    crowdMin,
    waitingMax: Number.POSITIVE_INFINITY,
  }
  const write = createGatherer<Write, boolean>({
    ...bounds,
    isRowFault,
    write: async (all) => {
      const rows = all.flatMap((one) => ('row' in one ? [one.row] : []))
      const changes = all.flatMap((one) => ('change' in one ? [one.change] : []))
      const { inserted, changed } = await writeTransactions(sql, rows, changes, emission)
      const [ofRows, ofChanges] = [inserted.values(), changed.values()]
      return all.map((one) => ('row' in one ? ofRows : ofChanges).next().value === true)
    },
  })
  let waiting = 0
  const insert = async (row: NewRow): Promise<boolean> => {
    if (waiting >= waitingMax) throw busy()
    waiting++
    try {
      return await write({ row })
    } finally {
      waiting--
    }
  }
  const reverse = createGatherer<ReversingChange, boolean>({
    ...bounds,
    isRowFault,
    write: async (rows) => {
      const committed = await sql.begin(async (tx) => {
        const written = await changeTransactions(tx, rows, emission)
        const reversals = rows.filter((_, at) => written[at]).flatMap((row) => row.reversals)
        if (reversals.length > 0) await insertReversals(tx, reversals)
        return written
      })
      onReversals()
      return committed
    },
  })

  /** If a retry finds its own result stored, an earlier attempt committed, but we did not hear of it. */
  const repeated = async <C extends CardChange>(
    write: (change: C) => Promise<boolean>,
    one: C,
  ): Promise<boolean> => {
    for (let attempt = 1; ; attempt++) {
      try {
        const isWritten = await write(one)
        if (isWritten || attempt === 1) return isWritten
        const row = await transactionById(sql, one.before.id)
        return row !== undefined && told.every((member) => row[member] === one.after[member])
      } catch (error) {
        if (attempt === attemptsMax || !isTransientDatabaseError(error)) throw error
        await Bun.sleep(retryMs * 2 ** attempt)
      }
    }
  }

  return {
    insert,
    change: (one) => repeated((change) => write({ change }), one),
    reverse: (one) => repeated(reverse, one),
  }
}

const busy = (): ApiError =>
  new ApiError(cardErrors.cards_too_busy, 'Too many card transactions wait to be written.', {
    details: { field: null, value: null, sent: false },
  })
