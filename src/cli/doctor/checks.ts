import { existsSync } from 'node:fs'
import type { Environment, ListenAddress, PlatformSettings } from '#src/platform/config/index.ts'
import { isDatabaseAway, openDatabase } from '#src/platform/database/index.ts'
import { type Check, checkOf } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { type KeyEnvironment, readKeyFile } from '#src/platform/security/index.ts'
import { reasonOf } from './reason.ts'

/** The ports are free, or something of ours may be running on them. */
export const checkPorts = (settings: PlatformSettings): readonly Check[] => {
  const { httpAddr, cardgwPort, adminAddr, pixAddr } = settings
  const cards = { name: 'CARDGW_PORT', address: { host: httpAddr.host, port: cardgwPort } }
  const addresses = [
    { name: 'HTTP_ADDR', address: httpAddr },
    ...(cardgwPort === httpAddr.port ? [] : [cards]),
    ...(adminAddr === undefined ? [] : [{ name: 'TRILHO_ADMIN_ADDR', address: adminAddr }]),
    ...(pixAddr === undefined ? [] : [{ name: 'PIX_API_ADDR', address: pixAddr }]),
  ]
  return addresses.map(checkPort)
}

const checkPort = ({
  name,
  address,
}: {
  readonly name: string
  readonly address: ListenAddress
}): Check => {
  const check = checkOf(name)
  const where = `${address.host ?? 'all interfaces'}, port ${address.port}`
  try {
    Bun.listen({
      hostname: address.host ?? '0.0.0.0',
      port: address.port,
      socket: { data: () => {} },
    }).stop(true)
    return check.ok(`${where} is free`)
  } catch (error) {
    return check.warning(
      `${where} cannot be opened: ${reasonOf(error)}`,
      `stop what listens there (a running gateway, perhaps), or set ${name}`,
    )
  }
}

/** The keys of one place, counted by whether they are of this environment. */
type Counted = { readonly detail: string; readonly fitting: number; readonly others: number }

/**
 * Keys can be read, and there is one that works now: in the file, or in the database; `serve` takes both. Nothing is
 * said of a database that is none to ask.
 */
export const checkKeys = async (
  { apiKeysFile, environment }: PlatformSettings,
  dsn: string | undefined,
  logger: Logger,
): Promise<readonly Check[]> => {
  const taken = environment === 'production' ? 'live' : 'test'
  if (apiKeysFile === undefined && dsn === undefined) return [nowhere]
  const found = [
    ...(apiKeysFile === undefined ? [] : [await countFile(apiKeysFile, taken)]),
    ...(dsn === undefined ? [] : await countTable(dsn, taken, logger)),
  ]
  const unread = found.filter((one) => 'status' in one)
  const counted = found.filter((one) => 'fitting' in one)
  return [...unread, ...(counted.length === 0 ? [] : [checkOfKeys(counted, taken)])]
}

const check = checkOf('API keys')

const nowhere = check.warning(
  'API_KEYS_FILE is not set, and there is no database: every protected endpoint answers 401',
  'trilho keys create --file keys.json --name me --scopes spi:transform, then set API_KEYS_FILE',
)

const countFile = async (path: string, taken: KeyEnvironment): Promise<Counted | Check> => {
  try {
    const { keys } = await readKeyFile(path)
    const alive = keys.filter(
      (key) =>
        typeof key.revoked_at !== 'string' &&
        (typeof key.expires_at !== 'string' || Date.parse(key.expires_at) > Date.now()),
    )
    // A key that was stored before its environment was has the one in its text.
    const fitting = alive.filter((key) => (key.environment ?? taken) === taken).length
    const absent = existsSync(path) ? '' : `; ${path} does not exist`
    const detail = `${alive.length} of ${keys.length} keys are active${absent}`
    return { detail, fitting, others: alive.length - fitting }
  } catch (error) {
    return check.failed(reasonOf(error), `correct ${path} or its rights`)
  }
}

/** A key of the other environment is refused, however active it is. */
const checkOfKeys = (places: readonly Counted[], taken: KeyEnvironment): Check => {
  const others = places.reduce((sum, place) => sum + place.others, 0)
  const refused = others === 0 ? '' : `; refused here, where keys are trl_${taken}_: ${others}`
  const detail = `${places.map((place) => place.detail).join('; ')}${refused}`
  return places.some(({ fitting }) => fitting > 0)
    ? check.ok(detail)
    : check.warning(detail, 'create one with trilho keys create')
}

const countTable = async (
  dsn: string,
  taken: KeyEnvironment,
  logger: Logger,
): Promise<readonly (Counted | Check)[]> => {
  const database = openDatabase({ dsn, connectionsMax: 1, statementTimeoutMs: 5_000, logger })
  try {
    const [row = { all: 0, alive: 0, fitting: 0 }] = await database.sql<
      { all: number; alive: number; fitting: number }[]
    >`
      select count(*)::int as all, count(*) filter (where is_alive)::int as alive,
        count(*) filter (where is_alive and coalesce(environment, ${taken}) = ${taken})::int as fitting
      from api_keys cross join lateral (
        select revoked_at is null and (expires_at is null or expires_at > now()) as is_alive) as state`
    const detail = `${row.alive} of ${row.all} keys in the database are active`
    return [{ detail, fitting: row.fitting, others: row.alive - row.fitting }]
  } catch (error) {
    if (isDatabaseAway(error)) return []
    const detail = `those of the database cannot be read: ${reasonOf(error)}`
    return [check.warning(detail, 'see what is said of the database')]
  } finally {
    await database.close()
  }
}

const filesMin = 4_096

/** Every connection, to callers and counterparties, is an open file. No check where the system states no limit. */
export const checkFiles = async (limits = '/proc/self/limits'): Promise<readonly Check[]> => {
  const text = await Bun.file(limits)
    .text()
    .catch(() => '')
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1]
  if (soft === undefined) return []
  const check = checkOf('Open files')
  const detail = `this process may have ${soft}`
  if (Number(soft) >= filesMin) return [check.ok(detail)]
  const fix = `raise it to ${filesMin} or more: ulimit -n, LimitNOFILE= of systemd`
  return [check.warning(`${detail}, each connection is one`, fix)]
}

const requestsVariable = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
/** The runtime's default, also in place of anything but a whole number up to its greatest. */
const requestsDefault = 256
const requestsMax = 65_535
/** More than all rails together have. */
const requestsMin = 4_096

/** The runtime learns from its environment how many requests a process makes at once; further ones wait. */
export const checkRequests = (env: Environment): Check => {
  const set = env[requestsVariable] ?? ''
  const isTaken = /^\d+$/.test(set) && Number(set) >= 1 && Number(set) <= requestsMax
  const most = isTaken ? Number(set) : requestsDefault
  const check = checkOf('Requests to others')
  const detail = `a process makes ${most} at once`
  if (most >= requestsMin) return check.ok(detail)
  const fix = `set ${requestsVariable} to ${requestsMin} where serve is started`
  return check.warning(`${detail}, the others wait`, fix)
}
