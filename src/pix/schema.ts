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
    /** SHA-256 of the secret that it was issued for, in hex; null for those stored before it was. */
    secretHash: text('secret_hash'),
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
    /** Names the change that began last: one before it goes no further. */
    turn: uuid(),
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
    index('pix_locations_by_kind').on(table.account, table.kind, table.createdAt, table.id),
    index('pix_locations_by_use').on(
      table.account,
      sql`(charge_id is not null)`,
      table.createdAt,
      table.id,
    ),
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
    /** The receiver's; null: a version before this column has written it down. */
    receiverTaxId: text('receiver_tax_id'),
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
    index('pix_received_unended')
      .on(table.receivedAt, table.endToEndId)
      .where(sql`status = 'PENDENTE'`),
    index('pix_received_listed')
      .on(table.account, table.settledAt, table.endToEndId)
      .where(sql`settled_at is not null`),
    index('pix_received_by_naming')
      .on(table.account, sql`(txid is not null)`, table.settledAt, table.endToEndId)
      .where(sql`settled_at is not null`),
    index('pix_received_by_txid')
      .on(table.account, table.txid, table.settledAt)
      .where(sql`settled_at is not null and txid is not null`),
    index('pix_received_by_payer')
      .on(table.account, table.payerTaxId, table.settledAt)
      .where(sql`settled_at is not null`),
    index('pix_received_by_returns')
      .on(table.account, table.hasReturns, table.settledAt, table.endToEndId)
      .where(sql`settled_at is not null`),
    index('pix_received_by_both')
      .on(
        table.account,
        sql`(has_returns::int * 2 + (txid is not null)::int)`,
        table.settledAt,
        table.endToEndId,
      )
      .where(sql`settled_at is not null`),
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
    index('pix_returns_unended')
      .on(table.requestedAt, table.endToEndId)
      .where(sql`status = 'EM_PROCESSAMENTO'`),
  ],
)
