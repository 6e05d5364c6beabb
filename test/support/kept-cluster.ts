import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { migrate, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import { migrations } from '../../drizzle/index.ts'
import { keptPath } from './made-once.ts'

/* The files of a server with the schema, made once and copied for each server of a test. */

export const quietLogger = createLogger({
  level: 'error',
  format: 'json',
  sink: { write: () => true },
})

/** Tests ask nothing about a power cut. */
const settingsOfTests = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
const keptForMs = 86_400_000

export type ClusterOptions = {
  /** Undefined: the PostgreSQL that comes with the program. */
  readonly bin?: string | undefined
  readonly port?: number
  readonly settings?: Readonly<Record<string, string>>
}

let count = 0

const start = (directory: string, { bin, port, settings }: ClusterOptions) =>
  startEmbeddedPostgres({
    directory,
    ...(port === undefined ? {} : { port }),
    settings: { ...settingsOfTests, ...settings },
    ...(bin === undefined ? {} : { binaries: { bin, version: 'system' } }),
  })

/** The owner of the files must stay: for root the server runs as another user. */
const copyFolder = (from: string, to: string): void => {
  const { exitCode, stderr } = Bun.spawnSync(['cp', '-a', from, to])
  if (exitCode !== 0) throw new Error(`cp: ${stderr.toString()}`)
}

const temporaryPath = (): string =>
  join(tmpdir(), `trilho-test-cluster-${process.pid}-${Date.now()}-${count++}`)

/** Some migrations make partitions of the days around that on which they run. */
const madeOf = (): string => JSON.stringify([new Date().toDateString(), migrations])

/** What was made of other migrations, or on another day, is of use to nobody. */
const removeOld = (kept: string, kind: string): void => {
  const folder = dirname(kept)
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const isOld = name.startsWith(`${kind}-`) && name !== basename(kept)
    const made = isOld ? statSync(path, { throwIfNoEntry: false }) : undefined
    if (made !== undefined && Date.now() - made.mtimeMs > keptForMs) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}

/** Two who make them at the same time make the same. */
const keptFiles = async (bin: string | undefined): Promise<string> => {
  const kind = `cluster${bin?.replaceAll('/', '_') ?? ''}`
  const kept = keptPath(kind, madeOf())
  if (existsSync(kept)) return kept
  removeOld(kept, kind)
  const directory = temporaryPath()
  const server = await start(directory, { bin })
  await migrate(server.url, migrations, quietLogger)
  await server.stop()
  const partial = `${kept}.${process.pid}`
  copyFolder(server.directory, partial)
  for (const path of [directory, server.directory]) rmSync(path, { recursive: true, force: true })
  try {
    renameSync(partial, kept)
  } catch {
    rmSync(partial, { recursive: true, force: true })
  }
  return kept
}

/**
 * Starts a server whose database `trilho` has the schema. To copy its files takes a quarter of the processor time of
 * making them.
 */
export const startCluster = async (options: ClusterOptions) => {
  const directory = temporaryPath()
  copyFolder(await keptFiles(options.bin), directory)
  const server = await start(directory, options)
  return { ...server, directories: [...new Set([directory, server.directory])] }
}
