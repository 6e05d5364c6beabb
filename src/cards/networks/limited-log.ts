import type { Logger } from '#src/platform/observe/index.ts'

/** Log lines per network about messages that nobody waits for. */
const linesPerSecondMax = 20

export type LimitedLog = Pick<Logger, 'warn' | 'error'>

/** A log that shows only some of a flood of one network. The metrics count every message. */
export const limitedLog = (logger: LimitedLog): LimitedLog => {
  const counts = new Map<unknown, number>()
  let second = 0
  const hasRoom = (network: unknown): boolean => {
    const now = Math.floor(performance.now() / 1_000)
    if (now !== second) counts.clear()
    second = now
    const count = (counts.get(network) ?? 0) + 1
    counts.set(network, count)
    return count <= linesPerSecondMax
  }
  return {
    warn: (fields, text) => {
      if (hasRoom(fields['network'])) logger.warn(fields, text)
    },
    error: (fields, text) => {
      if (hasRoom(fields['network'])) logger.error(fields, text)
    },
  }
}
