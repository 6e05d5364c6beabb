import { textTable } from '#src/platform/config/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
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
import {
  actionOf,
  type Command,
  type CommandArguments,
  exitCodes,
  print,
  UsageError,
  withDatabase,
} from './command.ts'
import type { Io } from './program.ts'

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
    file: { value: 'path', doc: 'Keep keys in this file.' },
    name: { value: 'name', doc: 'create: who the key is for.' },
    account: { value: 'name', doc: 'create: whose key it is; by default `default`.' },
    scopes: { value: 'a,b', doc: 'create: what the key may do.' },
    days: { value: 'n', doc: 'create: the key expires after n days.' },
    test: { doc: 'create: a trl_test_ key instead of trl_live_.' },
    json: { doc: 'One JSON object.' },
  },
  examples: [
    'trilho keys create --file keys.json --name shop --scopes cards:*,spi:transform --days 90',
    'trilho keys list --file keys.json',
    'trilho keys revoke --file keys.json 8ZkQ0aT3xYbn',
  ],
  positionalsMax: 2,
  run: async (args, io, program) => {
    const action = actionOf(actions, args)
    const { databases, platform } = program.load(io.env)
    const [dsn] = databases
    const path = args.text('file') ?? (dsn === undefined ? platform.apiKeysFile : undefined)
    if (path !== undefined)
      return action(
        createKeyFileStore(path, () => new Date()),
        args,
        io,
      )
    if (dsn === undefined) {
      throw new UsageError('say --file, or set DATABASE_DSN or API_KEYS_FILE')
    }
    return withDatabase(dsn, io, (sql) =>
      action(createKeyTableStore(sql, commandActor()), args, io),
    )
  },
}

type Action = (store: KeyStore, args: CommandArguments, io: Io) => Promise<number>

const create: Action = async (store, args, io) => {
  const wanted = newKeyOf(args)
  const { name, account, grants: scopes } = wanted
  const { id, key } = await store.create(wanted)
  print(args, io, { id, key, name, account, scopes }, () => key)
  if (!args.flag('json')) io.err(`Key ${id} for ${name}. It is shown only now: keep it safe.\n`)
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
  const days = args.integer('days', 1, daysMax)
  return {
    name,
    account,
    grants,
    environment: args.flag('test') ? 'test' : 'live',
    expiresAt: days === undefined ? undefined : new Date(Date.now() + days * dayMs),
  }
}

const list: Action = async (store, args, io) => {
  const keys = await store.list()
  return print(args, io, { keys }, () => {
    const rows = keys.map((key) => [
      key.id,
      key.name,
      key.account,
      stateOf(key),
      key.created_at,
      key.expires_at ?? 'never',
      key.last_used_at ?? '',
      key.scopes.join(','),
    ])
    const head = ['ID', 'NAME', 'ACCOUNT', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'SCOPES']
    return textTable(head, rows)
  })
}

const stateOf = (entry: ListedKey): string => {
  if (typeof entry.revoked_at === 'string') return 'revoked'
  const expired = typeof entry.expires_at === 'string' && Date.parse(entry.expires_at) <= Date.now()
  return expired ? 'expired' : 'active'
}

const revoke: Action = async (store, args, io) => {
  const [, id] = args.positionals
  if (id === undefined) throw new UsageError('say the id of the key to revoke')
  const done = await store.revoke(id)
  if (done || args.flag('json')) print(args, io, { id, revoked: done }, () => `revoked ${id}`)
  if (!done) io.err(`trilho keys: no active key ${id}\n`)
  return done ? exitCodes.ok : exitCodes.failed
}

const actions: Readonly<Record<string, Action>> = { create, list, revoke }
