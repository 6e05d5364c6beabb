import { spyOn } from 'bun:test'
import { open, readlink } from 'node:fs/promises'

/** What was put on disk while something was done, as it was called then, without what is drawn by lot. */
export const syncedBy = async (
  directory: string,
  work: () => Promise<unknown>,
): Promise<readonly string[]> => {
  const handle = await open(directory)
  const prototype = Object.getPrototypeOf(handle) as {
    sync: (this: typeof handle) => Promise<void>
  }
  await handle.close()
  const synced: string[] = []
  const { sync } = prototype
  const spy = spyOn(prototype, 'sync').mockImplementation(async function (this: typeof handle) {
    synced.push(await readlink(`/proc/self/fd/${this.fd}`))
    return sync.call(this)
  })
  try {
    await work()
  } finally {
    spy.mockRestore()
  }
  return synced.map((path) => path.replace(/\.[0-9a-f-]{36}/, '.new'))
}
