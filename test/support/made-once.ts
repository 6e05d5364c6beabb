import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const abandonedAfterMs = 180_000
const pollMs = 100

/**
 * Makes what several test processes want, in one of them; the others wait. `make` writes the path last, and at once, so
 * that its existence means it is whole. Blocks: it is called while test files are loaded.
 */
export const madeOnce = (path: string, make: () => void): void => {
  const lock = `${path}.making`
  mkdirSync(dirname(path), { recursive: true })
  while (!existsSync(path)) {
    if (!taken(lock)) {
      if (isAbandoned(lock)) rmSync(lock, { recursive: true, force: true })
      Bun.sleepSync(pollMs)
      continue
    }
    try {
      if (!existsSync(path)) make()
    } finally {
      rmSync(lock, { recursive: true, force: true })
    }
    return
  }
}

const taken = (lock: string): boolean => {
  try {
    mkdirSync(lock)
    return true
  } catch {
    return false
  }
}

/** Its maker was killed. */
const isAbandoned = (lock: string): boolean => {
  const made = statSync(lock, { throwIfNoEntry: false })
  return made !== undefined && Date.now() - made.mtimeMs > abandonedAfterMs
}
