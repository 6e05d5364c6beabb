/** Items by the tick in which their time is over. */
import { steadyClock } from '../steady-clock.ts'

export const tickMs = 50
const tickAt = (ms: number): number => Math.floor(ms / tickMs)

export const createDeadlines = <Item>(now: () => number) => {
  const steady = steadyClock(now)
  const byTick = new Map<number, Item[]>()
  let sweptTick = tickAt(steady())
  return {
    /** @param inMs from now on; once it is filed an item stays until then */
    file: (item: Item, inMs: number): void => {
      const tick = Math.max(tickAt(steady() + inMs), sweptTick) + 1
      const due = byTick.get(tick)
      if (due === undefined) byTick.set(tick, [item])
      else due.push(item)
    },
    /** The items whose time is over, each once, in the order of their times. */
    takeDue: (): readonly Item[] => {
      const upTo = tickAt(steady())
      if (upTo <= sweptTick) return []
      sweptTick = upTo
      const ticks = [...byTick.keys()].filter((tick) => tick <= upTo).sort((a, b) => a - b)
      return ticks.flatMap((tick) => {
        const due = byTick.get(tick) ?? []
        byTick.delete(tick)
        return due
      })
    },
  }
}
