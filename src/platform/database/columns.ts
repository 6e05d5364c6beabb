/** Columns that all tables share, for `schema.ts`. */

import { sql } from 'drizzle-orm'
import { customType, timestamp } from 'drizzle-orm/pg-core'

export const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

/** A point in time. */
export const instant = (name: string) => timestamp(name, { withTimezone: true })

/** States of a domain's table as they stand in the `in (…)` of an index. */
export const constants = (states: Iterable<string>) =>
  sql.raw([...states].map((state) => `'${state}'`).join(', '))
