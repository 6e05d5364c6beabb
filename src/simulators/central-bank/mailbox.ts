/** Messages waiting for one participant on one channel, and the streams by which it reads them. */
import { randomUUID } from 'node:crypto'
import { batchMessagesMax, streamsMax } from './options.ts'

type Delivery = { readonly resourceId: string; readonly bytes: Uint8Array }

export type Batch = {
  readonly deliveries: readonly Delivery[]
  /** Names the next read of the stream. */
  readonly token: string
}

/** `superseded`: another request took this one's place. */
type Reading = Batch | 'superseded'

type Read = {
  /** Messages wanted, up to {@link batchMessagesMax}. */
  readonly count: number
  /** The client went away. */
  readonly signal?: AbortSignal | undefined
}

/** The faults that a delivery on its way may meet; see faults. */
export type MailboxFaults = {
  /** Deliver it once more later. */
  readonly duplicates: () => boolean
  /** Puts the waiting messages in another order; undefined: it does not. */
  readonly reorders: () => (<T>(items: T[]) => void) | undefined
}

type Waiter = { readonly read: Read; readonly finish: (reading: Reading) => void }

type Stream = {
  readonly id: string
  /** Reads so far: part of the token. */
  reads: number
  batch: readonly Delivery[]
  waiter: Waiter | undefined
  usedAtMs: number
}

/** Messages that wait in several mailboxes together. */
export type Waiting = { count: number }

type MailboxOptions = {
  readonly total: Waiting
  readonly messagesMax: number
  readonly longPollMs: number
  /** Milliseconds that went by. */
  readonly elapsed: () => number
  readonly faults: MailboxFaults
}

/** The messages for one participant on one channel. */
export class Mailbox {
  private readonly options: MailboxOptions
  private readonly queue: Queue<Delivery>
  private readonly byId = new Map<string, Stream>()
  /** Streams with a read that waits, the longest waiting first. */
  private readonly reading = new Set<Stream>()
  private flushing = false
  /** Whether a participant ever opened a stream. */
  isRead = false

  constructor(options: MailboxOptions) {
    this.options = options
    this.queue = createQueue(options.total)
  }

  put(delivery: Delivery): void {
    if (this.byId.size === 0) this.queue.drop(this.queue.size() + 1 - this.options.messagesMax)
    this.queue.put(delivery)
    this.flushSoon()
  }

  /** Opens a stream and reads from it; undefined when there are too many. */
  open(read: Read): Promise<Reading> | undefined {
    if (this.byId.size === streamsMax) return undefined
    this.isRead = true
    const stream: Stream = {
      id: randomUUID(),
      reads: 0,
      batch: [],
      waiter: undefined,
      usedAtMs: this.options.elapsed(),
    }
    this.byId.set(stream.id, stream)
    return this.wait(stream, read)
  }

  /** Confirms what the last read delivered and reads on; undefined for a stream that is gone. */
  next(token: string, read: Read): Promise<Reading> | undefined {
    const found = this.find(token)
    if (found === undefined) return undefined
    const { stream, reads } = found
    stream.usedAtMs = this.options.elapsed()
    if (reads < stream.reads) {
      return Promise.resolve({ deliveries: stream.batch, token: tokenOf(stream) })
    }
    stream.batch = []
    return this.wait(stream, read)
  }

  /** Confirms the last batch and ends the stream; false when it was gone already. */
  close(token: string): boolean {
    const found = this.find(token)
    if (found === undefined) return false
    const { stream, reads } = found
    // An older token does not confirm what its reader has not seen.
    if (reads < stream.reads) this.queue.putBack(stream.batch)
    stream.waiter?.finish('superseded')
    this.reading.delete(stream)
    this.byId.delete(stream.id)
    this.flushSoon()
    return true
  }

  /** Ends streams that nobody has read for so long; the bank delivers their unconfirmed messages again. */
  abandon(idleMs: number): void {
    const idleSinceMs = this.options.elapsed() - idleMs
    for (const stream of this.byId.values()) {
      if (stream.waiter !== undefined || stream.usedAtMs > idleSinceMs) continue
      this.byId.delete(stream.id)
      this.queue.putBack(stream.batch)
      this.flushSoon()
    }
  }

  /** Whether the mailbox takes no more until its reader has read. */
  isFull(): boolean {
    return this.byId.size > 0 && this.queue.size() >= this.options.messagesMax
  }

