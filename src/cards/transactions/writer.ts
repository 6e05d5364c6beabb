import type { EmitWithin } from '#src/events.ts'
import {
  type Client,
  createGatherer,
  isTransientDatabaseError,
  OverloadedError,
} from '#src/platform/database/index.ts'
import { ApiError } from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import type { InsertReversals, NewReversal } from '../reversals/types.ts'
import {
  type CardChange,
  changeTransactions,
  insertTransactions,
  type NewRow,
  transactionById,
} from './store.ts'

const rowsMax = 200
/**
 * One statement of a kind at a time: what comes meanwhile shares the next. A statement of one row costs PostgreSQL
 * five times as much for a row as one of fifty, so more writers only make both sides slower.
 */
const writersMax = 1
const waitingMax = 10_000
/** A network has acted: its answer is worth waiting for a database that is away for a moment. */
const attemptsMax = 4
const retryMs = 50

type ReversingChange = CardChange & { readonly reversal: NewReversal }

/** Writes that come at the same time share statements and commits. */
export type CardWriter = {
  /** @returns false when the key was used before; @throws ApiError `cards_too_busy` */
  readonly insert: (row: NewRow) => Promise<boolean>
  /** @returns false when the transaction is no longer in the state that it is to leave */
  readonly change: (change: CardChange) => Promise<boolean>
  /** The same, with a reversal in the same commit. */
  readonly reverse: (change: ReversingChange) => Promise<boolean>
}

const bounds = { rowsMax: rowsMax, writersMax: writersMax, waitingMax: waitingMax }
const isRowFault = (error: unknown): boolean => !isTransientDatabaseError(error)

/** @param onReversals called after a commit with reversals */
export const createCardWriter = (
  sql: Client,
  insertReversals: InsertReversals,
  onReversals: () => void,
  emission: EmitWithin | undefined,
): CardWriter => {
  const insert = createGatherer<NewRow, boolean>({
    ...bounds,
    isRowFault,
    write: (rows) => insertTransactions(sql, rows),
  })
  const change = createGatherer<CardChange, boolean>({
    ...bounds,
    isRowFault,
    write: (rows) => changeTransactions(sql, rows, emission),
  })
  const reverse = createGatherer<ReversingChange, boolean>({
    ...bounds,
    isRowFault,
    write: async (rows) => {
      const committed = await sql.begin(async (tx) => {
        const written = await changeTransactions(tx, rows, emission)
        const reversals = rows.filter((_, at) => written[at]).map(({ reversal }) => reversal)
        if (reversals.length > 0) await insertReversals(tx, reversals)
        return written
      })
      onReversals()
      return committed
    },
  })

  /** After a repetition, a change that finds its own result has been made by an attempt whose commit went unheard. */
  const repeated = async <C extends CardChange>(
    write: (change: C) => Promise<boolean>,
    one: C,
  ): Promise<boolean> => {
    for (let attempt = 1; ; attempt++) {
      try {
        const isWritten = await write(one)
        if (isWritten || attempt === 1) return isWritten
        const row = await transactionById(sql, one.before.id)
        const { status, operation, operationStan } = one.after
        return (
          row?.status === status &&
          row.operation === operation &&
          row.operationStan === operationStan
        )
      } catch (error) {
        if (attempt === attemptsMax || !isTransientDatabaseError(error)) throw error
        await Bun.sleep(retryMs * 2 ** attempt)
      }
    }
  }

  return {
    insert: (row) => insert(row).catch(refuseWhenBusy),
    change: (one) => repeated(change, one),
    reverse: (one) => repeated(reverse, one),
  }
}

const refuseWhenBusy = (error: unknown): never => {
  if (!(error instanceof OverloadedError)) throw error
  throw new ApiError(cardErrors.cards_too_busy, 'Too many card transactions wait to be written.', {
    details: { field: null, value: null, sent: false },
    cause: error,
  })
}
