import type { Callers, GiveUpReason, Waiting } from '#src/platform/http/index.ts'

/**
 * When a call that has a room waits for its caller: while it has no message to answer, and while an answer of it is not
 * taken. A stream may be silent as long as nobody needs its room.
 */
export class CallerWait implements Waiting {
  sinceMs = 0
  readonly isTimed: boolean
  readonly giveUp: (reason: GiveUpReason) => void
  private readonly callers: Callers
  private unanswered = 0
  private untaken = 0
  private isWaiting = false
  private hasEnded = false

  constructor(callers: Callers, isTimed: boolean, giveUp: (reason: GiveUpReason) => void) {
    this.callers = callers
    this.isTimed = isTimed
    this.giveUp = giveUp
    this.judge()
  }

  asked(): void {
    this.unanswered++
    this.judge()
  }

  /** @param taken called once the answer has gone */
  answered(taken: () => void): () => void {
    this.unanswered--
    this.untaken++
    this.judge()
    return () => {
      this.untaken--
      this.judge()
      taken()
    }
  }

  end(): void {
    this.hasEnded = true
    this.judge()
  }

  private judge(): void {
    const isWaiting = !this.hasEnded && (this.unanswered === 0 || this.untaken > 0)
    if (isWaiting === this.isWaiting) return
    this.isWaiting = isWaiting
    if (isWaiting) this.callers.begin(this)
    else this.callers.end(this)
  }
}
