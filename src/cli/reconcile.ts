import { readFile } from 'node:fs/promises'
import { textTable } from '#src/platform/config/index.ts'
import { type BookDifference, dayForm, reconcile } from '#src/spi/index.ts'
import {
  type Command,
  type CommandArguments,
  demandDatabases,
  demandSettings,
  exitCodes,
  print,
  UsageError,
  withDatabase,
} from './command.ts'
import type { Io } from './program.ts'

/** Compares our book with what the central bank says was booked. */
export const reconcileCommand: Command = {
  name: 'reconcile',
  summary: 'Lists what a statement and the book of instant payments say differently.',
  usage: '[file|-]',
  description: `Takes a camt.054 from the file or standard input, or with --day the entries of all that were received and
are booked on that day. Walks the entries and then our own settlements of their days, in the database of DATABASE_DSN,
and names what either has and the other has not, other amounts and other states; then it ends with 1.
It changes nothing, and may be stopped and begun again at any time.`,
  options: {
    day: { value: 'YYYY-MM-DD', doc: 'The entries received that are booked on this day.' },
    json: { doc: 'One JSON object.' },
  },
  examples: ['trilho reconcile --day 2026-03-02', 'trilho reconcile statement.xml --json'],
  positionalsMax: 1,
  run: async (args, io, program) => {
    const source = await sourceOf(args, io)
    const [dsn] = demandDatabases(demandSettings(program.load(io.env)))
    const differences = await withDatabase(dsn, io, (sql) => reconcile(sql, source))
    print(args, io, { differences }, () => {
      const head = ['OUTCOME', 'REFERENCE', 'DIRECTION', 'THERE', 'HERE', 'STATUS HERE']
      return differences.length === 0
        ? 'both books say the same'
        : textTable(head, differences.map(rowOf))
    })
    return differences.length === 0 ? exitCodes.ok : exitCodes.failed
  },
}

const sourceOf = async (
  args: CommandArguments,
  io: Io,
): Promise<{ readonly day: string } | { readonly document: Uint8Array }> => {
  const [path] = args.positionals
  const day = args.text('day')
  if ((path === undefined) === (day === undefined))
    throw new UsageError('name a file, or say --day')
  if (day !== undefined) {
    if (!dayForm.test(day)) throw new UsageError('--day must be a date of this century, YYYY-MM-DD')
    return { day }
  }
  const isInput = path === undefined || path === '-'
  return { document: isInput ? await io.readInput() : new Uint8Array(await readFile(path)) }
}

const rowOf = (one: BookDifference): string[] => [
  one.outcome,
  one.reference,
  one.direction ?? '',
  one.amount ?? '-',
  one.our_amount ?? '-',
  one.our_status ?? '-',
]
