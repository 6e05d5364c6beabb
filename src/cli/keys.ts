import { type PlatformSettings, platformSettings, textTable } from '#src/platform/config/index.ts'
import { databaseSettings } from '#src/platform/database/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import {
  accountForm,
  createKeyFileStore,
  createKeyTableStore,
  defaultAccount,
  isGrant,
  type KeyEnvironment,
  type KeyStore,
  type ListedKey,
  type NewKey,
  requestsPerSecondMax,
  restrictionsSchema,
  type StoredRestrictions,
  scopes,
} from '#src/platform/security/index.ts'
import {
  actionOf,
  type Command,
  type CommandArguments,
  demandSettings,
  exitCodes,
  print,
  UsageError,
  withDatabase,
} from './command.ts'
import type { Io } from './program.ts'

const nameLengthMax = 100
const daysMax = 3_650
const hourSeconds = 3_600
const overlapHoursDefault = 24
const overlapHoursMax = 720

/** Creates, lists, changes, rotates and revokes API keys. */
export const keysCommand: Command = {
  name: 'keys',
  summary: 'Creates, lists, changes, rotates and revokes API keys.',
  usage:
    'create --name <name> [--account <account>] --scopes <scopes> | list | change <id> | rotate <id> | revoke <id>',
  description: `Keys are kept as hashes, so that create shows a key once: in the file of --file, else in the
database of DATABASE_DSN, else in the file of API_KEYS_FILE.
A running gateway sees changes within seconds.
Keys of TRILHO_ENVIRONMENT=production begin with trl_live_, all others with trl_test_: no system takes the other's.
An account owns what its keys make, and may have any number of them. Restrictions leave of a key's scopes what they
name; change replaces all restrictions of a key by those given. rotate gives a key a new secret, and
the former one counts on for --overlap-hours.
Scopes: ${scopes.join(', ')}; a whole feature as cards:*; everything as *.`,
  options: {
    file: { value: 'path', doc: 'Keep keys in this file.' },
    name: { value: 'name', doc: 'create: who the key is for.' },
    account: { value: 'name', doc: 'create: whose key it is; by default `default`.' },
    scopes: { value: 'a,b', doc: 'create: what the key may do.' },
    days: { value: 'n', doc: 'create, change: the key expires after n days.' },
    merchants: { value: 'a,b', doc: 'Restriction: card transactions of these merchants only.' },
    wallets: { value: 'a,b', doc: 'Restriction: these wallets only, by address.' },
    addresses: {
      value: 'a,b',
      doc: 'Restriction: requests from these addresses or networks only.',
    },
    'own-webhooks': { doc: 'Restriction: webhook endpoints only that the key made itself.' },
    'read-only': { doc: 'Restriction: nothing that changes, moves or signs anything.' },
    rate: {
      value: 'n',
      doc: 'Restriction: so many requests a second, in place of TRILHO_RATE_KEY.',
    },
    unrestricted: { doc: 'change: lifts all restrictions.' },
    test: { doc: 'create: a trl_test_ key, whatever TRILHO_ENVIRONMENT is.' },
    live: { doc: 'create: a trl_live_ key, whatever TRILHO_ENVIRONMENT is.' },
    'overlap-hours': {
      value: 'n',
      doc: `rotate: how long the former secret counts on; ${overlapHoursDefault} when not given, 0 ends it at once.`,
    },
    json: { doc: 'One JSON object.' },
  },
  examples: [
    'trilho keys create --file keys.json --name shop --scopes cards:*,spi:transform --days 90',
    'trilho keys create --file keys.json --name till-7 --scopes cards:* --merchants MERCHANT000001 --addresses 10.1.0.0/16',
    'trilho keys list --file keys.json',
    'trilho keys change --file keys.json 8ZkQ0aT3xYbn --read-only',
    'trilho keys rotate --file keys.json 8ZkQ0aT3xYbn --overlap-hours 2',
    'trilho keys revoke --file keys.json 8ZkQ0aT3xYbn',
  ],
  positionalsMax: 2,
  run: async (args, io, program) => {
    const action = actionOf(actions, args)
    // Other wrong settings must not keep anybody from revoking or rotating a leaked key.
    const { environment, apiKeysFile } = platformSettings
    const needed = [environment, apiKeysFile, databaseSettings.dsn]
    const { platform, database: dsn } = demandSettings(program.load(io.env), needed)
    const path = args.text('file') ?? (dsn === undefined ? platform.apiKeysFile : undefined)
    if (path !== undefined)
      return action(
        createKeyFileStore(path, () => new Date()),
        args,
        io,
        platform,
      )
    if (dsn === undefined) {
      throw new UsageError('say --file, or set DATABASE_DSN or API_KEYS_FILE')
    }
    return withDatabase(dsn, io, (sql) =>
      action(createKeyTableStore(sql, commandActor()), args, io, platform),
    )
  },
}

type Action = (
  store: KeyStore,
  args: CommandArguments,
  io: Io,
  platform: PlatformSettings,
) => Promise<number>

