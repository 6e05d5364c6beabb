import { endReceivables, tellRefusals } from '#src/pix/index.ts'
import {
  type DeadLetterBox,
  deadLetterHeaders,
  type KeptLetter,
  type ListedLetter,
  openDeadLetters,
} from '#src/platform/broker/index.ts'
import { platformSettings, textTable } from '#src/platform/config/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { scrub } from '#src/platform/security/index.ts'
import { createLetterSubjects } from '#src/spi/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import {
  actionOf,
  type Command,
  type CommandArguments,
  demandDatabase,
  demandSettings,
  print,
  UsageError,
  withDatabase,
} from './command.ts'
import type { Io } from './program.ts'
import { inProgress } from './progress.ts'

const limitDefault = 50
const limitMax = 1_000
/** The most messages that one call retries. It does not retry those that come back to dlq meanwhile. */
const retriedMax = 10_000

/** Shows what could not be handled, and puts it back or throws it away. */
export const dlqCommand: Command = {
  name: 'dlq',
  summary: 'Lists, shows, retries and drops messages that could not be handled.',
  usage: 'list | show <id> | retry <id>|--all | drop <id>',
  description: `Works on the dead letters in the database of DATABASE_DSN; with BROKER_ADDRESSES a running gateway copies
those of Kafka there. retry publishes a message to the topic it came from and takes it out of dlq; with --all every
message that is there now, the oldest first, or those of one --code or --topic, at most ${retriedMax} at once: ask again until
it retries 0. What holds no whole message, or does not say its topic, is left there (RETRY of list: no). show masks card
numbers, CPF and CNPJ, keys; names and other texts of the message remain. drop ends what the message was to do: a payment
or return that was never sent is REJECTED.`,
  options: {
    limit: { value: 'n', doc: `list: the newest n, at most ${limitMax}; ${limitDefault}.` },
    oldest: { doc: 'list: the oldest instead, the oldest first.' },
    all: { doc: `retry: all of them, at most ${retriedMax} at once.` },
    code: { value: 'code', doc: 'retry --all: those with this error code.' },
    topic: { value: 'topic', doc: 'retry --all: those that came from this topic.' },
    json: { doc: 'One JSON object.' },
  },
  examples: [
    'trilho dlq list',
    'trilho dlq list --oldest --limit 1000',
    'trilho dlq show 4711',
    'trilho dlq retry 4711',
    'trilho dlq retry --all --code refused_by_interface --topic spi.outbound',
  ],
  positionalsMax: 2,
  run: async (args, io, program) => {
    const action = actionOf(actions, args)
    const loaded = demandSettings(program.load(io.env), [platformSettings.brokerAddresses])
    const dsn = demandDatabase(loaded)
    const hasKafka = loaded.platform.brokerAddresses !== undefined
    const receivables = { end: endReceivables(emitEvents) }
    const subjects = createLetterSubjects(emitEvents, receivables, tellRefusals(emitEvents))
    return withDatabase(dsn, io, (sql) =>
      action(openDeadLetters(sql, hasKafka, subjects), args, io),
    )
  },
}

type Action = (box: DeadLetterBox, args: CommandArguments, io: Io) => Promise<number>

const list: Action = async (box, args, io) => {
  const limit = args.integer('limit', 1, limitMax) ?? limitDefault
  const letters = await box.list(limit, { isOldestFirst: args.flag('oldest') })
  return print(args, io, { letters: letters.map(recordOf) }, () => {
    const head = ['ID', 'AT', 'TOPIC', 'CODE', 'ATTEMPTS', 'RETRY', 'BYTES', 'KEY']
    return letters.length === 0 ? 'dlq is empty' : scrub(textTable(head, letters.map(rowOf)))
  })
}

const rowOf = ({ id, key, headers, publishedAt, bytes, stays }: ListedLetter): string[] => [
  String(id),
  publishedAt.toISOString(),
  headers[deadLetterHeaders.topic] ?? '',
  headers[deadLetterHeaders.errorCode] ?? '',
  headers[deadLetterHeaders.attempt] ?? '',
  stays === null ? 'yes' : 'no',
  String(bytes),
  key ?? '',
]

const recordOf = ({ id, key, headers, publishedAt, bytes, stays }: ListedLetter) => ({
  id: String(id),
  at: publishedAt.toISOString(),
  key,
  bytes,
  can_be_retried: stays === null,
  headers,
})

const show: Action = async (box, args, io) => {
  const id = idOf(args)
  const letter = await box.find(id)
  if (letter === undefined) throw new Error(`dlq has no message ${id}`)
  const value = scrub(Buffer.from(plainOf(letter)).toString('utf8'))
  const record = { ...recordOf({ ...letter, bytes: letter.value.length }), value }
  const rows = Object.entries(letter.headers).map(([name, text]) => [name, text])
  return print(args, io, record, () => `${scrub(textTable(['HEADER', 'VALUE'], rows))}\n\n${value}`)
}

/** A message too large for the broker was published compressed; of one that was cut then, nothing can be read. */
const plainOf = ({ value, headers }: Pick<KeptLetter, 'value' | 'headers'>): Uint8Array =>
  headers['content-encoding'] === 'zstd' && headers[deadLetterHeaders.cutFrom] === undefined
    ? Bun.zstdDecompressSync(value)
    : value

const end =
  (act: 'retry' | 'drop', done: string): Action =>
  async (box, args, io) => {
    const id = idOf(args)
    if (!(await box[act](id, commandActor()))) throw new Error(`dlq has no message ${id}`)
    return print(args, io, { id: String(id), [done]: true }, () => `${done} ${id}`)
  }

const retryOne = end('retry', 'retried')

export const retryAll = async (
  { ids, staying, retry }: Pick<DeadLetterBox, 'ids' | 'staying' | 'retry'>,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  if (args.positionals.length > 1) throw new UsageError('name a message, or say --all')
  const actor = commandActor()
  let retried = 0
  // One by one: each is a transaction, so an interrupted command loses no retries.
  const of = { errorCode: args.text('code'), topic: args.text('topic') }
  const found = await ids(retriedMax, of)
  await inProgress(io, 'messages', async (onProgress) => {
    for (const [at, id] of found.entries()) {
      if (await retry(id, actor)) retried++
      onProgress(at + 1, found.length)
    }
  })
  const left = await staying(retriedMax, of)
  const mayMoreWait = found.length === retriedMax
  const isMoreLeft = left.reduce((sum, { count }) => sum + count, 0) === retriedMax
  const record = { retried, more_may_wait: mayMoreWait, left, more_may_be_left: isMoreLeft }
  return print(args, io, record, () =>
    [
      `retried ${retried}`,
      ...(mayMoreWait ? ['more may wait: ask again until it retries 0'] : []),
      ...left.map(({ count, why }) => `left ${isMoreLeft ? 'at least ' : ''}${count}: ${why}`),
    ].join('\n'),
  )
}

const idOf = (args: CommandArguments): bigint => {
  const text = args.positionals[1] ?? ''
  if (!/^\d{1,18}$/.test(text)) throw new UsageError('name a message by the id that list shows')
  return BigInt(text)
}

const actions: Readonly<Record<string, Action>> = {
  list,
  show,
  retry: (box, args, io) => (args.flag('all') ? retryAll : retryOne)(box, args, io),
  drop: end('drop', 'dropped'),
}
