/**
 * Resolves at the first SIGTERM or SIGINT. A second one ends the process at once with 130, after
 * `atOnce`, which may flush what must not be lost.
 */
export const untilSignal = (atOnce: () => void): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let first = true
    const onSignal = (signal: NodeJS.Signals): void => {
      if (first) {
        first = false
        resolve(signal)
        return
      }
      atOnce()
      process.exit(130)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
