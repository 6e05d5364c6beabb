import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Logger, rateOf, tellEveryMs } from '../observe/index.ts'
import { makeDurably, renameDurably } from '../runtime/index.ts'
import type { Lasting } from './batches.ts'
import type { Client, Transaction } from './database.ts'
import { inSnapshot, limitSilence } from './transactions.ts'

/** The blocks that one statement reads: few rows at once in memory, and far from the time limit of statements. */
const blocksMax = 8
/** How long the disk may take between two statements: the transaction changes nothing that others wait for. */
const diskWaitMaxMs = 600_000
/** A file that nobody has written to for so long is one of a process that died. */
const abandonedMs = 86_400_000

type Archived = { readonly name: string; readonly directory: string; readonly file?: string }

/**
 * Writes all rows of a table to `<directory>/<file>.jsonl.gz`: a line for each, columns as PostgreSQL's `row_to_json`
 * writes them. Logs every ten seconds how far a long one is.
 */
export const archiveTable = async (
  { sql, logger }: { readonly sql: Client; readonly logger: Logger },
  { name, directory, file = name }: Archived,
  round: Lasting | undefined,
): Promise<void> => {
  const total = await estimateOf(sql, name)
  await inSnapshot(sql, async (tx) => {
    await limitSilence(tx, diskWaitMaxMs)
    await tx`set local bytea_output = hex`
    await archiveLines(toldOf(logger, name, total, linesOf(tx, name)), directory, file, round)
  })
}

/**
 * Writes `<directory>/<file>.jsonl.gz`. The file gets its name only once it is whole and on the disk. Two processes may
 * write it at once, if one has lost its lease and does not know: then the later has it, and the earlier fails.
 *
 * @param round goes on with each piece that is written
 * @throws Error if the round ends before the file does: the rows to be archived must stay
 */
export const archiveLines = async (
  lines: AsyncIterable<string>,
  directory: string,
  file: string,
  round: Lasting | undefined,
): Promise<void> => {
  await makeDurably(directory, 0o700)
  await removeAbandoned(directory, file)
  const path = join(directory, `${file}${suffix}`)
  const partial = `${path}.${randomUUID()}${partialSuffix}`
  const pieces = Readable.from(withinRound(lines, file, round))
  try {
    const written = createWriteStream(partial, { mode: 0o600, flags: 'wx' })
    await pipeline(pieces, createGzip(), written)
    await renameDurably(partial, path)
  } finally {
    await rm(partial, { force: true })
  }
}

const suffix = '.jsonl.gz'
const partialSuffix = '.partial'

/** A process that still writes to a removed file fails at its end, and drops nothing. */
const removeAbandoned = async (directory: string, file: string): Promise<void> => {
  const oldMs = Date.now() - abandonedMs
  for (const name of await readdir(directory)) {
    if (!name.includes(`${suffix}.`) || !name.endsWith(partialSuffix)) continue
    const path = join(directory, name)
    const isOfFile = name.startsWith(`${file}${suffix}.`)
    // Undefined: another has removed it before us.
    const about = await stat(path).catch(() => undefined)
    if (about === undefined || (about.mtimeMs > oldMs && !isOfFile)) continue
    await rm(path, { force: true })
  }
}

async function* withinRound(
  pieces: AsyncIterable<string>,
  file: string,
  round: Lasting | undefined,
): AsyncGenerator<string> {
  for await (const piece of pieces) {
    if (round?.signal.aborted) throw new Error(`${file} is not whole: its round has ended`)
    yield piece
    round?.advance()
  }
}

/** Rows that the planner thinks the table has: counting takes as long as writing. */
const estimateOf = async (sql: Client, name: string): Promise<number> => {
  const [row] = await sql<{ rows: number }[]>`
    select greatest(0, reltuples)::float8 as rows from pg_class where oid = ${name}::regclass`
  return row?.rows ?? 0
}

async function* toldOf(
  logger: Logger,
  table: string,
  total: number,
  batches: AsyncIterable<readonly string[]>,
): AsyncGenerator<string> {
  const startMs = performance.now()
  let saidMs = startMs
  let done = 0
  for await (const lines of batches) {
    done += lines.length
    const now = performance.now()
    if (now - saidMs >= tellEveryMs) {
      saidMs = now
      const { perSecond, secondsLeft } = rateOf({ done, total, afterMs: now - startMs })
      const about = { rows: done, of_about: total, rows_per_second: Math.round(perSecond) }
      logger.info({ table, ...about, seconds_left: secondsLeft }, 'archiving')
    }
    yield lines.join('')
  }
}

/**
 * Lines as one snapshot sees them, block by block, so that none is missing or told twice, however long it takes and
 * whatever is written meanwhile. A single statement would meet the time limit of statements.
 */
async function* linesOf(tx: Transaction, name: string): AsyncGenerator<readonly string[]> {
  const [size] = await tx<{ blocks: number }[]>`
    select (pg_relation_size(${name}::regclass) / current_setting('block_size')::int)::float8 as blocks`
  const blocks = size?.blocks ?? 0
  for (let block = 0; block < blocks; block += blocksMax) {
    const rows = await tx<{ line: string }[]>`
      select row_to_json(archived)::text as line from ${tx(name)} archived
      where ctid >= ${`(${block},0)`}::text::tid and ctid < ${`(${block + blocksMax},0)`}::text::tid`
    if (rows.length > 0) yield rows.map(({ line }) => `${line}\n`)
  }
}