  /** Drops the older half of what waits. */
  makeRoom(): void {
    this.queue.drop(Math.ceil(this.queue.size() / 2))
  }

  waiting(): number {
    return this.queue.size()
  }

  /** Messages delivered, and not yet confirmed by a further read. */
  unconfirmed(): number {
    let count = 0
    for (const { batch } of this.byId.values()) count += batch.length
    return count
  }

  streams(): number {
    return this.byId.size
  }

  /** Ends every wait. */
  stop(): void {
    for (const stream of this.reading) stream.waiter?.finish('superseded')
    this.reading.clear()
  }

  private answer(stream: Stream, waiter: Waiter): void {
    const { queue } = this
    const { faults, elapsed } = this.options
    stream.waiter = undefined
    this.reading.delete(stream)
    const shuffle = queue.size() > 1 ? faults.reorders() : undefined
    const batch = queue.take(waiter.read.count, shuffle)
    for (const delivery of batch) if (faults.duplicates()) queue.put(delivery)
    stream.batch = batch
    stream.reads++
    stream.usedAtMs = elapsed()
    waiter.finish({ deliveries: batch, token: tokenOf(stream) })
  }

  private flush(): void {
    this.flushing = false
    for (const stream of this.reading) {
      if (this.queue.size() === 0) return
      if (stream.waiter !== undefined) this.answer(stream, stream.waiter)
    }
  }

  /** After this turn, so that what is put in one turn leaves in one batch. */
  private flushSoon(): void {
    if (this.flushing || this.reading.size === 0) return
    this.flushing = true
    setImmediate(() => this.flush())
  }

  private wait(stream: Stream, read: Read): Promise<Reading> {
    stream.waiter?.finish('superseded')
    return new Promise((resolve) => {
      const leave = () => {
        if (stream.waiter !== waiter) return
        stream.waiter = undefined
        stream.usedAtMs = this.options.elapsed()
        this.reading.delete(stream)
        waiter.finish('superseded')
      }
      const timer = setTimeout(() => this.answer(stream, waiter), this.options.longPollMs)
      const waiter: Waiter = {
        read,
        finish: (reading) => {
          clearTimeout(timer)
          read.signal?.removeEventListener('abort', leave)
          resolve(reading)
        },
      }
      stream.waiter = waiter
      read.signal?.addEventListener('abort', leave)
      this.reading.add(stream)
      if (this.queue.size() > 0) this.answer(stream, waiter)
    })
  }

  private find(token: string): { readonly stream: Stream; readonly reads: number } | undefined {
    const dash = token.lastIndexOf('-')
    const stream = this.byId.get(token.slice(0, dash))
    const reads = Number(token.slice(dash + 1))
    // The token of one read earlier is a repetition of a read whose answer was lost.
    const known = stream !== undefined && (reads === stream.reads || reads === stream.reads - 1)
    return known ? { stream, reads } : undefined
  }
}

const tokenOf = ({ id, reads }: Stream): string => `${id}-${reads}`

type Queue<T> = {
  readonly size: () => number
  readonly put: (item: T) => void
  /** Before all others. */
  readonly putBack: (first: readonly T[]) => void
  /** Takes that many of the oldest out. */
  readonly drop: (count: number) => void
  readonly take: (count: number, shuffle?: (items: T[]) => void) => T[]
}

/** First in, first out, without moving what waits. */
const createQueue = <T>(total: Waiting): Queue<T> => {
  let items: T[] = []
  let head = 0
  const size = (): number => items.length - head
  const compact = (): void => {
    const isEmpty = head === items.length
    if (!isEmpty && (head < 1024 || head * 2 < items.length)) return
    items = items.slice(head)
    head = 0
  }
  const drop = (count: number): void => {
    const dropped = Math.max(0, Math.min(count, size()))
    head += dropped
    total.count -= dropped
    compact()
  }
  return {
    size,
    drop,
    put: (item) => {
      items.push(item)
      total.count++
    },
    putBack: (first) => {
      if (first.length === 0) return
      items = [...first, ...items.slice(head)]
      head = 0
      total.count += first.length
    },
    take: (count, shuffle) => {
      const wanted = Math.min(count, batchMessagesMax)
      if (shuffle !== undefined) {
        // Near the head only: a message is overtaken, not lost from sight.
        const near = items.slice(head, head + wanted * 2)
        shuffle(near)
        for (const [i, item] of near.entries()) items[head + i] = item
      }
      const taken = items.slice(head, head + wanted)
      drop(taken.length)
      return taken
    },
  }
}
