/**
 * Writes the list of `drizzle/*.sql` that the executable embeds; `--check` fails if the list is stale.
 *
 * A new migration: change a `schema.ts`, then `bunx drizzle-kit generate --name what_changed`, then this. It marks the
 * new file in its first line: `-- expand` if versions that do not know it can go on, or else `-- contract`. Who knows
 * better changes the mark by hand. An index of an existing table needs a migration of its own: generate the columns
 * first, then the index. `structure.ts` follows: this runs all migrations on a database that it starts.
 *
 * drizzle-kit compares the schema with its newest snapshot and writes another of 280 KB. This script deletes the older
 * ones: nothing reads them.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isExpanding, isMixed } from './migration-kind.ts'

const root = join(import.meta.dir, '..')
const target = join(root, 'drizzle/index.ts')

const names = readdirSync(join(root, 'drizzle'))
  .filter((name) => name.endsWith('.sql'))
  .sort()

/** Earlier ones have no mark: no version without them can run on them. */
const markedFrom = '0030'
const marks = ['-- expand', '-- contract']

const unmarked = names.filter((name) => {
  const [first = ''] = readFileSync(join(root, 'drizzle', name), 'utf8').split('\n', 1)
  return name >= markedFrom && !marks.includes(first)
})

/** Earlier ones were released with indexes beside other changes. */
const indexedApartFrom = '0073'
const mixed = names.filter(
  (name) => name >= indexedApartFrom && isMixed(readFileSync(join(root, 'drizzle', name), 'utf8')),
)
if (mixed.length > 0) {
  console.error(
    `${mixed.join(', ')}: an index of a table that is there stands in a migration of its own`,
  )
  process.exit(1)
}

const snapshots = readdirSync(join(root, 'drizzle/meta'))
  .filter((name) => name.endsWith('_snapshot.json'))
  .sort()
const oldSnapshots = snapshots.slice(0, -1)

const imports = names.map(
  (name, index) => `import m${index} from './${name}' with { type: 'text' }`,
)
const entries = names.map(
  (name, index) => `  { name: '${name.replace(/\.sql$/, '')}', sql: m${index} },`,
)
const text = [
  '// Written by scripts/migrations.ts; do not edit.',
  "import type { Migration } from '#src/platform/database/index.ts'",
  ...imports,
  '',
  'export const migrations: readonly Migration[] = [',
  ...entries,
  ']',
  '',
].join('\n')

if (process.argv.includes('--check')) {
  if (unmarked.length > 0) {
    console.error(`${unmarked.join(', ')}: not marked, run bun scripts/migrations.ts`)
    process.exit(1)
  }
  if (oldSnapshots.length > 0) {
    console.error(`${oldSnapshots.join(', ')}: not the newest, run bun scripts/migrations.ts`)
    process.exit(1)
  }
  if (readFileSync(target, 'utf8') !== text) {
    console.error('drizzle/index.ts is not fresh: run bun scripts/migrations.ts')
    process.exit(1)
  }
} else {
  for (const name of unmarked) {
    const path = join(root, 'drizzle', name)
    const sql = readFileSync(path, 'utf8')
    writeFileSync(path, `${isExpanding(sql) ? marks[0] : marks[1]}\n${sql}`)
  }
  for (const name of oldSnapshots) rmSync(join(root, 'drizzle/meta', name))
  await Bun.write(target, text)
  await import('./structure.ts')
}
