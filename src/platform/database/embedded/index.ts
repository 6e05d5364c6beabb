import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import postgres from 'postgres'
import { hasCode, writeDurably } from '#src/platform/runtime/index.ts'
import {
  copyOf,
  findPostgres,
  majorVersionOf,
  noPostgresMessage,
  type PostgresBinaries,
} from './binaries.ts'
import { stopStale } from './stale.ts'

const loopback = '127.0.0.1'
const user = 'trilho'
const readyTimeoutMs = 30_000
const readyPollMs = 15
const fastShutdownMs = 10_000
/** `template1`, `template0`, `postgres`: initdb ends with them, and all that served had them. */
const databasesMin = 3
/** Before the name of a cluster that is being made. */
const unfinished = 'data.new-'
/** Where state lies when root runs us from a directory that PostgreSQL's user cannot reach. */
const systemStateDirectory = '/var/lib/trilho'

/** No PostgreSQL was found to start; the message says what to do. */
export class NoPostgresError extends Error {
  override readonly name = 'NoPostgresError'
}

export type EmbeddedPostgresOptions = {
  /** Made when absent; holds the cluster, its password and its log. */
  readonly directory: string
  /** 0 or absent: any free port. */
  readonly port?: number
  /** Further settings, as `postgres -c name=value`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Absent: the binaries beside the program, else the system's. */
  readonly binaries?: PostgresBinaries
}

export type EmbeddedPostgres = {
  /** The address of the database `trilho`. */
  readonly url: string
  readonly port: number
  /** The server's first process. */
  readonly pid: number
  /** The real directory of the cluster. */
  readonly directory: string
  /** Resolves when the server has ended, whether asked to or not. */
  readonly exited: Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a real PostgreSQL for this process alone, on loopback with a password of its own. Works as root (the
 * server then runs as `nobody`) and from a checkout that other users cannot read.
 *
 * @throws NoPostgresError when none is found; Error with what to do when the cluster is of another version, with the end of
 *   its log when it does not start
 */
export const startEmbeddedPostgres = async (
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> => {
  const found = options.binaries ?? (await findPostgres())
  if (found === undefined) throw new NoPostgresError(noPostgresMessage)
  const as = runAs()
  const binaries = await readableBinaries(found, as)
  const directory = await stateDirectory(resolve(options.directory), as)
  const data = join(directory, 'data')
  const password = await clusterPassword(directory)
  await removeUnfinished(directory)
  if (!(await isWhole(data))) await initialise(binaries, directory, password, as)
  else await requireVersion(binaries, directory)
  await stopStale(data)
  const port = options.port || freePort()
  const logPath = join(directory, 'postgres.log')
  const server = await spawnServer({ binaries, data, port, logPath, as }, options.settings ?? {})
  if (server.pid === undefined) throw new Error('PostgreSQL cannot be run')
  const callOff = endWithUs(server.pid)
  const exited = new Promise<void>((done) => server.once('exit', () => done())).finally(callOff)
  const url = `postgres://${user}:${password}@${loopback}:${port}`
  await untilReady(`${url}/postgres`, exited, logPath)
  return {
    url: `${url}/${user}`,
    port,
    pid: server.pid,
    directory,
    exited,
    stop: () => stop(server, exited),
  }
}

const readableBinaries = async (found: PostgresBinaries, as: RunAs): Promise<PostgresBinaries> => {
  if (as === undefined || (await isReachableByAll(found.bin))) return found
  return { ...found, bin: join(await copyOf(join(found.bin, '..'), found.version), 'bin') }
}

/** Files of one major version are no other's. They come from an earlier release, or from a start before "bun install". */
const requireVersion = async (binaries: PostgresBinaries, directory: string): Promise<void> => {
  const version = majorVersionOf(binaries)
  const kept = (await readFile(join(directory, 'data', 'PG_VERSION'), 'utf8')).trim()
  if (version === kept) return
  throw new Error(
    `${directory} is of PostgreSQL ${kept}, which PostgreSQL ${version} cannot open. Delete it to begin anew; or, to keep what it holds, run PostgreSQL ${kept} on ${join(directory, 'data')} yourself and set DATABASE_DSN.`,
  )
}

/** The directory asked for, or one under /var/lib when the server's user could not reach that. */
const stateDirectory = async (wanted: string, as: RunAs): Promise<string> => {
  await mkdir(wanted, { recursive: true })
  if (as === undefined) return wanted
  const name = createHash('sha256').update(wanted).digest('hex').slice(0, 16)
  const directory = (await isReachableByAll(wanted)) ? wanted : join(systemStateDirectory, name)
  await mkdir(directory, { recursive: true, mode: 0o711 })
  await mkdir(join(directory, 'data'), { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await chown(join(directory, 'data'), as.uid, as.gid)
  return directory
}

/** The given value if there is no such file. An unreadable file may be all right, so we make nothing in its place. */
const orIfAbsent =
  <T>(value: T) =>
  (error: unknown): T => {
    if (hasCode(error, 'ENOENT')) return value
    throw error
  }

const clusterPassword = async (directory: string): Promise<string> => {
  const path = join(directory, 'password')
  const kept = await readFile(path, 'utf8').catch(orIfAbsent(''))
  if (kept !== '') return kept
  // A cluster whose password is lost cannot be opened any more; it is made anew.
  await rm(join(directory, 'data', 'PG_VERSION'), { force: true })
  const password = randomBytes(24).toString('base64url')
  await writeDurably(path, password, 0o600)
  return password
}

/** Whether there is a cluster that initdb has made to its end: it begins with PG_VERSION, and may have been killed. */
const isWhole = async (data: string): Promise<boolean> => {
  if (!existsSync(join(data, 'PG_VERSION'))) return false
  const names = await readdir(join(data, 'base')).catch(orIfAbsent([]))
  return names.filter((name) => /^\d+$/.test(name)).length >= databasesMin
}

/** An initdb whose owner was killed may still run; the next start then removes its leftovers. */
const removeUnfinished = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(unfinished)) continue
    await rm(join(directory, name), { recursive: true, force: true }).catch(() => {})
  }
}

/** Makes a cluster beside its place, which it takes once it is whole: this process may be killed before. */
const initialise = async (
  binaries: PostgresBinaries,
  directory: string,
  password: string,
  as: RunAs,
): Promise<void> => {
  const made = await mkdtemp(join(directory, unfinished))
  if (as !== undefined) await chown(made, as.uid, as.gid)
  const passwordFile = join(directory, 'initdb-password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (as !== undefined) await chown(passwordFile, as.uid, as.gid)
  const args = ['-D', made, '-U', user, '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  args.push('--encoding=UTF8', '--no-locale', '--no-sync', '--no-instructions')
  const child = spawn(join(binaries.bin, 'initdb'), args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: '/',
    env: {},
    ...as,
  })
  const callOff = child.pid === undefined ? undefined : endWithUs(child.pid)
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4000)
  })
  const code = await new Promise<number | null>((done, fail) => {
    child.once('error', fail)
    child.once('close', done)
  }).finally(callOff)
  await rm(passwordFile, { force: true })
  if (code !== 0) throw new Error(`initdb ended with code ${code}: ${errors.trim()}`)
  const data = join(directory, 'data')
  await rm(data, { recursive: true, force: true })
  await rename(made, data)
}

