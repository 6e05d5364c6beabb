import { createLoop, type Loop } from '#src/platform/progress/index.ts'

export type Rounds = {
  readonly start: () => void
  readonly stop: () => Promise<void>
  readonly watched: Loop
}

/** Work that is done again and again, one round at a time; a round that fails is reported and the next one tries. */
export const createRounds = (
  name: string,
  everyMs: number,
  round: () => Promise<void>,
  onProblem: (error: unknown) => void,
): Rounds => {
  let timer: ReturnType<typeof setInterval> | undefined
  let running: Promise<void> | undefined
  const watched = createLoop(name)
  const look = (): void => {
    running ??= watched
      .round(round)
      .catch(onProblem)
      .finally(() => {
        running = undefined
      })
  }
  return {
    watched,
    start: () => {
      timer = setInterval(look, everyMs)
    },
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
