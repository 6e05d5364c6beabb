import { textTable } from '#src/platform/config/index.ts'
import { printableLines } from '#src/platform/observe/index.ts'
import { auditCommand } from './audit.ts'
import { backupCheckCommand } from './backup-check/index.ts'
import { certsCommand } from './certs.ts'
import {
  type Command,
  commandHelp,
  exitCodeHelp,
  exitCodes,
  parseCommandLine,
  ReaderGoneError,
  SettingsError,
  UsageError,
} from './command.ts'
import { configCommand } from './config.ts'
import { devCommand } from './dev/index.ts'
import { dlqCommand } from './dlq.ts'
import { doctorCommand } from './doctor/index.ts'
import { toldOf } from './given.ts'
import { inspectCommand } from './inspect.ts'
import { keysCommand } from './keys.ts'
import { listsCommand } from './lists.ts'
import { migrateCommand } from './migrate.ts'
import { networksCommand } from './networks.ts'
import type { Io, Program } from './program.ts'
import { readyCommand } from './ready.ts'
import { rebuildCommand } from './rebuild.ts'
import { reconcileCommand } from './reconcile.ts'
import { rotateMasterKeyCommand } from './rotate-master-key.ts'
import { rsfnCommand } from './rsfn.ts'
import { serveCommand } from './serve.ts'
import { simCommand } from './sim/index.ts'
import { supportBundleCommand } from './support-bundle/index.ts'

export type { PlatformDeps, Program } from './program.ts'
export { createProcessIo } from './streams.ts'

const commands: readonly Command[] = [
  devCommand,
  serveCommand,
  readyCommand,
  configCommand,
  keysCommand,
  auditCommand,
  certsCommand,
  listsCommand,
  rotateMasterKeyCommand,
  migrateCommand,
  doctorCommand,
  supportBundleCommand,
  backupCheckCommand,
  inspectCommand,
  rsfnCommand,
  reconcileCommand,
  rebuildCommand,
  networksCommand,
  dlqCommand,
  simCommand,
]

/** Runs the command line and gives the exit code. Its output never steers the terminal, even if others wrote it. */
export const runCli = (argv: readonly string[], io: Io, program: Program): Promise<number> =>
  runCommand(
    argv,
    {
      ...io,
      out: (text) => io.out(printableLines(text)),
      err: (text) => io.err(printableLines(text)),
    },
    program,
  )

const runCommand = async (argv: readonly string[], io: Io, program: Program): Promise<number> => {
  const [name, ...rest] = argv
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    return overview(rest, io)
  }
  if (name === '--version' || name === '-v') {
    io.out(`trilho ${program.version} (bun ${Bun.version})\n`)
    return exitCodes.ok
  }
  const command = commands.find((candidate) => candidate.name === name)
  if (command === undefined) {
    io.err(`trilho: no command ${name}; trilho --help lists them\n`)
    return exitCodes.usage
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    io.out(commandHelp(command))
    return exitCodes.ok
  }
  try {
    return await command.run(parseCommandLine(command, rest), io, program)
  } catch (error) {
    if (error instanceof ReaderGoneError) return exitCodes.ok
    if (error instanceof SettingsError) {
      io.err(`${error.message}\n`)
      return exitCodes.config
    }
    if (error instanceof UsageError) {
      io.err(`trilho ${name}: ${error.message}; see trilho ${name} --help\n`)
      return exitCodes.usage
    }
    io.err(`trilho ${name}: ${toldOf(error, rest, io, program)}\n`)
    return exitCodes.failed
  }
}

const overview = ([name]: readonly string[], io: Io): number => {
  const command = commands.find((candidate) => candidate.name === name)
  if (command !== undefined) {
    io.out(commandHelp(command))
    return exitCodes.ok
  }
  const table = textTable(
    ['COMMAND', 'WHAT IT DOES'],
    commands.map(({ name: command, summary }) => [command, summary]),
  )
  io.out(
    `Trilho: one gateway for Pix, cards and digital currency.\n\nUsage: trilho <command> [options]\n\n${table.replace(/^/gm, '  ')}\n\nEach command has --help with an example. ${exitCodeHelp}\n\nExample:\n  trilho dev\n`,
  )
  return exitCodes.ok
}
