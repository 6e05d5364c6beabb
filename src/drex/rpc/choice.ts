/** Which node is asked: the one that had least trouble of late, and of several alike the one that is named first. */
export type Choice<Node> = {
  /** @returns undefined if all are excluded */
  readonly best: (except: ReadonlySet<Node>) => Node | undefined
  /** @param well false: it failed, was slow, or told what cannot be so */
  readonly went: (node: Node, well: boolean) => void
}

/** How much of a node's standing one bad exchange takes, and what is left of its trouble after a good one. */
const badShare = 0.3
const leftAfterGood = 0.9
/** A node that is not asked is forgiven half in this time. */
const halfLifeMs = 30_000
/** Less counts as none. */
const troubleMin = 0.05

/** @param nowMs a clock that only moves forward */
export const createChoice = <Node>(
  nodes: readonly Node[],
  nowMs: () => number = () => performance.now(),
): Choice<Node> => {
  const troubles = new Map<Node, { readonly value: number; readonly atMs: number }>()
  const troubleOf = (node: Node): number => {
    const { value, atMs } = troubles.get(node) ?? { value: 0, atMs: 0 }
    const left = value * 2 ** ((atMs - nowMs()) / halfLifeMs)
    return left < troubleMin ? 0 : left
  }
  return {
    best(except) {
      let best: { readonly node: Node; readonly trouble: number } | undefined
      for (const node of nodes) {
        if (except.has(node)) continue
        const trouble = troubleOf(node)
        if (best === undefined || trouble < best.trouble) best = { node, trouble }
      }
      return best?.node
    },
    went(node, well) {
      const before = troubleOf(node)
      if (well && before === 0) return
      const value = well ? before * leftAfterGood : before + (1 - before) * badShare
      troubles.set(node, { value, atMs: nowMs() })
    },
  }
}
