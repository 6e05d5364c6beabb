import { expect, spyOn, test } from 'bun:test'
import { mkdtemp, open, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKeyFileStore } from '#src/platform/security/index.ts'
import { writeDurably } from '../../../src/platform/runtime/durable.ts'

/** What was put on disk while something was done, as it was called then, without what is drawn by lot. */
const syncedBy = async (directory: string, work: () => Promise<unknown>): Promise<string[]> => {
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
  return synced.map((path) => path.replace(/\.[0-9a-f-]{36}$/, '.new'))
}

test.if(process.platform === 'linux')(
  'a file is on the disk before it has its name, and then its name; the key file too',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'trilho-durable-'))
    try {
      const path = join(directory, 'secret')
      expect(await syncedBy(directory, () => writeDurably(path, 'one', 0o600))).toEqual([
        `${path}.new`,
        directory,
      ])
      await writeDurably(path, 'two', 0o600)
      expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual([
        'two',
        0o600,
      ])
      const keys = join(directory, 'keys.json')
      const store = createKeyFileStore(keys, () => new Date())
      const create = () =>
        store.create({
          name: 'shop',
          account: 'default',
          environment: 'test',
          grants: ['*'],
          expiresAt: undefined,
        })
      expect(await syncedBy(directory, create)).toEqual([`${keys}.new`, directory])
      expect((await readdir(directory)).toSorted()).toEqual(['keys.json', 'secret'])
    } finally {
      await rm(directory, { recursive: true })
    }
  },
)
