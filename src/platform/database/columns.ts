/** Columns that all tables have alike. For `schema.ts` alone: nothing of it is loaded at run time. */

import { customType, timestamp } from 'drizzle-orm/pg-core'

export const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

/** A point in time. */
export const instant = (name: string) => timestamp(name, { withTimezone: true })
