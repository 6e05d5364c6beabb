import type { KeptEntry } from '#codecs/dict'

/** Within the life of an answer we rarely need more; each takes about a kilobyte. */
const entriesMax = 10_000

/** Keeps answers of the directory for as long as they hold, in memory alone. */
export type EntryCache = {
  readonly find: (key: string) => KeptEntry | undefined
  readonly keep: (entry: KeptEntry, seconds: number) => void
}

export const createEntryCache = (secondsMax: number, nowMs: () => number): EntryCache => {
  const entries = new Map<string, { readonly entry: KeptEntry; readonly untilMs: number }>()
  return {
    find: (key) => {
      const kept = entries.get(key)
      if (kept === undefined || kept.untilMs > nowMs()) return kept?.entry
      entries.delete(key)
      return undefined
    },
    keep: (entry, seconds) => {
      const forMs = Math.min(seconds, secondsMax) * 1_000
      if (forMs === 0) return
      if (entries.size >= entriesMax) entries.clear()
      entries.set(entry.key, { entry, untilMs: nowMs() + forMs })
    },
  }
}
