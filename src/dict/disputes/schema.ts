import { sql } from 'drizzle-orm'
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { constants, instant } from '#src/platform/database/columns.ts'
import { type DisputeRole, type DisputeStatus, unansweredStatuses } from './domain.ts'

/** Infraction reports and refund requests that this institution is a party of. */
export const dictDisputes = pgTable(
  'dict_disputes',
  {
    id: uuid().primaryKey(),
    /** `infraction` or `refund`. */
    kind: text().notNull(),
    /** Null until the directory has it. */
    directoryId: uuid('directory_id'),
    /** `asking` or `asked`. */
    role: text().$type<DisputeRole>().notNull(),
    /** `requested`, `open`, `acknowledged`, `closed`, `cancelled` or `refused`. */
    status: text().$type<DisputeStatus>().notNull(),
    /** EndToEndId of the payment. */
    transactionId: text('transaction_id').notNull(),
    reason: text().notNull(),
    /** ISPB of the other institution; null until the directory names it. */
    other: text(),
    /** JSON of the rest of what the directory shows. */
    content: text().notNull(),
    /** JSON of what we want of the directory, and have no answer to. */
    wanted: text(),
    /** Why what was asked last did not come about: the directory's code, or the reason of a rejected return. */
    refusal: text(),
    /** RtrId of the pacs.004 that gives the payment back; below it, when that was found to be settled. */
    returnId: text('return_id'),
    returnedAt: instant('returned_at'),
    /** Public id of the API key that asked; null: the directory told of it. */
    createdBy: text('created_by'),
    createdAt: instant('created_at').notNull(),
    /** By the directory's clock. */
    modifiedAt: instant('modified_at'),
    /** The last request that may have made it; null: none is noted. */
    toldAt: instant('told_at'),
    /** Its turn among those that wait for the directory. */
    triedAt: instant('tried_at').notNull(),
  },
  (table) => [
    uniqueIndex('dict_disputes_directory_id')
      .on(table.kind, table.directoryId)
      .where(sql`directory_id is not null`),
    // What we ask for and have no end of is asked for once.
    uniqueIndex('dict_disputes_asked')
      .on(table.kind, table.transactionId, table.reason)
      .where(
        sql`role = 'asking' and status in (${constants(['requested', ...unansweredStatuses])})`,
      ),
    // Money goes back once by one request, and one return answers one request.
    uniqueIndex('dict_disputes_return')
      .on(table.returnId)
      .where(sql`return_id is not null and role = 'asked'`),
    index('dict_disputes_of_role_status').on(
      table.kind,
      table.role,
      table.status,
      table.createdAt,
      table.id,
    ),
    index('dict_disputes_needing')
      .on(table.kind, table.createdAt, table.id)
      .where(
        sql`wanted is null and role = 'asked' and status in (${constants(unansweredStatuses)})`,
      ),
    index('dict_disputes_transaction').on(table.transactionId, table.kind),
    index('dict_disputes_waiting')
      .on(table.kind, table.triedAt)
      .where(
        sql`status = 'requested' or wanted is not null or (role = 'asking' and return_id is not null and returned_at is null)`,
      ),
  ],
)

/** Until when the lists of the directory have been read, by its clock; those of claims, too. */
export const dictLists = pgTable('dict_lists', {
  list: text().primaryKey(),
  readUntil: instant('read_until').notNull(),
  /** The items that could not be received, as JSON, with how often that was tried. */
  failing: text(),
})
