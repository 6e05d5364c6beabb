/** One ask of a read: its answer, and what ends it. */
type Ask<Answer> = {
  readonly startedMs: number
  readonly answer: Promise<Answer>
  readonly giveUp: () => void
}

export type Answered<Answer> = {
  readonly answer: Answer
  /** How long after it was asked. */
  readonly afterMs: number
  /** True: an older ask of the same was unanswered. */
  readonly isRescued: boolean
}

export type AskingBeside<Answer> = {
  /** @param isBeside - another one is under way */
  readonly ask: (signal: AbortSignal, isBeside: boolean) => Promise<Answer>
  /**
   * False: it counts only when no other ask is under way.
   *
   * @param waitedMs - how long the oldest ask is unanswered
   */
  readonly isGood: (answer: Answer, waitedMs: number) => boolean
  /** True: no other ask is waited for. */
  readonly isOver: (error: unknown) => boolean
  /** Told of the answer to the other ask, where one has counted; absent: that one is given up. */
  readonly late?: ((answer: Answer) => void) | undefined
  /** The second ask comes after this time, each further one after half as much again. */
  readonly againMs: number
}

const laterFactor = 1.5

/**
 * Asks, and asks again beside the oldest ask every so often: the first good answer counts. What is not good, or fails,
 * counts only when it is the last one under way, for a server may refuse one of two equal asks. Never more than two are.
 *
 * A server may hold an ask for longer than the first waits, and end it when the next comes. So a further ask leaves the
 * one before it more time than the first had: otherwise none would live until its answer.
 */
export const askBeside = <Answer>({
  ask,
  isGood,
  isOver,
  late,
  againMs,
}: AskingBeside<Answer>): Promise<Answered<Answer>> =>
  new Promise((resolve, reject) => {
    let underWay: readonly Ask<Answer>[] = []
    const end = (leave: (one: Ask<Answer>) => void): void => {
      clearTimeout(timer)
      const left = underWay
      underWay = []
      for (const one of left) leave(one)
    }
    const giveUp = (one: Ask<Answer>): void => one.giveUp()
    const awaitLate = (one: Ask<Answer>): void => {
      if (late === undefined) giveUp(one)
      else one.answer.then(late, () => {})
    }
    const leave = (one: Ask<Answer>): boolean => {
      underWay = underWay.filter((other) => other !== one)
      return underWay.length === 0
    }
    const follow = async (one: Ask<Answer>): Promise<void> => {
      try {
        const answer = await one.answer
        if (!underWay.includes(one)) return
        const nowMs = performance.now()
        const [oldest = one] = underWay
        if (!leave(one) && !isGood(answer, nowMs - oldest.startedMs)) return
        end(awaitLate)
        resolve({ answer, afterMs: nowMs - one.startedMs, isRescued: oldest !== one })
      } catch (error) {
        if (!underWay.includes(one) || !(leave(one) || isOver(error))) return
        end(giveUp)
        reject(error)
      }
    }
    const begin = (): void => {
      const [oldest, newer] = underWay
      const abort = new AbortController()
      const one: Ask<Answer> = {
        startedMs: performance.now(),
        answer: ask(abort.signal, oldest !== undefined),
        giveUp: () => abort.abort(),
      }
      underWay = oldest === undefined ? [one] : [oldest, one]
      newer?.giveUp()
      void follow(one)
    }
    const askAgain = (): void => {
      begin()
      timer = setTimeout(askAgain, againMs * laterFactor)
    }
    let timer = setTimeout(askAgain, againMs)
    begin()
  })