const spawnServer = async (
  where: {
    readonly binaries: PostgresBinaries
    readonly data: string
    readonly port: number
    readonly logPath: string
    readonly as: RunAs
  },
  settings: Readonly<Record<string, string>>,
): Promise<ChildProcess> => {
  const all = {
    listen_addresses: loopback,
    unix_socket_directories: '',
    max_connections: '200',
    ...settings,
  }
  const args = ['-D', where.data, '-p', String(where.port)]
  for (const [name, value] of Object.entries(all)) args.push('-c', `${name}=${value}`)
  const log = await open(where.logPath, 'w', 0o600)
  const child = spawn(join(where.binaries.bin, 'postgres'), args, {
    stdio: ['ignore', log.fd, log.fd],
    cwd: '/',
    env: {},
    // A process group of its own: Ctrl-C ends the gateway first, which then stops its database.
    detached: true,
    ...where.as,
  })
  await log.close()
  return child
}

const freePort = (): number => {
  const listener = Bun.listen({ hostname: loopback, port: 0, socket: { data: () => {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** Connects until it works, and makes the database where it is missing. */
const untilReady = async (url: string, exited: Promise<void>, logPath: string): Promise<void> => {
  const ended = exited.then(() => true)
  const until = performance.now() + readyTimeoutMs
  for (;;) {
    const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} })
    try {
      const rows = await sql`select 1 from pg_database where datname = ${user}`
      if (rows.length === 0) await sql`create database ${sql(user)}`
      return
    } catch (error) {
      if (performance.now() > until) throw error
    } finally {
      await sql.end({ timeout: 1 })
    }
    if (await Promise.race([ended, Bun.sleep(readyPollMs).then(() => false)])) {
      const log = await readFile(logPath, 'utf8').catch(() => '')
      throw new Error(`PostgreSQL did not start: ${log.slice(-2000).trim()}`)
    }
  }
}

/** Fast shutdown: running transactions are rolled back. Immediate where that takes too long. */
const stop = async (server: ChildProcess, exited: Promise<void>): Promise<void> => {
  server.kill('SIGINT')
  const late = Symbol('late')
  const outcome = await Promise.race([exited, Bun.sleep(fastShutdownMs).then(() => late)])
  if (outcome !== late) return
  server.kill('SIGQUIT')
  await exited
}

/** The user that PostgreSQL runs as; undefined: the one we are. */
type RunAs = { readonly uid: number; readonly gid: number } | undefined

/** `nobody` on every system we run on. */
const unprivileged = { uid: 65_534, gid: 65_534 } as const

/** PostgreSQL refuses to run as root, rightly: then it runs as `nobody`. */
const runAs = (): RunAs => (process.getuid?.() === 0 ? unprivileged : undefined)

/** True when any user may pass through every directory above, and into this one. */
const isReachableByAll = async (path: string): Promise<boolean> => {
  for (let at = path; ; at = dirname(at)) {
    const { mode } = await stat(at)
    if ((mode & 0o001) === 0) return false
    if (dirname(at) === at) return true
  }
}

/**
 * Ends a process when this one ends without having done so: killed, crashed, or by `exit` in the middle of something.
 * A shell waits for the end of its input, which comes with the end of the process that holds the other side.
 *
 * @returns calls the shell off; only for a process that has ended
 */
const endWithUs = (pid: number): (() => void) => {
  // A process group of its own: Ctrl-C must not end it before the server.
  const watcher = spawn('sh', ['-c', 'cat > /dev/null; kill -INT "$1"', 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  })
  watcher.unref()
  return () => {
    watcher.kill('SIGKILL')
  }
}
