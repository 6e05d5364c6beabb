import { readFile, writeFile } from 'node:fs/promises'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { cardSettings } from '#src/cards/index.ts'
import {
  companionName,
  problemsTable,
  type Setting,
  textTable,
} from '#src/platform/config/index.ts'
import { type Client, databaseSettings, openDatabase } from '#src/platform/database/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import { createLogger, createMetrics, type Logger } from '#src/platform/observe/index.ts'
import { createAuthenticator, listenerMaterial } from '#src/platform/security/index.ts'
import type { Io, LoadedProgram, Program } from './program.ts'

/** Exit codes of every command; 2 and 78 as in sysexits and shells. */
export const exitCodes = {
  ok: 0,
  /** The command ran and failed; the reason is on stderr. */
  failed: 1,
  /** Unknown command, option or argument. */
  usage: 2,
  /** The configuration is bad; the table of problems is on stderr. */
  config: 78,
} as const

export type CommandOption = {
  /** How the help calls the value; an option without one is a flag. */
  readonly value?: string
  readonly doc: string
}

export type CommandArguments = {
  readonly positionals: readonly string[]
  readonly text: (name: string) => string | undefined
  readonly flag: (name: string) => boolean
  /** @throws UsageError for anything but a whole number from `min` to `max` */
  readonly integer: (name: string, min: number, max: number) => number | undefined
}

export type Command = {
  readonly name: string
  readonly summary: string
  /** The arguments after the name: `[file]`, `create|list|revoke <id>`. */
  readonly usage: string
  readonly description: string
  readonly options: Readonly<Record<string, CommandOption>>
  readonly examples: readonly string[]
  /** 0 when absent. */
  readonly positionalsMax?: number
  /** @returns the exit code */
  readonly run: (args: CommandArguments, io: Io, program: Program) => Promise<number>
}

/** The bytes of a file, or of standard input: by `-`, or where none is named. */
export const readDocument = async (path: string | undefined, io: Io): Promise<Uint8Array> =>
  path === undefined || path === '-' ? io.readInput() : new Uint8Array(await readFile(path))

/**
 * Writes bytes to standard output where the path is `-`, else as the command does.
 *
 * @returns where to tell of it: standard output holds nothing beside the bytes
 */
export const writeBytes = async (
  path: string,
  bytes: Uint8Array,
  io: Io,
  write: (path: string, bytes: Uint8Array) => Promise<void> = writeFile,
): Promise<Io> => {
  if (path !== '-') {
    await write(path, bytes)
    return io
  }
  await Bun.write(Bun.stdout, bytes)
  return { ...io, out: io.err }
}

/** The user reads its message as it is; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The user reads the table of problems; the exit code is 78. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** The reader of standard output, such as `head`, has enough and is gone; the exit code is 0. */
export class ReaderGoneError extends Error {
  override readonly name = 'ReaderGoneError'
}

/**
 * @param needed the settings that the command reads: faults in others do not hinder it. All of them when not given
 * @throws SettingsError when there are problems
 */
export const demandSettings = <T extends Pick<LoadedProgram, 'problems'>>(
  loaded: T,
  needed?: readonly Setting<unknown>[],
): T => {
  const names = needed?.flatMap((setting) => [setting.env, companionName(setting)])
  const problems = loaded.problems.filter(({ name }) => names?.includes(name) ?? true)
  if (problems.length > 0) throw new SettingsError(problemsTable(problems))
  return loaded
}

/** @throws SettingsError, or Error when DATABASE_DSN is not set */
export const demandDatabase = (loaded: LoadedProgram): string => {
  const { database } = demandSettings(loaded, [databaseSettings.dsn])
  if (database === undefined) throw new Error('no database is configured: set DATABASE_DSN')
  return database
}

/** For commands about every database. @throws SettingsError, or Error when no database is configured */
export const demandDatabases = (loaded: LoadedProgram): readonly [string, ...string[]] => {
  const needed = [databaseSettings.dsn, cardSettings.databaseUrl]
  const [first, ...others] = demandSettings(loaded, needed).databases
  if (first === undefined) throw new Error('no database is configured: set DATABASE_DSN')
  return [first, ...others]
}

