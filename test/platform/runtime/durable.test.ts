import { expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveLines } from '#src/platform/database/index.ts'
import { createKeyFileStore } from '#src/platform/security/index.ts'
import { makeDurably, writeDurably } from '../../../src/platform/runtime/durable.ts'
import { syncedBy } from '../../support/synced.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

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

test.if(process.platform === 'linux')(
  'an archive is on the disk with the directories that were made for it',
  async () => {
    const outside = temporaryDirectory()
    const directory = join(outside, 'archive', 'database-2')
    const lines = async function* () {
      yield 'line\n'
    }
    expect(
      await syncedBy(outside, () => archiveLines(lines(), directory, 'part', undefined)),
    ).toEqual([
      join(outside, 'archive'),
      outside,
      join(directory, 'part.jsonl.gz.new.partial'),
      directory,
    ])
  },
)

test.if(process.platform === 'linux')(
  'a directory is made by a path that leads up again, too, and only that',
  async () => {
    const outside = temporaryDirectory()
    const make = () => makeDurably(`${outside}/a/../b//c/`)
    expect(await syncedBy(outside, make)).toEqual([join(outside, 'b'), outside])
    const made = await readdir(outside, { recursive: true })
    expect(made.toSorted()).toEqual(['b', join('b', 'c')])
    expect(await syncedBy(outside, make)).toEqual([])
  },
)
