import { every } from '#src/platform/jobs/index.ts'

/** Something that ends when its time is up. One entry is in at most one wheel, at most once. */
export abstract class WheelEntry {
  /** The tick at which it is due; set by the wheel. */
  deadlineTick = 0
  slot = notInWheel
  next: WheelEntry | undefined = undefined
  previous: WheelEntry | undefined = undefined
  abstract onTimeout(): void
}

const notInWheel = -1
/** The entry is due and taken out, but not told yet. */
const dueSlot = -2
const tickMs = 10
const slots = 1024

/**
 * A hashed timing wheel: adding and removing cost the same for one entry and for a hundred thousand, and one timer
 * serves all. An entry never ends early, and at most a tick (and the event loop's delay) late.
 */
export class TimingWheel {
  private readonly slots: (WheelEntry | undefined)[] = new Array(slots).fill(undefined)
  private readonly origin: number
  private readonly now: () => number
  private current = 0
  private stop: (() => void) | undefined
  private count = 0

  /** @param now - milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
    this.origin = now()
  }

  get size(): number {
    return this.count
  }

  add(entry: WheelEntry, delayMs: number): void {
    this.remove(entry)
    const elapsed = this.now() - this.origin
    if (this.count === 0) this.current = Math.floor(elapsed / tickMs)
    const tick = Math.max(Math.ceil((elapsed + delayMs) / tickMs), this.current + 1)
    const slot = tick % slots
    const first = this.slots[slot]
    entry.deadlineTick = tick
    entry.slot = slot
    entry.previous = undefined
    entry.next = first
    if (first !== undefined) first.previous = entry
    this.slots[slot] = entry
    this.count++
    this.stop ??= every(tickMs, () => this.advance())
  }

  /** Does nothing for an entry in no wheel. */
  remove(entry: WheelEntry): void {
    if (entry.slot >= 0) this.unlink(entry)
    entry.slot = notInWheel
  }

  /** Ends all due entries; the wheel's own timer calls it. */
  advance(): void {
    if (this.count === 0) {
      this.stop?.()
      this.stop = undefined
      return
    }
    const target = Math.floor((this.now() - this.origin) / tickMs)
    const due: WheelEntry[] = []
    const last = Math.min(target, this.current + slots)
    for (let tick = this.current + 1; tick <= last; tick++) this.collect(tick % slots, target, due)
    this.current = Math.max(this.current, target)
    // The end of one entry may take others out: those are not told any more.
    for (const entry of due) {
      if (entry.slot !== dueSlot) continue
      entry.slot = notInWheel
      entry.onTimeout()
    }
  }

  private collect(slot: number, target: number, due: WheelEntry[]): void {
    let entry = this.slots[slot]
    while (entry !== undefined) {
      const { next } = entry
      if (entry.deadlineTick <= target) {
        this.unlink(entry)
        entry.slot = dueSlot
        due.push(entry)
      }
      entry = next
    }
  }

  private unlink(entry: WheelEntry): void {
    const { next, previous } = entry
    if (previous === undefined) this.slots[entry.slot] = next
    else previous.next = next
    if (next !== undefined) next.previous = previous
    entry.next = undefined
    entry.previous = undefined
    this.count--
  }
}
