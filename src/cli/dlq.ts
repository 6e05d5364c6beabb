import {
  type DeadLetterBox,
  deadLetterHeaders,
  type KeptLetter,
  type ListedLetter,
  openDeadLetters,
} from '#src/platform/broker/index.ts'
import { problemsTable, textTable } from '#src/platform/config/index.ts'
import { openDatabase } from '#src/platform/database/index.ts'
import { createLogger, scrub } from '#src/platform/observe/index.ts'
import { type Command, type CommandArguments, exitCodes, UsageError } from './command.ts'
import type { Io, Program } from './program.ts'

const limitDefault = 50
const limitMax = 1_000
const statementTimeoutMs = 30_000

/** Shows what could not be handled, and puts it back or throws it away. */
export const dlqCommand: Command = {
  name: 'dlq',
  summary: 'Lists, shows, retries and drops messages that could not be handled.',
  usage: 'list | show <id> | retry <id>|--all | drop <id>',
  description: `Works on the dead letters in the database of DATABASE_DSN; with BROKER_ADDRESSES a running gateway copies
those of Kafka there. retry publishes a message to the topic it came from and takes it out of dlq; with --all every
message that is there now, the oldest first, or those with one --code. show masks card numbers, CPF and CNPJ, keys; names and
other texts of the message remain.`,
  options: {
    limit: { type: 'string', value: 'n', doc: `list: the newest n; ${limitDefault}.` },
    all: { type: 'boolean', doc: 'retry: all of them.' },
    code: { type: 'string', value: 'code', doc: 'retry --all: those with this error code.' },
    json: { type: 'boolean', doc: 'One JSON object.' },
  },
  examples: [
    'trilho dlq list',
    'trilho dlq show 4711',
    'trilho dlq retry 4711',
    'trilho dlq retry --all --code access_refused',
  ],
  positionalsMax: 2,
  run: (args, io, program) => {
    const [action] = args.positionals
    switch (action) {
      case 'list':
        return withLetters(io, program, (box) => list(box, args, io))
      case 'show':
        return withLetters(io, program, (box) => show(box, args, io))
      case 'retry':
        return withLetters(io, program, (box) =>
          args.flag('all') ? retryAll(box, args, io) : end(box.retry, 'retried', args, io),
        )
      case 'drop':
        return withLetters(io, program, (box) => end(box.drop, 'dropped', args, io))
      default:
        throw new UsageError('say list, show, retry or drop')
    }
  },
}

const withLetters = async (
  io: Io,
  program: Program,
  run: (box: DeadLetterBox) => Promise<number>,
): Promise<number> => {
  const { databases, platform, problems } = program.load(io.env)
  if (problems.length > 0) {
    io.err(`${problemsTable(problems)}\n`)
    return exitCodes.config
  }
  const [dsn] = databases
  if (dsn === undefined) throw new Error('no database is configured: set DATABASE_DSN')
  const logger = createLogger({ level: 'warn', format: 'text', sink: { write: io.err } })
  const database = openDatabase({ dsn, connectionsMax: 1, statementTimeoutMs, logger })
  try {
    return await run(openDeadLetters(database.sql, platform.brokerAddresses !== undefined))
  } finally {
    await database.close()
  }
}

const list = async (box: DeadLetterBox, args: CommandArguments, io: Io): Promise<number> => {
  const text = args.text('limit') ?? String(limitDefault)
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > limitMax) throw new UsageError(`--limit is 1 to ${limitMax}`)
  const letters = await box.list(limit)
  if (args.flag('json')) io.out(`${JSON.stringify({ letters: letters.map(recordOf) })}\n`)
  else if (letters.length === 0) io.out('dlq is empty\n')
  else {
    const head = ['ID', 'AT', 'TOPIC', 'CODE', 'ATTEMPTS', 'BYTES', 'KEY']
    io.out(`${scrub(textTable(head, letters.map(rowOf)))}\n`)
  }
  return exitCodes.ok
}

const rowOf = ({ id, key, headers, publishedAt, bytes }: ListedLetter): string[] => [
  String(id),
  publishedAt.toISOString(),
  headers[deadLetterHeaders.topic] ?? '',
  headers[deadLetterHeaders.errorCode] ?? '',
  headers[deadLetterHeaders.attempt] ?? '',
  String(bytes),
  key ?? '',
]

const recordOf = ({ id, key, headers, publishedAt, bytes }: ListedLetter) => ({
  id: String(id),
  at: publishedAt.toISOString(),
  key,
  bytes,
  headers,
})

const show = async (box: DeadLetterBox, args: CommandArguments, io: Io): Promise<number> => {
  const id = idOf(args)
  const letter = await box.find(id)
  if (letter === undefined) throw new Error(`dlq has no message ${id}`)
  const value = scrub(Buffer.from(plainOf(letter)).toString('utf8'))
  const record = { ...recordOf({ ...letter, bytes: letter.value.length }), value }
  if (args.flag('json')) {
    io.out(`${JSON.stringify(record)}\n`)
    return exitCodes.ok
  }
  const rows = Object.entries(letter.headers).map(([name, text]) => [name, text])
  io.out(`${scrub(textTable(['HEADER', 'VALUE'], rows))}\n\n${value}\n`)
  return exitCodes.ok
}

/** What was too large for the broker is compressed there. */
const plainOf = ({ value, headers }: Pick<KeptLetter, 'value' | 'headers'>): Uint8Array =>
  headers['content-encoding'] === 'zstd' ? Bun.zstdDecompressSync(value) : value

const end = async (
  act: (id: bigint) => Promise<boolean>,
  done: string,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  const id = idOf(args)
  if (!(await act(id))) throw new Error(`dlq has no message ${id}`)
  io.out(
    args.flag('json') ? `${JSON.stringify({ id: String(id), [done]: true })}\n` : `${done} ${id}\n`,
  )
  return exitCodes.ok
}

/** Of one call: what comes back to dlq meanwhile is not taken again, and the rest is for another call. */
const retriedMax = 10_000

const retryAll = async (
  { ids, retry }: DeadLetterBox,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  if (args.positionals.length > 1) throw new UsageError('name a message, or say --all')
  let retried = 0
  // One by one: each is a transaction, and what was retried stays so when the command is interrupted.
  for (const id of await ids(retriedMax, args.text('code'))) if (await retry(id)) retried++
  io.out(args.flag('json') ? `${JSON.stringify({ retried })}\n` : `retried ${retried}\n`)
  return exitCodes.ok
}

const idOf = (args: CommandArguments): bigint => {
  const text = args.positionals[1] ?? ''
  if (!/^\d{1,18}$/.test(text)) throw new UsageError('name a message by the id that list shows')
  return BigInt(text)
}
