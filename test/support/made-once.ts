import { existsSync, lstatSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

const abandonedAfterMs = 180_000
const pollMs = 100
const { uid } = userInfo()

/**
 * Where runs keep what later ones use again, by what it is made of. Each user has a folder of its own: the programs in
 * another's may be out of reach, and may be anything.
 *
 * @throws Error when another user has made the folder
 */
export const keptPath = (kind: string, content: string): string => {
  const folder = join(tmpdir(), `trilho-test-of-${uid}`)
  return join(ownFolder(folder), `${kind}-${Bun.hash(content).toString(36)}`)
}

/**
 * Makes the folder where there is none.
 *
 * @throws Error when another user has made it
 */
export const ownFolder = (folder: string): string => {
  mkdirSync(folder, { recursive: true })
  if (lstatSync(folder).uid !== uid) throw new Error(`${folder} is another user's`)
  return folder
}

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
