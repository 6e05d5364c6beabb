import { chownSync, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs'
import { freemem } from 'node:os'
import { basename, join } from 'node:path'
import postgres from 'postgres'
import { type Database, migrate, openDatabase } from '#src/platform/database/index.ts'
import { migrations } from '../../drizzle/index.ts'
import { afterThisProcess } from './after-this-process.ts'
import { freePort } from './free-port.ts'
import { quietLogger, startCluster } from './kept-cluster.ts'

const template = 'trilho_template'
/** Linux keeps files here in memory. A database of a thousand files costs a busy disk ten times as much to make. */
const memory = '/dev/shm'
const tablespace = 'in_memory'
/** What must be left when a database is made in memory, in bytes: programs and browsers need it. */
const freeBytesMin = 6 * 2 ** 30

export { quietLogger }

/** With these, nothing under test is old enough to go. */
export const keptForEver = { retentionDays: 36_500, archiveDirectory: undefined }
export const messagesForEver = { ...keptForEver, partitionUnit: 'month' } as const

const clusters = new Map<string | undefined, Promise<string>>()
let count = 0

/**
 * The address of the server of this run: the runner's, or else that of TEST_DATABASE_URL (benchmarks name one after the
 * other), or one of this process's own, started by the first that asks.
 */
const testCluster = (): Promise<string> => {
  const prepared = process.env[preparedServer]
  if (prepared !== undefined) return Promise.resolve(prepared)
  const given = process.env['TEST_DATABASE_URL']
  const cluster = clusters.get(given) ?? prepareCluster()
  clusters.set(given, cluster)
  return cluster
}

/** Names to the processes of one run the server that is theirs together. */
export const preparedServer = 'TEST_PREPARED_DATABASE_URL'

/**
 * Starts a server, or takes that of TEST_DATABASE_URL, and makes the template of all databases on it.
 *
 * @param settings more of them for the server that it starts
 */
export const prepareCluster = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const given = process.env['TEST_DATABASE_URL']
  const url = given ?? (await startServer(settings))
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await admin`drop database if exists ${admin(template)}`
  if (given === undefined) await admin.unsafe(`alter database trilho rename to ${template}`)
  else await admin`create database ${admin(template)}`
  await admin.end()
  // What was copied has the schema, and nobody else's connections.
  if (given !== undefined) await migrate(withDatabase(given, template), migrations, quietLogger)
  return url
}

const hasRoomInMemory = (): boolean => {
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, freemem()) > freeBytesMin
}

const startServer = async (settings: Readonly<Record<string, string>>): Promise<string> => {
  const server = await startCluster({
    port: freePort(),
    settings: { max_connections: '300', ...settings },
  })
  const inMemory = join(memory, basename(server.directory))
  const end = 'kill -QUIT "$1"; sleep 0.5; shift; rm -rf "$@"'
  afterThisProcess(end, String(server.pid), ...server.directories, inMemory)
  if (existsSync(memory)) await addTablespace(server, inMemory)
  return withDatabase(server.url, 'postgres')
}

const addTablespace = async (
  { url, directory }: { readonly url: string; readonly directory: string },
  inMemory: string,
): Promise<void> => {
  const { uid, gid } = statSync(join(directory, 'data'))
  mkdirSync(inMemory, { mode: 0o700 })
  chownSync(inMemory, uid, gid)
  const admin = postgres(withDatabase(url, 'postgres'), { max: 1, onnotice: () => {} })
  await admin.unsafe(`create tablespace ${tablespace} location '${inMemory}'`)
  await admin.end()
}

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** How a copy is made; a server that was given may know neither. */
const placeOfCopy = (): string => {
  if (process.env['TEST_DATABASE_URL'] !== undefined) return ''
  // A third of the work of the usual way, which writes each page to the log.
  const strategy = 'strategy file_copy'
  return existsSync(memory) && hasRoomInMemory() ? `${strategy} tablespace ${tablespace}` : strategy
}

export type TestDatabase = Database & { readonly dsn: string }

/** A database of its own with the schema applied, copied from a template. */
export const createTestDatabase = async (
  connectionsMax = 5,
  isTraced = false,
): Promise<TestDatabase> => {
  const url = await testCluster()
  const name = `test_${process.pid}_${count++}`
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await admin.unsafe(`create database ${name} template ${template} ${placeOfCopy()}`)
  await admin.end()
  const dsn = withDatabase(url, name)
  const database = openDatabase({
    dsn,
    connectionsMax,
    statementTimeoutMs: 30_000,
    isTraced,
    logger: quietLogger,
  })
  return { ...database, dsn }
}
