/** Writes the indexes and constraints that a database has after all migrations, from one that it starts; `backup-check` looks for them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, openDatabase, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import { migrations } from '../drizzle/index.ts'
import { structureOf } from '../src/cli/backup-check/structure.ts'

const target = join(import.meta.dir, '../drizzle/structure.ts')
const directory = mkdtempSync(join(tmpdir(), 'trilho-structure-'))
const sink = { write: (line: string) => process.stderr.write(line) }
const logger = createLogger({ level: 'error', format: 'json', sink })
const server = await startEmbeddedPostgres({ directory })
try {
  await migrate(server.url, migrations, logger)
  const given = { dsn: server.url, connectionsMax: 1, statementTimeoutMs: 60_000, logger }
  const { sql, close } = openDatabase(given)
  const structure = await structureOf(sql)
  await close()
  const text = [
    '// Written by scripts/structure.ts; do not edit.',
    'export const structure: readonly string[] = [',
    ...structure.map((what) => `  '${what}',`),
    ']',
    '',
  ].join('\n')
  await Bun.write(target, text)
} finally {
  await server.stop()
  for (const path of [directory, server.directory]) rmSync(path, { recursive: true, force: true })
}
