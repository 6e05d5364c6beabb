/** Columns that all tables share. Only for `schema.ts`: the running program loads nothing of it. */

import { customType, timestamp } from 'drizzle-orm/pg-core'

export const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

/** A point in time. */
export const instant = (name: string) => timestamp(name, { withTimezone: true })
