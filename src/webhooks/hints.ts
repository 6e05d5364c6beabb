import { type Client, hint } from '#src/platform/database/index.ts'

/** Relays listen to it. */
export const eventsChannel = 'webhook_events'
const gatherMs = 2

/** Clients that are about to tell, and whether there is more since. */
const telling = new WeakMap<Client, { isMore: boolean }>()

/**
 * Tells relays that there are events, once these are committed: what comes within some milliseconds, or while a hint is
 * under way, shares one. Who misses it finds them a little later.
 *
 * @param sql undefined if it is not known: then nobody is told
 */
export const tellOfEvents = (sql: Client | undefined): void => {
  if (sql === undefined) return
  const current = telling.get(sql)
  if (current === undefined) void tellAll(sql)
  else current.isMore = true
}

const tellAll = async (sql: Client): Promise<void> => {
  const state = { isMore: true }
  telling.set(sql, state)
  while (state.isMore) {
    await Bun.sleep(gatherMs)
    state.isMore = false
    await hint(sql, eventsChannel, '')
  }
  telling.delete(sql)
}