/** Opens the database for one command, and closes it after. A statement may take `statementTimeoutMs`; 0: any time. */
export const withDatabase = async <T>(
  dsn: string,
  io: Io,
  use: (sql: Client) => Promise<T>,
  statementTimeoutMs = 30_000,
): Promise<T> => {
  const logger = errorLogger(io)
  const database = openDatabase({ dsn, connectionsMax: 1, statementTimeoutMs, logger })
  try {
    return await use(database.sql)
  } finally {
    await database.close()
  }
}

/** Works in the database of DATABASE_DSN. @throws SettingsError, or Error when it is not set */
export const inDatabase = async <T>(
  program: Program,
  io: Io,
  use: (sql: Client) => Promise<T>,
): Promise<T> => withDatabase(demandDatabase(program.load(io.env)), io, use)

/** Features for a command that starts none of them, so that no caller reaches them. */
export const idleFeatures = (
  { version }: Program,
  loaded: LoadedProgram,
  logger: Logger,
): readonly Feature[] =>
  loaded.createFeatures({
    logger,
    cardsLogger: logger,
    tls: listenerMaterial(loaded.platform),
    metrics: createMetrics({ version, withProcess: false }),
    version,
    authenticator: createAuthenticator({ sources: [] }),
  })

/** A logger that shows the user errors alone. */
export const errorLogger = ({ err }: Io): Logger =>
  createLogger({ level: 'error', format: 'text', sink: { write: err } })

/** The action that the first word names. */
export const actionOf = <T>(
  actions: Readonly<Record<string, T>>,
  { positionals: [name = ''] }: CommandArguments,
): T => {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action !== undefined) return action
  const names = Object.keys(actions)
  throw new UsageError(`say ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`)
}

/** Prints a result: with --json the value on one line, else the text. */
export const print = (
  args: CommandArguments,
  io: Io,
  value: unknown,
  text: () => string,
): number => {
  io.out(`${args.flag('json') ? JSON.stringify(value) : text()}\n`)
  return exitCodes.ok
}

export const parseCommandLine = (command: Command, argv: readonly string[]): CommandArguments => {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } }
  for (const [name, { value }] of Object.entries(command.options)) {
    options[name] = { type: value === undefined ? 'boolean' : 'string' }
  }
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'bad arguments')
  }
  const { values, positionals } = parsed
  const unexpected = positionals[command.positionalsMax ?? 0]
  if (unexpected !== undefined) throw new UsageError(`unexpected argument ${unexpected}`)
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined)
  return {
    positionals,
    text,
    flag: (name) => values[name] === true,
    integer: (name, min, max) => {
      const given = text(name)
      if (given === undefined) return undefined
      const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN
      if (value >= min && value <= max) return value
      throw new UsageError(`--${name} must be a whole number from ${min} to ${max}`)
    },
  }
}

const optionTable = (options: Command['options']): string =>
  textTable(
    ['OPTION', 'MEANING'],
    [
      ...Object.entries(options).map(([name, { value, doc }]) => [
        `--${name}${value === undefined ? '' : ` <${value}>`}`,
        doc,
      ]),
      ['--help', 'This text.'],
    ],
  )

const indent = (text: string): string => text.replace(/^/gm, '  ')

export const commandHelp = (command: Command): string =>
  [
    `trilho ${command.name}: ${command.summary}`,
    '',
    `Usage: trilho ${command.name} ${command.usage}`.trimEnd(),
    '',
    command.description,
    '',
    indent(optionTable(command.options)),
    '',
    command.examples.length === 1 ? 'Example:' : 'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
    exitCodeHelp,
    '',
  ].join('\n')

export const exitCodeHelp = 'Exit codes: 0 done, 1 failed, 2 wrong usage, 78 bad configuration.'
