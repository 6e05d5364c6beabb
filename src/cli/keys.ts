import { textTable } from '#src/platform/config/index.ts'
import { openDatabase } from '#src/platform/database/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import {
  accountForm,
  createKeyFileStore,
  createKeyTableStore,
  defaultAccount,
  isGrant,
  type KeyStore,
  type ListedKey,
  type NewKey,
  scopes,
} from '#src/platform/security/index.ts'
import { type Command, type CommandArguments, exitCodes, UsageError } from './command.ts'
import type { Io, Program } from './program.ts'

const nameLengthMax = 100
const dayMs = 86_400_000
const daysMax = 3_650

/** Creates, lists and revokes API keys. */
export const keysCommand: Command = {
  name: 'keys',
  summary: 'Creates, lists and revokes API keys.',
  usage: 'create --name <name> [--account <account>] --scopes <scopes> | list | revoke <id>',
  description: `Keys are kept as hashes, so that create shows a key once: in the file of --file, else in the
database of DATABASE_DSN, else in the file of API_KEYS_FILE.
A running gateway sees changes within seconds.
What was done under one key of an account is not done again under another: rotate a key within its account.
Scopes: ${scopes.join(', ')}; a whole feature as cards:*; everything as *.`,
  options: {
    file: { type: 'string', value: 'path', doc: 'Keep keys in this file.' },
    name: { type: 'string', value: 'name', doc: 'create: who the key is for.' },
    account: {
      type: 'string',
      value: 'name',
      doc: 'create: whose key it is; by default `default`.',
    },
    scopes: { type: 'string', value: 'a,b', doc: 'create: what the key may do.' },
    days: { type: 'string', value: 'n', doc: 'create: the key expires after n days.' },
    test: { type: 'boolean', doc: 'create: a trl_test_ key instead of trl_live_.' },
    json: { type: 'boolean', doc: 'One JSON object.' },
  },
  examples: [
    'trilho keys create --file keys.json --name shop --scopes cards:*,spi:transform --days 90',
    'trilho keys list --file keys.json',
    'trilho keys revoke --file keys.json 8ZkQ0aT3xYbn',
  ],
  positionalsMax: 2,
  run: async (args, io, program) => {
    const [action, id] = args.positionals
    switch (action) {
      case 'create':
        return withStore(args, io, program, (store) => create(store, args, io))
      case 'list':
        return withStore(args, io, program, (store) => list(store, args, io))
      case 'revoke':
        return withStore(args, io, program, (store) => revoke(store, id, args, io))
      default:
        throw new UsageError('say create, list or revoke')
    }
  },
}

/** Opens the store that the user means, and closes it after. */
const withStore = async (
  args: CommandArguments,
  io: Io,
  program: Program,
  use: (store: KeyStore) => Promise<number>,
): Promise<number> => {
  const now = (): Date => new Date()
  const { databases, platform } = program.load(io.env)
  const [dsn] = databases
  const path = args.text('file') ?? (dsn === undefined ? platform.apiKeysFile : undefined)
  if (path !== undefined) return use(createKeyFileStore(path, now))
  if (dsn === undefined) {
    throw new UsageError('say --file, or set DATABASE_DSN or API_KEYS_FILE')
  }
  const logger = createLogger({ level: 'error', format: 'text', sink: { write: io.err } })
  const database = openDatabase({ dsn, connectionsMax: 1, statementTimeoutMs: 10_000, logger })
  try {
    return await use(createKeyTableStore(database.sql, commandActor()))
  } finally {
    await database.close()
  }
}

const create = async (store: KeyStore, args: CommandArguments, io: Io): Promise<number> => {
  const wanted = newKeyOf(args)
  const { id, key } = await store.create(wanted)
  if (args.flag('json')) {
    io.out(
      `${JSON.stringify({ id, key, name: wanted.name, account: wanted.account, scopes: wanted.grants })}\n`,
    )
  } else {
    io.out(`${key}\n`)
    io.err(`Key ${id} for ${wanted.name}. It is shown only now: keep it safe.\n`)
  }
  return exitCodes.ok
}

const newKeyOf = (args: CommandArguments): NewKey => {
  const name = args.text('name') ?? ''
  if (name === '' || name.length > nameLengthMax) {
    throw new UsageError(`--name must have 1 to ${nameLengthMax} characters`)
  }
  const account = args.text('account') ?? defaultAccount
  if (!accountForm.test(account)) {
    throw new UsageError('--account must have 1 to 63 letters, digits, dots, dashes or underscores')
  }
  const grants = (args.text('scopes') ?? '').split(',').filter((grant) => grant !== '')
  if (grants.length === 0) throw new UsageError('--scopes must name at least one scope')
  const unknown = grants.find((grant) => !isGrant(grant))
  if (unknown !== undefined) throw new UsageError(`no scope ${unknown}`)
  const days = args.text('days')
  if (
    days !== undefined &&
    !(/^\d{1,4}$/.test(days) && Number(days) >= 1 && Number(days) <= daysMax)
  )
    throw new UsageError(`--days must be 1 to ${daysMax}`)
  return {
    name,
    account,
    grants,
    environment: args.flag('test') ? 'test' : 'live',
    expiresAt: days === undefined ? undefined : new Date(Date.now() + Number(days) * dayMs),
  }
}

const list = async (store: KeyStore, args: CommandArguments, io: Io): Promise<number> => {
  const entries = await store.list()
  if (args.flag('json')) {
    io.out(`${JSON.stringify({ keys: entries })}\n`)
    return exitCodes.ok
  }
  const rows = entries.map((entry) => [
    entry.id,
    entry.name,
    entry.account,
    stateOf(entry),
    entry.created_at,
    entry.expires_at ?? 'never',
    entry.last_used_at ?? '',
    entry.scopes.join(','),
  ])
  io.out(
    `${textTable(['ID', 'NAME', 'ACCOUNT', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'SCOPES'], rows)}\n`,
  )
  return exitCodes.ok
}

const stateOf = (entry: ListedKey): string => {
  if (typeof entry.revoked_at === 'string') return 'revoked'
  const expired = typeof entry.expires_at === 'string' && Date.parse(entry.expires_at) <= Date.now()
  return expired ? 'expired' : 'active'
}

const revoke = async (
  store: KeyStore,
  id: string | undefined,
  args: CommandArguments,
  io: Io,
): Promise<number> => {
  if (id === undefined) throw new UsageError('say the id of the key to revoke')
  const done = await store.revoke(id)
  if (args.flag('json')) io.out(`${JSON.stringify({ id, revoked: done })}\n`)
  else if (done) io.out(`revoked ${id}\n`)
  if (!done) io.err(`trilho keys: no active key ${id}\n`)
  return done ? exitCodes.ok : exitCodes.failed
}
