/**
 * How long one node is waited for before the next is asked beside it: four times as long as the quickest node is used to
 * take, and some time for each call. A node that answers late does not make it longer.
 */
export type Patience<Node> = {
  readonly took: (node: Node, ms: number) => void
  readonly forCallsMs: (calls: number) => number
}

/** Before any node has answered. */
const firstMs = 500
const leastMs = 100
const times = 4
const perCallMs = 5
/** How much of a node's longest exchange still counts after each further one. */
const leftOfLongest = 0.9

/** @param callsMax of one exchange */
export const createPatience = <Node>(callsMax: number): Patience<Node> => {
  const usualMs = new Map<Node, number>()
  return {
    took(node, ms) {
      usualMs.set(node, Math.max(ms, (usualMs.get(node) ?? 0) * leftOfLongest))
    },
    forCallsMs(calls) {
      if (usualMs.size === 0) return firstMs
      const quickest = Math.min(...usualMs.values())
      return Math.max(leastMs, times * quickest) + perCallMs * Math.min(calls, callsMax)
    },
  }
}
