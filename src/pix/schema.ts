import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** Who is paid by a Pix key: only the account that it belongs to may charge with it. */
export const pixReceivers = pgTable(
  'pix_receivers',
  {
    /** In the canonical form of the directory. */
    key: text().primaryKey(),
    account: text().notNull(),
    /** CPF or CNPJ. */
    taxId: text('tax_id').notNull(),
    name: text().notNull(),
    city: text().notNull(),
    /** Street, state and postal code (CEP): charges with a due date need all three. */
    street: text(),
    state: text(),
    postalCode: text('postal_code'),
    /** The account that is credited, where it is known: its number, branch and type. */
    accountNumber: text('account_number'),
    branch: text(),
    accountType: text('account_type'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('pix_receivers_tax_id').on(table.taxId),
    index('pix_receivers_account').on(table.account, table.key),
  ],
)

/** Short-lived tokens, by the hash of their text. */
export const pixTokens = pgTable(
  'pix_tokens',
  {
    /** SHA-256, in base64url. */
    hash: text().primaryKey(),
    keyId: text('key_id').notNull(),
    scopes: text().array().notNull(),
    /** SHA-256 of the certificate that it is bound to. */
    certificate: text(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('pix_tokens_expires_at').on(table.expiresAt)],
)

/** Charges, immediate (`cob`) or with a due date (`cobv`), each as it is now. */
export const pixCharges = pgTable(
  'pix_charges',
  {
    id: uuid().primaryKey(),
    account: text().notNull(),
    /** `cob` or `cobv`. */
    kind: text().notNull().default('cob'),
    /** The number of the receiver; with the txid it names the charge in a payment. */
    taxId: text('tax_id').notNull(),
    txid: text().notNull(),
    status: text().notNull().default('ATIVA'),
    revision: integer().notNull().default(0),
    key: text().notNull(),
    originalCents: bigint('original_cents', { mode: 'bigint' }).notNull(),
    /** 1: the payer may choose another amount. */
    alteration: smallint().notNull().default(0),
    expiresSeconds: integer('expires_seconds').notNull(),
    debtorTaxId: text('debtor_tax_id'),
    /** JSON of devedor, solicitacaoPagador and infoAdicionais, as the standard writes them, of cash and of due terms. */
    content: text().notNull(),
    /** Whether a location shows it. */
    isShown: boolean('is_shown').notNull().default(false),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('pix_charges_of_account').on(table.account, table.txid),
    uniqueIndex('pix_charges_of_receiver').on(table.taxId, table.txid),
    index('pix_charges_by_debtor')
      .on(table.account, table.debtorTaxId, table.createdAt, table.id)
      .where(sql`debtor_tax_id is not null`),
    index('pix_cob_listed').on(table.account, table.createdAt, table.id).where(sql`kind = 'cob'`),
    index('pix_cob_by_status')
      .on(table.account, table.status, table.createdAt, table.id)
      .where(sql`kind = 'cob'`),
    index('pix_charges_by_kind_shown').on(
      table.account,
      table.kind,
      table.isShown,
      table.createdAt,
      table.id,
    ),
    index('pix_cobv_listed').on(table.account, table.createdAt, table.id).where(sql`kind = 'cobv'`),
    index('pix_cobv_by_status')
      .on(table.account, table.status, table.createdAt, table.id)
      .where(sql`kind = 'cobv'`),
    index('pix_cobv_by_debtor')
      .on(table.account, table.debtorTaxId, table.createdAt, table.id)
      .where(sql`kind = 'cobv'`),
  ],
)

/** What a charge was before it was revised. */
export const pixChargeRevisions = pgTable(
  'pix_charge_revisions',
  {
    chargeId: uuid('charge_id')
      .notNull()
      .references(() => pixCharges.id, { onDelete: 'cascade' }),
    revision: integer().notNull(),
    /** JSON of the row as it was. */
    charge: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chargeId, table.revision] })],
)

/** Batches of charges with a due date, which are asked for, and told of, together. */
export const pixBatches = pgTable(
  'pix_batches',
  {
    account: text().notNull(),
    /** The receiver's. */
    id: bigint({ mode: 'bigint' }).notNull(),
    description: text().notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.id] }),
    index('pix_batches_listed').on(table.account, table.createdAt, table.id),
  ],
)

