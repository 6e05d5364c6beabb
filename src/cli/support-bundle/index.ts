import { randomUUID } from 'node:crypto'
import { lstat, rename, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, freemem, loadavg, release, totalmem, uptime } from 'node:os'
import { hasCode } from '#src/platform/runtime/index.ts'
import {
  type Command,
  errorLogger,
  idleFeatures,
  print,
  withDatabase,
  writeBytes,
} from '../command.ts'
import { allChecks } from '../doctor/index.ts'
import { reasonOf } from '../doctor/reason.ts'
import type { Io, LoadedProgram, Program } from '../program.ts'
import { askOwn, ownUrl } from '../ready.ts'
import { databaseFacts } from './database.ts'
import { createRedactor, type Redactor, secretTexts } from './redact.ts'

/** We collect only the newest bytes of a log. */
const logBytesMax = 5_242_880

const readme = (
  version: string,
  at: string,
): string => `Support bundle of trilho ${version}, made at ${at}.

system.json    version, runtime, machine, limits
settings.json  the settings in force, secrets masked, and what is wrong with them
doctor.json    what trilho doctor finds
database*.json server, migrations, sizes of tables, sessions, queues; counts and times, no row
book.json      what is open, by rail
gateway.json   what the running process answers at /health and /ready
metrics.txt    what it answers at /metrics
log.jsonl      the end of the log that was given

Secrets of the settings, card numbers, CPF, CNPJ, keys and passwords were searched for and replaced. Addresses of
hosts, names of networks and identifiers of payments are in it: look before you give it away.
`

/** Collects in one file all that a helper needs to know. */
export const supportBundleCommand: Command = {
  name: 'support-bundle',
  summary: 'Collects what somebody who helps needs to know in one file, without secrets.',
  usage: '[--log <file>] [--out <file>] [--json]',
  description: `Takes the settings (secrets masked), the findings of trilho doctor, facts of the database (counts and sizes,
no row of anybody), and health and metrics of the gateway that runs on this machine with these settings. What cannot be
had says why, and stops nothing. Every text is searched for the secrets of the settings, card numbers, CPF, CNPJ and keys.`,
  options: {
    log: { value: 'file', doc: 'The end of this log too, as JSON lines; - is standard input.' },
    out: {
      value: 'file',
      doc: 'Where to, - is standard output; trilho-support-<time>.tar.gz here.',
    },
    json: { doc: 'One JSON object: the file, and what is in it.' },
  },
  examples: [
    'trilho support-bundle',
    'journalctl -u trilho -o cat | trilho support-bundle --log -',
  ],
  run: async (args, io, program) => {
    const at = new Date().toISOString()
    const out = args.text('out') ?? `trilho-support-${at.replace(/\D/g, '').slice(0, 14)}.tar.gz`
    const loaded = program.load(io.env)
    const redactor = createRedactor(await secretTexts(program.settingGroups, io.env))
    const files = {
      'README.txt': readme(program.version, at),
      ...(await partsOf(program, loaded, io, redactor)),
      ...(await logOf(args.text('log'), io, redactor)),
    }
    const bytes = await new Bun.Archive(files, { compress: 'gzip' }).bytes()
    const told = await writeBytes(out, bytes, io, writePrivately)
    const names = Object.keys(files)
    return print(args, told, { file: out, holds: names }, () => `${out}: ${names.join(', ')}`)
  },
}

/** The content is not for everybody on the machine: nobody else may read it meanwhile, or redirect it by a link. */
const writePrivately = async (path: string, bytes: Uint8Array): Promise<void> => {
  const there = await lstat(path).catch(unlessMissing)
  if (there?.isFile() === false) throw new Error(`${path} is there, and no file`)
  const temporary = `${path}.${randomUUID()}`
  try {
    await writeFile(temporary, bytes, { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

const unlessMissing = (error: unknown): undefined => {
  if (!hasCode(error, 'ENOENT')) throw error
}

const partsOf = async (
  program: Program,
  loaded: LoadedProgram,
  io: Io,
  redactor: Redactor,
): Promise<Readonly<Record<string, string>>> => {
  const { effective, problems, warnings } = loaded
  const parts: Record<string, string> = {}
  const add = async (name: string, value: () => Promise<unknown>): Promise<void> => {
    const told = await value().catch((error: unknown) => ({ error: reasonOf(error) }))
    parts[`${name}.json`] = redactor.json(told)
  }
  await add('system', () => systemFacts(program))
  await add('settings', async () => ({ settings: effective, problems, warnings }))
  await add('doctor', () => allChecks(program, loaded, io))
  // With wrong settings, we do not know which databases to ask.
  if (problems.length > 0) return parts
  for (const [at, dsn] of loaded.databases.entries()) {
    await add(at === 0 ? 'database' : `database-${at + 1}`, () =>
      withDatabase(dsn, io, (sql) => databaseFacts(sql, dsn, program.migrations)),
    )
  }
  await add('book', async () => {
    const features = idleFeatures(program, loaded, errorLogger(io))
    return (await Promise.all(features.map((feature) => feature.book?.() ?? []))).flat()
  })
  const url = ownUrl(loaded.platform)
  await add('gateway', async () => ({
    health: await (await askOwn(`${url}/health`)).json(),
    ready: await (await askOwn(`${url}/ready`)).json(),
  }))
  const metrics = await askOwn(`${url}/metrics`).catch(() => undefined)
  if (metrics?.ok) parts['metrics.txt'] = redactor.metrics(await metrics.text())
  return parts
}

const systemFacts = async ({ version }: Program): Promise<unknown> => ({
  version,
  bun: Bun.version,
  platform: process.platform,
  arch: process.arch,
  kernel: release(),
  processors: availableParallelism(),
  load: loadavg().map(Math.round),
  memory_mib: mebibytes(totalmem()),
  memory_free_mib: mebibytes(freemem()),
  up_hours: Math.floor(uptime() / 3_600),
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  limits: await Bun.file('/proc/self/limits')
    .text()
    .then((text) => text.trimEnd().split('\n'))
    .catch(() => 'not told by this system'),
})

const mebibytes = (bytes: number): number => Math.round(bytes / 1_048_576)

/** The end of the log, from the first whole line on. */
const logOf = async (
  path: string | undefined,
  io: Io,
  redactor: Redactor,
): Promise<Readonly<Record<string, string>>> => {
  if (path === undefined) return {}
  const file = Bun.file(path)
  if (path !== '-' && !(await file.exists())) throw new Error(`${path} cannot be read`)
  const bytes =
    path === '-'
      ? await io.readInput(logBytesMax)
      : await file.slice(Math.max(0, file.size - logBytesMax)).bytes()
  const text = new TextDecoder().decode(bytes)
  const isCut = bytes.length === logBytesMax
  return { 'log.jsonl': redactor.log(isCut ? text.slice(text.indexOf('\n') + 1) : text) }
}
