import { type Client, createHints, type Hints } from '#src/platform/database/index.ts'

/** Relays listen to it. */
export const eventsChannel = 'webhook_events'

const hints = new WeakMap<Client, Hints>()

/**
 * Tells relays that there are events, once these are committed.
 *
 * @param sql undefined if we do not know it: then nobody gets a hint
 */
export const tellOfEvents = (sql: Client | undefined): void => {
  if (sql === undefined) return
  const own = hints.get(sql) ?? createHints(sql, eventsChannel, () => '')
  hints.set(sql, own)
  own.tell()
}
