const rememberedMax = 100_000

/** At which head each transaction was sent last: while no block is made, no fee makes one, and none is raised. */
export const createHeads = () => {
  const sentAt = new Map<string, number>()
  /** Sent since a head was told last. What is known of the chain may be older than what they met there. */
  let fresh: string[] = []
  let head: number | undefined
  let changedMs: number | undefined
  let toldMs = 0
  const remember = (id: string): void => {
    if (head === undefined) return
    sentAt.delete(id)
    if (sentAt.size >= rememberedMax) sentAt.delete(sentAt.keys().next().value!)
    sentAt.set(id, head)
  }
  return {
    /** The newest head that was told. */
    told(next: number): void {
      toldMs = performance.now()
      if (next !== head) changedMs = toldMs
      head = next
      for (const id of fresh) remember(id)
      fresh = []
    },
    /** Time since the head was another, in milliseconds; undefined before the first. */
    ageMs: () => (changedMs === undefined ? undefined : performance.now() - changedMs),
    /**
     * For how long the head was told to be the same, in milliseconds. Time in which nobody asked, because the database or
     * this process stood still, says nothing of the chain.
     */
    stillMs: () => (changedMs === undefined ? 0 : toldMs - changedMs),
    sent(ids: readonly string[]): void {
      for (const id of ids) sentAt.delete(id)
      fresh = [...fresh, ...ids].slice(-rememberedMax)
    },
    /** @returns false also for one that another process sent: from now on it is known */
    hasMovedSince(id: string): boolean {
      const before = sentAt.get(id)
      if (before === undefined) remember(id)
      return before !== undefined && head !== undefined && head > before
    },
  }
}

export type Heads = ReturnType<typeof createHeads>
