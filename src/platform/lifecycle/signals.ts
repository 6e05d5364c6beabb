import type { Logger } from '../observe/index.ts'

/** Terminals, shells and `npx` deliver one Ctrl-C several times within moments: no second wish. */
export const sameWishMs = 1_000

/**
 * The meaning of a signal: `end` in order, nothing new (`repeated`), or `atOnce`.
 *
 * @param firstMs when the first one came, undefined for the first itself
 */
export const meaningOfSignal = (
  firstMs: number | undefined,
  nowMs: number,
): 'end' | 'repeated' | 'atOnce' => {
  if (firstMs === undefined) return 'end'
  return nowMs - firstMs < sameWishMs ? 'repeated' : 'atOnce'
}

/**
 * Resolves at the first SIGTERM or SIGINT. Another one a second later ends the process at once with 130, after
 * `atOnce`, which may flush what must not be lost.
 */
export const untilSignal = (atOnce: () => void): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let firstMs: number | undefined
    const onSignal = (signal: NodeJS.Signals): void => {
      const nowMs = performance.now()
      const meaning = meaningOfSignal(firstMs, nowMs)
      firstMs ??= nowMs
      if (meaning === 'end') resolve(signal)
      if (meaning !== 'atOnce') return
      atOnce()
      process.exit(130)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })

/**
 * Has a hang-up end nothing: it comes from a terminal that closes, or from somebody who expects that settings are read
 * again, and would end the process in the middle of its payments.
 */
export const outliveHangUps = (logger: Logger): void => {
  process.on('SIGHUP', () => logger.info({}, 'SIGHUP ends nothing, and no setting is read again'))
}
