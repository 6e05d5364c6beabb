/** What is open: calls, connections. */
export type OpenSet<T> = {
  readonly size: () => number
  readonly add: (item: T) => void
  readonly delete: (item: T) => void
  /** The present members: the set may change while you go through them. */
  readonly items: () => readonly T[]
  /** Resolves when nothing is open. */
  readonly empty: () => Promise<void>
}

export const createOpenSet = <T>(): OpenSet<T> => {
  const open = new Set<T>()
  const waiting: (() => void)[] = []
  return {
    size: () => open.size,
    add: (item) => {
      open.add(item)
    },
    delete: (item) => {
      if (!open.delete(item) || open.size > 0) return
      for (const resolve of waiting.splice(0)) resolve()
    },
    items: () => [...open],
    empty: async () => {
      if (open.size > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
