import { type ParseArgsConfig, parseArgs } from 'node:util'
import { textTable } from '#src/platform/config/index.ts'
import type { Io, Program } from './program.ts'

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
  readonly type: 'string' | 'boolean'
  /** How the value is called in the help. */
  readonly value?: string
  readonly doc: string
}

export type CommandArguments = {
  readonly positionals: readonly string[]
  readonly text: (name: string) => string | undefined
  readonly flag: (name: string) => boolean
}

export type Command = {
  readonly name: string
  readonly summary: string
  /** What follows the name: `[file]`, `create|list|revoke <id>`. */
  readonly usage: string
  readonly description: string
  readonly options: Readonly<Record<string, CommandOption>>
  readonly examples: readonly string[]
  readonly positionalsMax: number
  readonly run: (args: CommandArguments, io: Io, program: Program) => Promise<number>
}

/** Said to the user as it is, with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const parseCommandLine = (command: Command, argv: readonly string[]): CommandArguments => {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } }
  for (const [name, { type }] of Object.entries(command.options)) options[name] = { type }
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'bad arguments')
  }
  if (parsed.positionals.length > command.positionalsMax) {
    throw new UsageError(`unexpected argument ${parsed.positionals[command.positionalsMax]}`)
  }
  const { values } = parsed
  return {
    positionals: parsed.positionals,
    text: (name) => (typeof values[name] === 'string' ? values[name] : undefined),
    flag: (name) => values[name] === true,
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
