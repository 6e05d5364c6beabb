import { createLoop, type Loop } from '#src/platform/jobs/index.ts'
import { createOutageLog, type Logger } from '#src/platform/observe/index.ts'

export type Rounds = {
  readonly start: () => void
  readonly stop: () => Promise<void>
  readonly watched: Loop
}

/** Work that is done again and again, one round at a time; a round that fails is logged and the next one tries. */
export const createRounds = (
  name: string,
  everyMs: number,
  round: () => Promise<void>,
  logger: Logger,
): Rounds => {
  let timer: ReturnType<typeof setInterval> | undefined
  let running: Promise<void> | undefined
  const watched = createLoop(name)
  const outage = createOutageLog(logger, {
    level: 'error',
    away: `${name}: failed`,
    back: `${name}: works again`,
  })
  const look = (): void => {
    running ??= watched
      .round(round)
      .then(outage.worked, outage.failed)
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
