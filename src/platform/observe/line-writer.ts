import { writeSync } from 'node:fs'
import { hasCode } from '#src/platform/runtime/index.ts'

const pendingBytesMax = 8_388_608
const retryMs = 10
/** The time from one system call to the next when many lines come. */
const spacingMs = 5

/**
 * Writes log lines to a file descriptor. A lone line goes out in its turn of the event loop; the lines of five
 * milliseconds share one system call. A reader that is too slow costs lines, but never memory without bound, and
 * it never blocks the process.
 */
export class LineWriter {
  readonly #descriptor: number
  #pending: string[] = []
  #pendingLength = 0
  #rest: Buffer = Buffer.alloc(0)
  #scheduled = false
  #dropped = 0
  #writtenMs = Number.NEGATIVE_INFINITY

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  write(line: string): void {
    if (this.#pendingLength + this.#rest.length > pendingBytesMax) {
      this.#dropped++
      return
    }
    this.#pending.push(line)
    this.#pendingLength += line.length
    if (this.#scheduled) return
    this.#scheduled = true
    const leftMs = this.#writtenMs + spacingMs - performance.now()
    if (leftMs > 0) setTimeout(() => this.#flush(), leftMs)
    else setImmediate(() => this.#flush())
  }

  /** Writes pending lines now, as far as the reader takes them: before the process ends. */
  flushSync(): void {
    for (let attempt = 0; attempt < 50; attempt++) {
      if (this.#writeOnce()) return
      Bun.sleepSync(retryMs)
    }
  }

  #flush(): void {
    this.#scheduled = false
    this.#writtenMs = performance.now()
    if (this.#writeOnce()) return
    this.#scheduled = true
    setTimeout(() => this.#flush(), retryMs)
  }

  /** True when nothing is left to write. */
  #writeOnce(): boolean {
    if (this.#pending.length > 0) {
      if (this.#dropped > 0) {
        this.#pending.push(`{"level":"warn","msg":"log lines dropped","count":${this.#dropped}}\n`)
        this.#dropped = 0
      }
      const text = Buffer.from(this.#pending.join(''))
      this.#rest = this.#rest.length === 0 ? text : Buffer.concat([this.#rest, text])
      this.#pending = []
      this.#pendingLength = 0
    }
    try {
      while (this.#rest.length > 0) {
        this.#rest = this.#rest.subarray(writeSync(this.#descriptor, this.#rest))
      }
      return true
    } catch (error) {
      if (hasCode(error, 'EAGAIN')) return false
      // The reader is gone (EPIPE): there is nobody left to tell.
      this.#rest = Buffer.alloc(0)
      return true
    }
  }
}
