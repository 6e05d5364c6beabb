import type { Lead, MessageFilter } from './domain.ts'

/** A filter that too many messages meet will hardly be met by few so soon: they are not counted again for this long. */
const knownMs = 10_000
const filtersMax = 1_000

export type ManyMatches = ReturnType<typeof createManyMatches>

/**
 * Remembers filters that more messages meet than are counted, and what a list of them is walked by.
 *
 * @param now in milliseconds, of a clock that only goes forward
 */
export const createManyMatches = (now: () => number = () => performance.now()) => {
  const known = new Map<string, { readonly lead: Lead; readonly untilMs: number }>()
  return {
    leadOf: (filter: MessageFilter) => {
      const found = known.get(keyOf(filter))
      return found !== undefined && now() < found.untilMs ? found.lead : undefined
    },
    learn: (filter: MessageFilter, lead: Lead): void => {
      const key = keyOf(filter)
      // In the order of time, so that the oldest goes when there are too many.
      known.delete(key)
      known.set(key, { lead, untilMs: now() + knownMs })
      if (known.size <= filtersMax) return
      for (const [oldest] of known) return void known.delete(oldest)
    },
  }
}

const keyOf = (filter: MessageFilter): string =>
  JSON.stringify(filter, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
