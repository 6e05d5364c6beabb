import { createWriteStream } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Client } from './database.ts'

/** Rows that are in memory at once. */
const rowsMax = 200

/**
 * Writes all rows of a table to `<directory>/<file>.jsonl.gz`: a line for each, columns as PostgreSQL's `row_to_json`
 * tells them. The file has its name only once it is whole and on the disk.
 */
export const archiveTable = async (
  sql: Client,
  name: string,
  directory: string,
  file = name,
): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, `${file}.jsonl.gz`)
  const partial = `${path}.partial`
  await pipeline(
    Readable.from(linesOf(sql, name)),
    createGzip(),
    createWriteStream(partial, { mode: 0o600 }),
  )
  const handle = await open(partial)
  await handle.sync()
  await handle.close()
  await rename(partial, path)
}

async function* linesOf(sql: Client, name: string): AsyncGenerator<string> {
  const rows = sql<{ line: string }[]>`
    select row_to_json(archived)::text as line from ${sql(name)} archived`
  for await (const batch of rows.cursor(rowsMax)) {
    yield batch.map(({ line }) => `${line}\n`).join('')
  }
}
