import { readFileSync } from 'node:fs'
import { every } from '#src/platform/jobs/index.ts'

const checkEveryMs = 500
const levelsMax = 6

type Process = { readonly pid: number; readonly parent: number; readonly name: string }

/** From /proc: absent on other systems, where undefined means that nothing is watched. */
const processOf = (pid: number): Process | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in parentheses and may hold anything.
    const close = stat.lastIndexOf(')')
    const [, parent] = stat.slice(close + 2).split(' ')
    return { pid, parent: Number(parent), name: stat.slice(stat.indexOf('(') + 1, close) }
  } catch {
    return undefined
  }
}

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
