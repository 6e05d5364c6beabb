/**
 * What a node has taken and the database does not tell yet. On a fast chain most of it is in a block before that is
 * worth a write of its own. A process that ends meanwhile leaves it signed, and whoever takes it up sends it again.
 */
export type Accepted = {
  readonly add: (ids: readonly string[]) => void
  /** Its receipt is there. */
  readonly drop: (id: string) => void
  readonly count: () => number
  /** Takes out what has waited for long enough, or all of it. */
  readonly takeDue: (all?: 'all') => readonly string[]
}

/** How long a transaction may be told as signed that a node has taken. */
const waitMs = 500

/** @param nowMs a clock that only moves forward */
export const createAccepted = (nowMs: () => number = () => performance.now()): Accepted => {
  /** Since when, oldest first. */
  const sinceMs = new Map<string, number>()
  return {
    add(ids) {
      for (const id of ids) if (!sinceMs.has(id)) sinceMs.set(id, nowMs())
    },
    drop: (id) => sinceMs.delete(id),
    count: () => sinceMs.size,
    takeDue(all) {
      const due: string[] = []
      for (const [id, since] of sinceMs) {
        if (all === undefined && since + waitMs > nowMs()) break
        due.push(id)
        sinceMs.delete(id)
      }
      return due
    },
  }
}
