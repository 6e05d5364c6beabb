import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { constants, instant } from '#src/platform/database/columns.ts'
import { liveStatuses } from '../requests/domain.ts'

/** Addresses of the payloads of recurrences: each shows one at a time. */
export const pixRecurrenceLocations = pgTable(
  'pix_recurrence_locations',
  {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    account: text().notNull(),
    /** The secret end of the address. */
    token: text().notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('pix_recurrence_locations_token').on(table.token),
    index('pix_recurrence_locations_listed').on(table.account, table.createdAt, table.id),
  ],
)

/** Recurrences (`rec`) of Pix Automático, each as it is now. */
export const pixRecurrences = pgTable(
  'pix_recurrences',
  {
    /** idRec. */
    id: text().primaryKey(),
    account: text().notNull(),
    /** CNPJ of the receiver. */
    taxId: text('tax_id').notNull(),
    receiverName: text('receiver_name').notNull(),
    agreement: text(),
    status: text().notNull().default('CRIADA'),
    debtorTaxId: text('debtor_tax_id').notNull(),
    /** JSON of the terms, with amounts as the standard writes them. */
    terms: text().notNull(),
    /** JSON of each status it has had, and since when. */
    history: text().notNull(),
    locationId: bigint('location_id', { mode: 'bigint' }).references(
      () => pixRecurrenceLocations.id,
    ),
    /** JSON of who pays, as his institution said. */
    payer: text(),
    /** `JORNADA_1` to `JORNADA_4`, once the payer has authorised it. */
    journey: text(),
    /** JSON of `encerramento`. */
    ending: text(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('pix_recurrences_location').on(table.locationId),
    index('pix_recurrences_listed').on(table.account, table.createdAt, table.id),
    index('pix_recurrences_waiting')
      .on(table.id)
      .where(sql`status = 'CRIADA' and journey is not null`),
    index('pix_recurrences_ending')
      .on(sql`(terms::json ->> 'endsOn')`)
      .where(sql`status = 'CRIADA'`),
    index('pix_recurrences_by_status').on(table.account, table.status, table.createdAt, table.id),
    index('pix_recurrences_by_debtor').on(
      table.account,
      table.debtorTaxId,
      table.createdAt,
      table.id,
    ),
    index('pix_recurrences_by_agreement').on(
      table.account,
      table.agreement,
      table.createdAt,
      table.id,
    ),
    index('pix_recurrences_by_use').on(
      table.account,
      sql`(location_id is not null)`,
      table.createdAt,
      table.id,
    ),
  ],
)

/** Requests to payers (`solicrec`) to authorise recurrences. */
export const pixRecurrenceRequests = pgTable(
  'pix_recurrence_requests',
  {
    /** idSolicRec. */
    id: text().primaryKey(),
    account: text().notNull(),
    recurrenceId: text('recurrence_id')
      .notNull()
      .references(() => pixRecurrences.id),
    status: text().notNull(),
    /** JSON of `destinatario`. */
    recipient: text().notNull(),
    /** JSON of each status it has had, and since when. */
    history: text().notNull(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('pix_recurrence_requests_of').on(table.recurrenceId, table.createdAt),
    uniqueIndex('pix_recurrence_requests_live')
      .on(table.recurrenceId)
      .where(sql`status in (${constants(liveStatuses)})`),
    index('pix_recurrence_requests_due')
      .on(table.expiresAt)
      .where(sql`status in (${constants(liveStatuses)})`),
  ],
)

/** Charges of recurrences (`cobr`), each as it is now. */
export const pixCollections = pgTable(
  'pix_collections',
  {
    account: text().notNull(),
    txid: text().notNull(),
    recurrenceId: text('recurrence_id')
      .notNull()
      .references(() => pixRecurrences.id),
    /** That of the recurrence, which keeps it: charges are listed by it. Empty: there is none; null: nobody has looked. */
    agreement: text(),
    /** The number of the receiver; with the txid it names the charge in a payment. */
    taxId: text('tax_id').notNull(),
    status: text().notNull(),
    /** `YYYY-MM-DD`. */
    dueOn: text('due_on').notNull(),
    /** Which of the periods since the recurrence begins. */
    cycle: integer().notNull(),
    amountCents: bigint('amount_cents', { mode: 'bigint' }).notNull(),
    /** JSON of what the receiver said besides. */
    content: text().notNull(),
    /** JSON of each status it has had, and since when. */
    history: text().notNull(),
    /** JSON of `encerramento`. */
    ending: text(),
    /** When something is to be done about it next; null: nothing. */
    nextAt: instant('next_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.txid] }),
    uniqueIndex('pix_collections_of_receiver').on(table.taxId, table.txid),
    uniqueIndex('pix_collections_of_cycle')
      .on(table.recurrenceId, table.cycle)
      .where(sql`status not in ('REJEITADA', 'CANCELADA')`),
    index('pix_collections_listed').on(table.account, table.createdAt, table.txid),
    index('pix_collections_by_status').on(table.account, table.status, table.createdAt, table.txid),
    index('pix_collections_by_agreement')
      .on(table.account, table.agreement, table.createdAt, table.txid)
      .where(sql`agreement is not null`),
    index('pix_collections_unfilled').on(table.agreement).where(sql`agreement is null`),
    index('pix_collections_of_recurrence').on(table.recurrenceId, table.createdAt, table.txid),
    index('pix_collections_due').on(table.nextAt).where(sql`next_at is not null`),
  ],
)

/** Attempts (`tentativa`) to collect a charge of a recurrence: each is one payment, or none. */
export const pixCollectionAttempts = pgTable(
  'pix_collection_attempts',
  {
    endToEndId: text('end_to_end_id').primaryKey(),
    account: text().notNull(),
    txid: text().notNull(),
    position: integer().notNull(),
    /** `AGND`, `NTAG` or `RIFL`. */
    kind: text().notNull(),
    /** `YYYY-MM-DD`. */
    settlesOn: text('settles_on').notNull(),
    status: text().notNull(),
    /** Code of why it was rejected. */
    reason: text(),
    /** JSON of each status it has had, and since when. */
    history: text().notNull(),
  },
  (table) => [
    uniqueIndex('pix_collection_attempts_of').on(table.account, table.txid, table.position),
  ],
)