const create: Action = async (store, args, io, platform) => {
  const wanted = newKeyOf(args, platform)
  const { name, account, grants: scopes, restrictions = {} } = wanted
  const { id, key } = await store.create(wanted)
  print(args, io, { id, key, name, account, scopes, restrictions }, () => key)
  if (!args.flag('json')) io.err(`Key ${id} for ${name}. It is shown only now: keep it safe.\n`)
  return exitCodes.ok
}

/** The keys that this installation takes. */
const environmentOf = ({ environment }: PlatformSettings): KeyEnvironment =>
  environment === 'production' ? 'live' : 'test'

const newKeyOf = (args: CommandArguments, platform: PlatformSettings): NewKey => {
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
  if (args.flag('test') && args.flag('live')) throw new UsageError('say --test or --live')
  const marked = args.flag('live') ? 'live' : environmentOf(platform)
  const environment = args.flag('test') ? 'test' : marked
  const restrictions = restrictionsOf(args)
  return { name, account, grants, environment, restrictions, expiresAt: expiryOf(args) }
}

const expiryOf = (args: CommandArguments): Date | undefined => {
  const days = args.integer('days', 1, daysMax)
  return days === undefined ? undefined : new Date(Date.now() + days * dayMs)
}

/** @throws UsageError that names the option at fault */
const restrictionsOf = (args: CommandArguments): StoredRestrictions => {
  const listOf = (name: string) =>
    args
      .text(name)
      ?.split(',')
      .filter((each) => each !== '')
  const parsed = restrictionsSchema.safeParse({
    merchant_ids: listOf('merchants'),
    wallets: listOf('wallets'),
    addresses: listOf('addresses'),
    own_webhooks: args.flag('own-webhooks') || undefined,
    read_only: args.flag('read-only') || undefined,
    requests_per_second: args.integer('rate', 1, requestsPerSecondMax),
  })
  if (parsed.success) return withoutUndefined(parsed.data)
  const [issue] = parsed.error.issues
  const option = issue?.path[0] === 'merchant_ids' ? 'merchants' : String(issue?.path[0])
  throw new UsageError(`--${option}: ${issue?.message}`)
}

const withoutUndefined = (restrictions: StoredRestrictions): StoredRestrictions =>
  JSON.parse(JSON.stringify(restrictions)) as StoredRestrictions

const change: Action = async (store, args, io) => {
  const id = idOf(args, 'change')
  const given = restrictionsOf(args)
  const isGiven = Object.keys(given).length > 0
  if (isGiven && args.flag('unrestricted'))
    throw new UsageError('say restrictions or --unrestricted')
  const restrictions = isGiven || args.flag('unrestricted') ? given : undefined
  const expiresAt = expiryOf(args)
  if (restrictions === undefined && expiresAt === undefined) {
    throw new UsageError('say what is to change: restrictions, --unrestricted or --days')
  }
  const done = await store.change(id, { restrictions, expiresAt })
  if (done || args.flag('json')) print(args, io, { id, changed: done }, () => `changed ${id}`)
  return done ? exitCodes.ok : noActive(io, id)
}

const rotate: Action = async (store, args, io, platform) => {
  const id = idOf(args, 'rotate')
  const hours = args.integer('overlap-hours', 0, overlapHoursMax) ?? overlapHoursDefault
  const rotated = await store.rotate(id, hours * hourSeconds, environmentOf(platform))
  if (rotated === undefined) return noActive(io, id)
  const { key, previousUntil } = rotated
  print(args, io, { id, key, previous_until: previousUntil.toISOString() }, () => key)
  if (!args.flag('json')) {
    io.err(
      `The new secret of ${id}, shown only now. The former one counts until ${previousUntil.toISOString()}.\n`,
    )
  }
  return exitCodes.ok
}

const idOf = (args: CommandArguments, what: string): string => {
  const [, id] = args.positionals
  if (id === undefined) throw new UsageError(`say the id of the key to ${what}`)
  return id
}

const noActive = (io: Io, id: string): number => {
  io.err(`trilho keys: no active key ${id}\n`)
  return exitCodes.failed
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
      shown(key.restrictions),
    ])
    const head = ['ID', 'NAME', 'ACCOUNT', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'SCOPES']
    return textTable([...head, 'RESTRICTIONS'], rows)
  })
}

/** `merchant_ids=A,B read_only`; empty without any. */
const shown = (restrictions: StoredRestrictions): string =>
  Object.entries(restrictions)
    .map(([name, value]) => (value === true ? name : `${name}=${String(value)}`))
    .join(' ')

const stateOf = (entry: ListedKey): string => {
  if (typeof entry.revoked_at === 'string') return 'revoked'
  const expired = typeof entry.expires_at === 'string' && Date.parse(entry.expires_at) <= Date.now()
  return expired ? 'expired' : 'active'
}

const revoke: Action = async (store, args, io) => {
  const id = idOf(args, 'revoke')
  const done = await store.revoke(id)
  if (done || args.flag('json')) print(args, io, { id, revoked: done }, () => `revoked ${id}`)
  return done ? exitCodes.ok : noActive(io, id)
}

const actions: Readonly<Record<string, Action>> = { create, list, change, rotate, revoke }