/** What a batch asks for: a charge belongs to one batch, or to none. */
export const pixBatchItems = pgTable(
  'pix_batch_items',
  {
    account: text().notNull(),
    txid: text().notNull(),
    batchId: bigint('batch_id', { mode: 'bigint' }).notNull(),
    position: integer().notNull(),
    /** `EM_PROCESSAMENTO`, `CRIADA` or `NEGADA`. */
    status: text().notNull(),
    /** JSON of why it was denied. */
    problem: text(),
    /** When the charge was made; null: it is not there. */
    createdAt: instant('created_at'),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.txid] }),
    index('pix_batch_items_of_batch').on(table.account, table.batchId, table.position),
  ],
)

/** Addresses of payloads: each shows one charge at a time. */
export const pixLocations = pgTable(
  'pix_locations',
  {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    account: text().notNull(),
    /** The secret end of the address. */
    token: text().notNull(),
    /** `cob` or `cobv`. */
    kind: text().notNull(),
    chargeId: uuid('charge_id').references(() => pixCharges.id, { onDelete: 'set null' }),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('pix_locations_token').on(table.token),
    uniqueIndex('pix_locations_charge').on(table.chargeId).where(sql`charge_id is not null`),
    index('pix_locations_listed').on(table.account, table.createdAt, table.id),
    index('pix_locations_by_use').on(
      table.account,
      sql`(charge_id is not null)`,
      table.createdAt,
      table.id,
    ),
  ],
)

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
      .where(sql`status in ('CRIADA', 'ENVIADA', 'RECEBIDA')`),
    index('pix_recurrence_requests_due')
      .on(table.expiresAt)
      .where(sql`status in ('CRIADA', 'ENVIADA', 'RECEBIDA')`),
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

/** Payments to receivers whom we know, from the moment that the SPI tells of them. */
export const pixReceived = pgTable(
  'pix_received',
  {
    endToEndId: text('end_to_end_id').primaryKey(),
    account: text().notNull(),
    /** Null: it was paid to account and branch. */
    key: text(),
    txid: text(),
    chargeId: uuid('charge_id').references(() => pixCharges.id, { onDelete: 'set null' }),
    amountCents: bigint('amount_cents', { mode: 'bigint' }).notNull(),
    payerTaxId: text('payer_tax_id').notNull(),
    info: text(),
    /** JSON of componentesValor, of a charge with a due date or of a payment with cash. */
    components: text(),
    /** `PENDENTE`, `RECUSADO` (by us), `NAO_REALIZADO` (by the SPI) or `LIQUIDADO`. */
    status: text().notNull(),
    /** Code of why we refused it. */
    refusal: text(),
    receivedAt: instant('received_at').notNull(),
    settledAt: instant('settled_at'),
    hasReturns: boolean('has_returns').notNull().default(false),
  },
  (table) => [
    index('pix_received_charge').on(table.chargeId).where(sql`charge_id is not null`),
    index('pix_received_listed')
      .on(table.account, table.settledAt, table.endToEndId)
      .where(sql`settled_at is not null`),
    index('pix_received_by_txid')
      .on(table.account, table.txid, table.settledAt)
      .where(sql`settled_at is not null and txid is not null`),
    index('pix_received_by_payer')
      .on(table.account, table.payerTaxId, table.settledAt)
      .where(sql`settled_at is not null`),
    index('pix_received_returned')
      .on(table.account, table.settledAt, table.endToEndId)
      .where(sql`settled_at is not null and has_returns`),
  ],
)

/** Returns that receivers have asked for. */
export const pixReturns = pgTable(
  'pix_returns',
  {
    endToEndId: text('end_to_end_id')
      .notNull()
      .references(() => pixReceived.endToEndId, { onDelete: 'cascade' }),
    /** The receiver's. */
    id: text().notNull(),
    /** RtrId. */
    returnId: text('return_id').notNull(),
    amountCents: bigint('amount_cents', { mode: 'bigint' }).notNull(),
    nature: text().notNull(),
    description: text(),
    /** `EM_PROCESSAMENTO`, `DEVOLVIDO` or `NAO_REALIZADO`. */
    status: text().notNull().default('EM_PROCESSAMENTO'),
    /** Code of why it was not made. */
    reason: text(),
    requestedAt: instant('requested_at').notNull(),
    settledAt: instant('settled_at'),
  },
  (table) => [
    primaryKey({ columns: [table.endToEndId, table.id] }),
    uniqueIndex('pix_returns_return_id').on(table.returnId),
  ],
)
