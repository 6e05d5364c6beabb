/**
 * Writes the list of `drizzle/*.sql` that the executable embeds; `--check` fails where it is not fresh.
 *
 * A new migration: change a `schema.ts`, then `bunx drizzle-kit generate --name what_changed`, then this.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const target = join(root, 'drizzle/index.ts')

const names = readdirSync(join(root, 'drizzle'))
  .filter((name) => name.endsWith('.sql'))
  .sort()

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
  if (readFileSync(target, 'utf8') !== text) {
    console.error('drizzle/index.ts is not fresh: run bun scripts/migrations.ts')
    process.exit(1)
  }
} else {
  await Bun.write(target, text)
}
