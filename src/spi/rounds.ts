export type Rounds = { readonly start: () => void; readonly stop: () => Promise<void> }

/** Work that is done again and again, one round at a time; a round that fails is reported and the next one tries. */
export const createRounds = (
  everyMs: number,
  round: () => Promise<void>,
  onProblem: (error: unknown) => void,
): Rounds => {
  let timer: ReturnType<typeof setInterval> | undefined
  let running: Promise<void> | undefined
  const look = (): void => {
    running ??= round()
      .catch(onProblem)
      .finally(() => {
        running = undefined
      })
  }
  return {
    start: () => {
      timer = setInterval(look, everyMs)
    },
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
