import { textTable } from '#src/platform/config/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { ApiError } from '#src/platform/http/index.ts'
import {
  type BookDifference,
  type BookFigures,
  dayForm,
  isAhead,
  reconcile,
} from '#src/spi/index.ts'
import {
  type Command,
  type CommandArguments,
  exitCodes,
  inDatabase,
  print,
  readDocument,
  UsageError,
} from './command.ts'
import type { Io } from './program.ts'

/** Compares our book with what the central bank says was booked. */
export const reconcileCommand: Command = {
  name: 'reconcile',
  summary: 'Lists what a statement and the book of instant payments say differently.',
  usage: '[file|-]',
  description: `Takes a camt.052, camt.053 or camt.054 from the file or standard input, or with --day what was received of
that day. Walks the entries and then our own settlements of their days, in the database of DATABASE_DSN, and names what
either has and the other has not, other amounts and other states. Then it holds counts, sums and balances against our
book: of the day, and between each two balances. Where anything differs it ends with 1.
It changes nothing, and may be stopped and begun again at any time.`,
  options: {
    day: { value: 'YYYY-MM-DD', doc: 'What was received of this day.' },
    json: { doc: 'One JSON object.' },
  },
  examples: ['trilho reconcile --day 2026-03-02', 'trilho reconcile statement.xml --json'],
  positionalsMax: 1,
  run: async (args, io, program) => {
    const source = await sourceOf(args, io)
    const found = await inDatabase(program, io, (sql) => compared(sql, source))
    const { differences, figures } = found
    const isAlike = differences.length === 0 && figures.every((one) => one.differences.length === 0)
    print(args, io, found, () => {
      const head = ['OUTCOME', 'REFERENCE', 'DIRECTION', 'THERE', 'HERE', 'STATUS HERE']
      const parts = [
        ...(isAlike ? ['both books say the same'] : []),
        ...(differences.length === 0 ? [] : [textTable(head, differences.map(rowOf))]),
        textTable(['PERIOD', 'FIGURE', 'THERE', 'HERE', 'OUTCOME'], figures.flatMap(figureRows)),
      ]
      return parts.join('\n\n')
    })
    return isAlike ? exitCodes.ok : exitCodes.failed
  },
}

type Source = { readonly day: string } | { readonly document: Uint8Array; readonly path: string }

/** @throws Error that names the file, which the API knows as its request */
const compared = async (sql: Client, source: Source) => {
  try {
    return await reconcile(sql, source)
  } catch (error) {
    if ('day' in source || !(error instanceof ApiError)) throw error
    const said = error.errors[0]?.message ?? error.message
    throw new Error(`${source.path}: ${said}`, { cause: error })
  }
}

const sourceOf = async (args: CommandArguments, io: Io): Promise<Source> => {
  const [path = ''] = args.positionals
  const day = args.text('day')
  if ((path === '') === (day === undefined)) throw new UsageError('name a file, or say --day')
  if (day !== undefined) {
    if (!dayForm.test(day)) throw new UsageError('--day must be a date of this century, YYYY-MM-DD')
    if (isAhead(day)) throw new UsageError('--day has not begun in Brazil')
    return { day }
  }
  return { document: await readDocument(path, io), path: path === '-' ? 'the input' : path }
}

const rowOf = (one: BookDifference): string[] => [
  one.outcome,
  one.reference,
  one.direction ?? '',
  one.amount ?? '-',
  one.our_amount ?? '-',
  one.our_status ?? '-',
]

const totalOf = (totals: BookFigures['ours'], side: 'credits' | 'debits'): string =>
  totals === null ? '-' : `${totals[side].count}: ${totals[side].amount}`

/** Every figure of a period, and beside it what does not fit. */
const figureRows = (period: BookFigures): string[][] => {
  const { from, until, opening, closing, ours, reported, others, differences } = period
  const name = `${from} to ${until}`
  const sides = (['credits', 'debits'] as const).map((side) => [
    side,
    totalOf(reported, side),
    totalOf(ours, side),
    '',
  ])
  const figures = [
    ...(opening === null ? [] : [['opening balance', opening, '', '']]),
    ...sides,
    ...(['credits', 'debits'] as const).flatMap((side) =>
      others?.[side].count === 0 ? [] : [[`other ${side}`, totalOf(others, side), '', '']],
    ),
    ...(closing === null ? [] : [['closing balance', closing, '', '']]),
    ...differences.map((one) => [
      one.direction ?? '',
      [one.count, one.amount].filter((each) => each !== null).join(': '),
      [one.our_count, one.our_amount].filter((each) => each !== null).join(': '),
      one.outcome,
    ]),
  ]
  return figures.map((row, index) => [index === 0 ? name : '', ...row])
}
