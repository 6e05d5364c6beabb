/** Files that are there after a power loss. */
import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** For a directory, the names in it. */
export const putOnDisk = async (path: string): Promise<void> => {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes a directory and those that it is in, where they are not there. */
export const makeDurably = async (path: string, mode = 0o777): Promise<void> => {
  const whole = resolve(path)
  // As it was given, it would also make `a` of `a/../b`, which is not above `b`.
  const outermost = await mkdir(whole, { recursive: true, mode })
  if (outermost === undefined) return
  for (let made = whole; ; made = dirname(made)) {
    await putOnDisk(dirname(made))
    if (made === outermost) return
  }
}

/** After a power loss there is the one or what it replaced, as a whole. */
export const renameDurably = async (from: string, to: string): Promise<void> => {
  await putOnDisk(from)
  await rename(from, to)
  await putOnDisk(dirname(to))
}

/** @param mode of a new file; the umask takes from it */
export const writeDurably = async (path: string, content: string, mode = 0o666): Promise<void> => {
  const temporary = `${path}.${randomUUID()}`
  try {
    await writeFile(temporary, content, { mode, flag: 'wx' })
    await renameDurably(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}
