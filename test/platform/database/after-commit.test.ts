import { expect, test } from 'bun:test'
import { afterCommit } from '#src/platform/database/index.ts'
import { createTestDatabase } from '../../support/database.ts'

test.each([
  ['as it is', false],
  ['traced', true],
])(
  'acts once the outermost transaction has committed, or never: a client %s',
  async (_, isTraced) => {
    const { sql, close } = await createTestDatabase(3, isTraced)
    await sql`create table things (name text)`
    const seen: string[] = []
    const note = async (name: string) => {
      const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from things where name = ${name}`
      seen.push(`${name} ${row?.count}`)
    }
    const notes: Promise<void>[] = []
    const later = (tx: Parameters<typeof afterCommit>[0], name: string) =>
      afterCommit(tx, () => notes.push(note(name)))
    await sql.begin(async (tx) => {
      await tx`insert into things values ('outer'), ('inner')`
      later(tx, 'outer')
      await tx.savepoint(async (inner) => {
        await inner.savepoint(async (innermost) => later(innermost, 'inner'))
      })
      await tx
        .savepoint(async (inner) => {
          await inner.savepoint(async (innermost) => later(innermost, 'rolled back'))
          throw new Error('no')
        })
        .catch(() => {})
      expect(notes).toEqual([])
    })
    await sql
      .begin(async (tx) => {
        later(tx, 'undone')
        throw new Error('no')
      })
      .catch(() => {})
    later(sql, 'without a transaction')
    await Promise.all(notes)
    expect(seen.toSorted()).toEqual(['inner 1', 'outer 1', 'without a transaction 0'])
    await close()
  },
)
