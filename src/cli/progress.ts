import { type Pace, rateOf, tellEveryMs } from '#src/platform/observe/index.ts'
import type { Io } from './program.ts'

/** Told of work that takes long: so much is done, of so much. */
export type OnProgress = (done: number, total: number) => void

/** A person sees it move. */
const terminalEveryMs = 200

/**
 * Shows how work comes on, with its rate and the time that the rest takes: on a terminal one line that is written over
 * and wiped in the end, else a line every ten seconds, so that what is short says nothing in a log.
 */
export const inProgress = async <T>(
  io: Pick<Io, 'err' | 'overwrite'>,
  what: string,
  work: (onProgress: OnProgress) => Promise<T>,
  nowMs: () => number = () => performance.now(),
): Promise<T> => {
  const startMs = nowMs()
  const everyMs = io.overwrite ? terminalEveryMs : tellEveryMs
  let saidMs = startMs
  let isOnLine = false
  try {
    return await work((done, total) => {
      const now = nowMs()
      if (now - saidMs < everyMs) return
      saidMs = now
      const line = progressLine(what, { done, total, afterMs: now - startMs })
      if (io.overwrite) io.overwrite(line)
      else io.err(`${line}\n`)
      isOnLine = true
    })
  } finally {
    if (isOnLine) io.overwrite?.('')
  }
}

/** `entries: 1200 of 4800 (25 %), 60.0/s, 60 s left`. */
export const progressLine = (what: string, pace: Pace): string => {
  const { perSecond, secondsLeft } = rateOf(pace)
  const all = Math.max(pace.done, pace.total)
  const share = all === 0 ? 100 : Math.floor((pace.done * 100) / all)
  const rest = secondsLeft === undefined ? 'time left unknown' : `${timeOf(secondsLeft)} left`
  return `${what}: ${pace.done} of ${all} (${share} %), ${perSecond.toFixed(1)}/s, ${rest}`
}

const timeOf = (seconds: number): string => {
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
