import { every } from '#src/platform/jobs/index.ts'

/** Times by which something must have happened. */

export type Deadlines<T> = {
  readonly add: (item: T, dueAtMs: number) => void
  readonly done: (item: T) => void
  readonly stop: () => void
}

const sweepMs = 50

/** One timer for all: an item has passed when the sweep after its time finds it. */
export const createDeadlines = <T extends object>(options: {
  readonly now: () => number
  readonly onPassed: (items: readonly T[]) => void
}): Deadlines<T> => {
  const { now, onPassed } = options
  const byTick = new Map<number, Set<T>>()
  const tickOf = new Map<T, number>()
  const tickAt = (ms: number): number => Math.floor(ms / sweepMs)
  let swept = tickAt(now())

  const take = (tick: number): readonly T[] => {
    const items = [...(byTick.get(tick) ?? [])]
    byTick.delete(tick)
    for (const item of items) tickOf.delete(item)
    return items
  }
  const sweep = (): void => {
    const upTo = tickAt(now())
    // A clock that leaps passes more ticks than there are items.
    const ticks =
      upTo - swept > byTick.size
        ? [...byTick.keys()].filter((tick) => tick <= upTo).sort((a, b) => a - b)
        : Array.from({ length: Math.max(0, upTo - swept) }, (_, index) => swept + 1 + index)
    swept = Math.max(swept, upTo)
    const passed = ticks.flatMap(take)
    if (passed.length > 0) onPassed(passed)
  }
  const stop = every(sweepMs, sweep)
  return {
    add: (item, dueAtMs) => {
      const tick = Math.max(tickAt(dueAtMs), swept) + 1
      const items = byTick.get(tick)
      if (items === undefined) byTick.set(tick, new Set([item]))
      else items.add(item)
      tickOf.set(item, tick)
    },
    done: (item) => {
      const tick = tickOf.get(item)
      if (tick === undefined) return
      tickOf.delete(item)
      const items = byTick.get(tick)
      items?.delete(item)
      if (items?.size === 0) byTick.delete(tick)
    },
    stop,
  }
}
