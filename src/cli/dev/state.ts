import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { writeDurably } from '#src/platform/runtime/index.ts'
import {
  createKeyFileStore,
  defaultAccount,
  parseKey,
  readKeyFile,
} from '#src/platform/security/index.ts'
import { startOf } from './processes.ts'

export type DevState = {
  readonly directory: string
  readonly keyFile: string
  /** The demonstration's key: everything is allowed, on this machine. */
  readonly apiKey: string
  /** Seals the secrets in the database. */
  readonly masterKey: string
  readonly writeSample: (name: string, content: string | Uint8Array) => Promise<string>
}

/**
 * Makes or reopens what `dev` keeps between starts.
 *
 * @throws Error that names `--state`, where another `dev` keeps its state or nothing can be written
 */
export const openDevState = async (directory: string): Promise<DevState> => {
  const root = resolve(directory)
  try {
    return await openIn(root)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    const text = `cannot keep its state in ${root}: ${error.message}; choose another directory with --state`
    throw new Error(text, { cause: error })
  }
}

const openIn = async (root: string): Promise<DevState> => {
  const samples = join(root, 'samples')
  await mkdir(samples, { recursive: true })
  lockState(root)
  const keyFile = join(root, 'keys.json')
  return {
    directory: root,
    keyFile,
    masterKey: await masterKey(join(root, 'master-key')),
    apiKey: await demoKey(keyFile, join(root, 'demo-key')),
    writeSample: async (name, content) => {
      const path = join(samples, name)
      await writeFile(path, content)
      return relative(process.cwd(), path)
    },
  }
}

/** The same key at every start, unless it was revoked or its text is lost. */
const demoKey = async (keyFile: string, textFile: string): Promise<string> => {
  const text = await readFile(textFile, 'utf8').catch(() => '')
  const parsed = parseKey(text.trim())
  const { keys } = await readKeyFile(keyFile)
  const usable = keys.some((entry) => entry.id === parsed?.id && entry.revoked_at === null)
  if (usable) return text.trim()
  const store = createKeyFileStore(keyFile, () => new Date())
  const { key } = await store.create({
    name: 'demo',
    account: defaultAccount,
    environment: 'test',
    grants: ['*'],
    expiresAt: undefined,
  })
  await writeDurably(textFile, `${key}\n`, 0o600)
  return key
}

/** Makes the key once: without it nobody can open what it sealed. */
const masterKey = async (path: string): Promise<string> => {
  const kept = await readFile(path, 'utf8').catch(() => '')
  if (kept !== '') return kept.trim()
  const made = randomBytes(32).toString('base64')
  await writeDurably(path, `${made}\n`, 0o600)
  return made
}

/**
 * Takes the state directory for this process until it exits. A second `dev` on the same state would take the first
 * one's database away.
 *
 * @throws Error when a running `dev` holds it
 */
const lockState = (directory: string): void => {
  const path = join(directory, 'pid')
  const start = startOf(process.pid)
  const own = start === undefined ? String(process.pid) : `${process.pid} ${start}`
  const holder = readOr(path, '')
  if (holder !== own && isRunning(holder)) {
    const [pid] = holder.split(' ')
    throw new Error(
      `another dev (process ${pid}) uses ${directory}: end it, or choose another with --state`,
    )
  }
  writeFileSync(path, own)
  process.on('exit', () => {
    if (readOr(path, '') === own) rmSync(path, { force: true })
  })
}

/** Whether the process that wrote this, its id and its start, still runs: another one may have the id by now. */
const isRunning = (holder: string): boolean => {
  const [id = '', ...start] = holder.trim().split(' ')
  const pid = Number(id)
  if (!Number.isSafeInteger(pid) || pid <= 1) return false
  return start.length === 0 ? isDev(pid) : startOf(pid) === start.join(' ')
}

/** An earlier release wrote the id alone: only a process that runs as `dev` counts. */
const isDev = (pid: number): boolean => {
  // The process that wrote our id is gone.
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const commandLine = readOr(`/proc/${pid}/cmdline`, '\0dev\0')
  return `\0${commandLine}\0`.includes('\0dev\0')
}

const readOr = (path: string, fallback: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return fallback
  }
}
