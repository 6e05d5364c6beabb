import { bigserial, index, pgTable, text } from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'
import type { KeyUse } from './types.ts'

/** Working keys that card networks have sent: of each network and use the one in use, the one before, and the next. */
export const cardLinkKeys = pgTable(
  'card_link_keys',
  {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    network: text().notNull(),
    use: text().$type<KeyUse>().notNull(),
    /** Under the master key; for a hardware module the key is under that one's own besides. */
    sealed: bytea().notNull(),
    /** A digest of the key that the settings named then: if they name another one, all begins anew. */
    origin: text().notNull(),
    offeredAt: instant('offered_at').notNull().defaultNow(),
    /** By the database's clock; null: the network is not known to use it. */
    usedSince: instant('used_since'),
  },
  (table) => [index('card_link_keys_network').on(table.network, table.id)],
)
