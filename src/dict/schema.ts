import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { ClaimType, KeyType } from '#codecs/dict'
import { constants, instant } from '#src/platform/database/columns.ts'
import { type ClaimStatus, endedStatuses, type Role } from './claims/domain.ts'
import { type EntryStatus, goneStatuses, openStatuses } from './entries/domain.ts'

/**
 * Lookups that a payer has been shown and may pay by. What was shown is kept as a digest alone, by which a later answer
 * is compared: the directory's personal data is not stored.
 */
export const dictLookups = pgTable(
  'dict_lookups',
  {
    endToEndId: text('end_to_end_id').primaryKey(),
    account: text().notNull(),
    /** 16 random bytes in hexadecimal, which both digests are keyed by. */
    salt: text().notNull(),
    /** The digest of the key and the payer. */
    askedDigest: text('asked_digest').notNull(),
    /** Content identifier of the entry. */
    entryDigest: text('entry_digest').notNull(),
    /** Whether the directory was asked with this id, and not an answer used again. */
    wasAsked: boolean('was_asked').notNull(),
    createdAt: instant('created_at').notNull(),
    /** When a payment was made by it. */
    usedAt: instant('used_at'),
  },
  (table) => [index('dict_lookups_created_at').on(table.createdAt)],
)

/** The entries that this institution keeps in the directory for its own customers. */
export const dictEntries = pgTable(
  'dict_entries',
  {
    /** The RequestId that made the entry, which its content identifier is keyed by. */
    id: uuid().primaryKey(),
    /** Public id of the API key. */
    createdBy: text('created_by').notNull(),
    keyType: text('key_type').$type<KeyType>().notNull(),
    /** Null of an EVP until the directory has made it. */
    key: text(),
    /** `registering`, `registered`, `changing`, `removing`, `removed` or `refused`. */
    status: text().$type<EntryStatus>().notNull(),
    /** JSON of owner and account, in the exact characters that the directory was given. */
    content: text().notNull(),
    /** JSON of what the directory is asked for: a content, or why the entry is to go. */
    wanted: text(),
    /** Content identifier; null until the directory has it. */
    cid: text(),
    /** The directory's name for why it refused. */
    refusal: text(),
    ownedSince: text('owned_since'),
    createdAt: instant('created_at').notNull(),
    changedAt: instant('changed_at').notNull(),
    /** Grows with each change. */
    version: integer().notNull().default(0),
  },
  (table) => [
    uniqueIndex('dict_entries_key')
      .on(table.key)
      .where(sql`key is not null and status not in (${constants(goneStatuses)})`),
    index('dict_entries_listed').on(table.createdAt, table.id),
    index('dict_entries_of_key').on(table.key, table.createdAt, table.id),
    index('dict_entries_checked').on(table.keyType, table.id).where(sql`cid is not null`),
    index('dict_entries_open')
      .on(table.changedAt)
      .where(sql`status in (${constants(openStatuses)})`),
  ],
)

/** Claims to keys: this institution's own, and those against keys that it keeps. */
export const dictClaims = pgTable(
  'dict_claims',
  {
    /** Ours: the RequestId of the entry that the claim ends with. */
    id: uuid().primaryKey(),
    /** The directory's; null until it has answered. */
    claimId: uuid('claim_id'),
    /** Public id of the API key; null of a claim that was found in the directory. */
    createdBy: text('created_by'),
    /** `donor` or `claimer`. */
    role: text().$type<Role>().notNull(),
    /** `OWNERSHIP` or `PORTABILITY`. */
    type: text().$type<ClaimType>().notNull(),
    keyType: text('key_type').$type<KeyType>().notNull(),
    key: text().notNull(),
    /** ISPB of the other side; null until the directory names it. */
    counterparty: text(),
    /** `opening`, `open`, `waiting_resolution`, `confirmed`, `cancelled`, `completed` or `refused`. */
    status: text().$type<ClaimStatus>().notNull(),
    /** JSON of owner and account of our customer who claims. */
    content: text(),
    /** JSON of what the directory is asked for. */
    wanted: text(),
    /** The directory's name for why it refused. */
    refusal: text(),
    resolutionEndsAt: instant('resolution_ends_at'),
    completionEndsAt: instant('completion_ends_at'),
    confirmReason: text('confirm_reason'),
    cancelReason: text('cancel_reason'),
    /** `DONOR` or `CLAIMER`. */
    cancelledBy: text('cancelled_by'),
    /** When the directory last changed it, by its clock. */
    modifiedAt: instant('modified_at'),
    /** When the directory was last asked to open it. */
    toldAt: instant('told_at'),
    /** Grows with each change. */
    version: integer().notNull(),
    /** When there is something to do for it; null once it has ended. */
    dueAt: instant('due_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('dict_claims_known').on(table.claimId, table.role).where(sql`claim_id is not null`),
    uniqueIndex('dict_claims_going')
      .on(table.key)
      .where(sql`role = 'claimer' and status not in (${constants(endedStatuses)})`),
    index('dict_claims_of_key').on(table.key, table.createdAt, table.id),
    index('dict_claims_of_role_status').on(table.role, table.status, table.createdAt, table.id),
    index('dict_claims_waiting')
      .on(table.createdAt, table.id)
      .where(
        sql`wanted is null and (role = 'donor' and status = 'waiting_resolution' or role = 'claimer' and status = 'confirmed' and type = 'OWNERSHIP')`,
      ),
    index('dict_claims_due').on(table.dueAt).where(sql`due_at is not null`),
  ],
)

/** Where versions before the lists of `dict_lists` kept up to where the directory's lists of claims were read. Unused. */
export const dictClaimLists = pgTable('dict_claim_lists', {
  /** The side of the claims: `donor` or `claimer`. */
  role: text().primaryKey(),
  readUpTo: instant('read_up_to').notNull(),
})
