/** What is open: calls, connections. */
export type OpenSet<T> = ReturnType<typeof createOpenSet<T>>

export const createOpenSet = <T>() => {
  const open = new Set<T>()
  const waiting: (() => void)[] = []
  return {
    size: () => open.size,
    add: (item: T): void => {
      open.add(item)
    },
    delete: (item: T): void => {
      if (!open.delete(item) || open.size > 0) return
      for (const resolve of waiting.splice(0)) resolve()
    },
    /** The present members: the set may change while you go through them. */
    items: (): readonly T[] => [...open],
    /** Resolves when nothing is open. */
    empty: async () => {
      if (open.size > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
