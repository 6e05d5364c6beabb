import { attributeStride, nodeStride } from './layout.ts'
import type { Source } from './source.ts'

/** Records of one array. Documents share it, one behind the other, until it is full, to save allocations. */
const sharedNodes = 8192
const sharedAttributes = 4096
/** A document starts in a new array when less than this share of one is left. */
const leftMin = 1 / 8
/** A larger array is kept for further documents up to this size. */
const keptRecordsMax = 65_536
/** An array grows by these factors, as the bytes still to come suggest. */
const growthMin = 1.25
const growthMax = 8

/** The node records or the attribute records of documents, as ints. */
export class Records {
  private readonly stride: number
  private readonly shared: number
  /** Whether each document may write over the last one. */
  private readonly reuse: boolean
  ints: Int32Array
  /** Index of the next record. The records before the document's first belong to earlier documents. */
  count = 0

  constructor(stride: number, shared: number, reuse: boolean) {
    this.stride = stride
    this.shared = shared
    this.reuse = reuse
    this.ints = new Int32Array(shared * stride)
  }

  /** Makes room for a new document behind the earlier ones. */
  rewind(): void {
    if (this.reuse) this.count = 0
    const size = this.ints.length / this.stride
    const sizeMax = this.reuse ? keptRecordsMax : this.shared
    if (size - this.count >= this.shared * leftMin && size <= sizeMax) return
    this.ints = new Int32Array(this.shared * this.stride)
    this.count = 0
  }

  /** Makes room for so many more records. */
  reserve(more: number, source: Source, at: number): void {
    const needed = (this.count + more) * this.stride
    if (needed > this.ints.length) this.grow(needed, at / source.length)
  }

  /** @param share of the document already scanned, from which the rest is estimated */
  private grow(needed: number, share: number): void {
    const { length } = this.ints
    const guess = Math.ceil(Math.min(length * growthMax, (needed / share) * 1.05))
    const old = this.ints
    this.ints = new Int32Array(Math.max(needed, guess, Math.ceil(length * growthMin)))
    this.ints.set(old)
  }

  /** The array that a document keeps. If the document does not share it, the array is cut to what it fills. */
  taken(): Int32Array {
    const isOwn = this.ints.length > this.shared * this.stride
    return isOwn && !this.reuse ? this.ints.slice(0, this.count * this.stride) : this.ints
  }
}

/** The tape that a scan writes. */
export class Tape {
  readonly nodes: Records
  readonly attributes: Records

  constructor(reuse: boolean) {
    this.nodes = new Records(nodeStride, sharedNodes, reuse)
    this.attributes = new Records(attributeStride, sharedAttributes, reuse)
  }

  rewind(): void {
    this.nodes.rewind()
    this.attributes.rewind()
  }
}
