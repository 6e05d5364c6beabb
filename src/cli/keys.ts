import {
  createKeyFileStore,
  isGrant,
  type KeyFileEntry,
  type KeyStore,
  type NewKey,
  scopes,
} from '#src/platform/auth/index.ts'
import { textTable } from '#src/platform/config/index.ts'
import { type Command, type CommandArguments, exitCodes, UsageError } from './command.ts'
import type { Io } from './program.ts'

const nameLengthMax = 100
const dayMs = 86_400_000
const daysMax = 3_650

/** Creates, lists and revokes API keys. */
export const keysCommand: Command = {
  name: 'keys',
  summary: 'Creates, lists and revokes API keys.',
  usage: 'create --name <name> --scopes <scopes> | list | revoke <id>',
  description: `Keys are kept in the file of API_KEYS_FILE (or --file), as hashes: create shows a key once.
A running gateway sees changes within seconds.
Scopes: ${scopes.join(', ')}; a whole feature as cards:*; everything as *.`,
  options: {
    file: { type: 'string', value: 'path', doc: 'The key file; API_KEYS_FILE when not given.' },
    name: { type: 'string', value: 'name', doc: 'create: who the key is for.' },
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
  run: async (args, io) => {
    const [action, id] = args.positionals
    switch (action) {
      case 'create':
        return create(args, io)
      case 'list':
        return list(args, io)
      case 'revoke':
        return revoke(id, args, io)
      default:
        throw new UsageError('say create, list or revoke')
    }
  },
}

const storeOf = (args: CommandArguments, io: Io): KeyStore => {
  const path = args.text('file') ?? io.env['API_KEYS_FILE']
  if (path === undefined || path === '') throw new UsageError('say --file or set API_KEYS_FILE')
  return createKeyFileStore(path, () => new Date())
}

const create = async (args: CommandArguments, io: Io): Promise<number> => {
  const wanted = newKeyOf(args)
  const { id, key } = await storeOf(args, io).create(wanted)
  if (args.flag('json')) {
    io.out(`${JSON.stringify({ id, key, name: wanted.name, scopes: wanted.grants })}\n`)
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
    grants,
    environment: args.flag('test') ? 'test' : 'live',
    expiresAt: days === undefined ? undefined : new Date(Date.now() + Number(days) * dayMs),
  }
}

const list = async (args: CommandArguments, io: Io): Promise<number> => {
  const entries = await storeOf(args, io).list()
  if (args.flag('json')) {
    io.out(`${JSON.stringify({ keys: entries.map(({ hash: _hash, ...shown }) => shown) })}\n`)
    return exitCodes.ok
  }
  const rows = entries.map((entry) => [
    entry.id,
    entry.name,
    stateOf(entry),
    entry.created_at,
    entry.expires_at ?? 'never',
    entry.scopes.join(','),
  ])
  io.out(`${textTable(['ID', 'NAME', 'STATE', 'CREATED', 'EXPIRES', 'SCOPES'], rows)}\n`)
  return exitCodes.ok
}

const stateOf = (entry: KeyFileEntry): string => {
  if (typeof entry.revoked_at === 'string') return 'revoked'
  const expired = typeof entry.expires_at === 'string' && Date.parse(entry.expires_at) <= Date.now()
  return expired ? 'expired' : 'active'
}

const revoke = async (id: string | undefined, args: CommandArguments, io: Io): Promise<number> => {
  if (id === undefined) throw new UsageError('say the id of the key to revoke')
  const done = await storeOf(args, io).revoke(id)
  if (args.flag('json')) io.out(`${JSON.stringify({ id, revoked: done })}\n`)
  else if (done) io.out(`revoked ${id}\n`)
  if (!done) io.err(`trilho keys: no active key ${id}\n`)
  return done ? exitCodes.ok : exitCodes.failed
}
