const bytesMin = 16_384

/** Gives bytes to the kernel and says how many it took; 0 or less: none. */
export type WriteBytes = (bytes: Uint8Array) => number

/**
 * The bytes that wait to be written to one socket, in one buffer that is used again and again. Bun's `socket.write`
 * keeps nothing that the kernel did not take, so the rest stays here until `drain`. Every byte is
 * overwritten with zero once the kernel has it.
 */
export class SendBuffer {
  /** Write from `end` on, after `reserve`, and `commit`. Another array after the next `reserve`. */
  bytes: Uint8Array
  end = 0
  /** Bytes committed since the start of the stream. */
  committed = 0
  /** How many of them the kernel took; during a write this includes the bytes offered to it. */
  sent = 0
  private head = 0
  private generation = 0
  private readonly bytesMax: number

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
    this.bytes = new Uint8Array(Math.min(bytesMin, bytesMax))
  }

  get pendingBytes(): number {
    return this.end - this.head
  }

  /** Makes room for `size` bytes from `end` on; false when that goes beyond the limit. */
  reserve(size: number): boolean {
    if (this.end + size <= this.bytes.length) return true
    const pending = this.pendingBytes
    if (pending + size > this.bytesMax) return false
    if (pending + size <= this.bytes.length) {
      this.bytes.copyWithin(0, this.head, this.end)
      this.bytes.fill(0, pending, this.end)
    } else {
      const grown = new Uint8Array(
        Math.min(this.bytesMax, Math.max(this.bytes.length * 2, pending + size)),
      )
      grown.set(this.bytes.subarray(this.head, this.end))
      this.bytes.fill(0)
      this.bytes = grown
    }
    this.head = 0
    this.end = pending
    return true
  }

  /** Marks the bytes up to `end` to be sent. */
  commit(end: number): void {
    this.committed += end - this.end
    this.end = end
  }

  /** Gives the kernel what it takes; true when nothing is left. */
  flush(write: WriteBytes): boolean {
    while (this.head < this.end) {
      const { generation } = this
      const offered = this.end - this.head
      // Until we know, all of it may be on its way: `write` may report the socket's end before it returns.
      this.sent += offered
      const taken = Math.max(write(this.bytes.subarray(this.head, this.end)), 0)
      if (this.generation !== generation) return true
      this.sent -= offered - taken
      if (taken === 0) return false
      this.bytes.fill(0, this.head, this.head + taken)
      this.head += taken
    }
    this.head = 0
    this.end = 0
    return true
  }

  /** Forgets everything: the stream starts anew. */
  clear(): void {
    this.generation++
    this.bytes.fill(0)
    this.head = 0
    this.end = 0
    this.committed = 0
    this.sent = 0
  }
}
