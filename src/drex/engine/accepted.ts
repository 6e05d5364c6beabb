/** How long a transaction may be told as signed that a node has taken. */
const waitMs = 500

/**
 * Transactions that a node has taken and the database does not show yet. On a fast chain most are mined before that is
 * worth a write of its own. A process that ends meanwhile leaves it signed, and whoever takes it up sends it again.
 *
 * @param nowMs a clock that only moves forward
 */
export const createAccepted = (nowMs: () => number = () => performance.now()) => {
  /** Since when, oldest first. */
  const sinceMs = new Map<string, number>()
  return {
    add(ids: readonly string[]): void {
      for (const id of ids) if (!sinceMs.has(id)) sinceMs.set(id, nowMs())
    },
    /** Its receipt is there. */
    drop: (id: string) => sinceMs.delete(id),
    count: () => sinceMs.size,
    /** Takes out what has waited for long enough, or all of it. */
    takeDue(all?: 'all'): readonly string[] {
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

export type Accepted = ReturnType<typeof createAccepted>
