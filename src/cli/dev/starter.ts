import { every } from '#src/platform/jobs/index.ts'
import { type Process, processOf } from './processes.ts'

const checkEveryMs = 500
const levelsMax = 6

/** The processes between this one and `npx`, which is the last. */
const chainToNpx = (): readonly Process[] => {
  const chain: Process[] = []
  let current = processOf(process.pid)
  while (current !== undefined && chain.length < levelsMax) {
    chain.push(current)
    if (current.name.startsWith('npm') || current.name.startsWith('npx')) return chain
    current = processOf(current.parent)
  }
  return []
}

/**
 * Calls `gone` when the `npx` that started this process has ended. npx passes a signal on to its
 * shell only, so without this a `npx bun run dev` that is killed would leave all of `dev` running.
 */
export const watchStarter = (gone: () => void): void => {
  const chain = chainToNpx()
  if (chain.length === 0) return
  const stop = every(checkEveryMs, () => {
    const intact = chain.every(({ pid, parent }, index) => {
      const now = processOf(pid)
      return now !== undefined && (index === chain.length - 1 || now.parent === parent)
    })
    if (intact) return
    stop()
    gone()
  })
}
