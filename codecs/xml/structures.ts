import { isElement, kindMask, nodeFlags, nodeName, nodeStride } from './layout.ts'

/** Structures that are remembered; one more takes the place of another. */
const structuresMax = 2048
/** A structure is learned so often because it came again: each time one more of its values may be seen to vary. */
export const relearningsMax = 8

/** Remembers recent structures. A structure that recurs is worth learning; most others are never learned. */
export class Structures {
  private readonly hashes = new Int32Array(structuresMax)
  private readonly learnings = new Uint8Array(structuresMax)

  /** Whether the structure came before and has not been learned too often. */
  recurs(structure: number): boolean {
    const { hashes } = this
    // Two slots: in the first is what came there last.
    const first = structure & (structuresMax - 2)
    const at = hashes[first] === structure ? first : first + 1
    if (hashes[at] !== structure) {
      this.remember(structure, first)
      return false
    }
    const learned = this.learnings[at] as number
    if (learned === relearningsMax) return false
    this.learnings[at] = learned + 1
    return true
  }

  private remember(structure: number, first: number): void {
    const { hashes, learnings } = this
    hashes[first + 1] = hashes[first] as number
    learnings[first + 1] = learnings[first] as number
    hashes[first] = structure
    learnings[first] = 0
  }

  /** Forgets that structures were learned, so that they may be learned again. */
  forgetLearnings(): void {
    this.learnings.fill(0)
  }
}

/** A hash of the kinds and names of nodes, in document order, and of how many attributes elements have. */
export const structureOf = (nodes: Int32Array, firstNode: number, endNode: number): number => {
  let hash = endNode - firstNode
  for (let at = firstNode * nodeStride; at < endNode * nodeStride; at += nodeStride) {
    const flags = nodes[at + nodeFlags] as number
    const own = isElement(flags) ? flags : flags & kindMask
    hash = Math.imul(hash ^ own ^ ((nodes[at + nodeName] as number) << 16), 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return hash
}
