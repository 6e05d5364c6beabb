import type { ListenAddress, PlatformSettings } from '#src/platform/config/index.ts'
import { type Migration, openDatabase, pendingMigrations } from '#src/platform/database/index.ts'
import type { Check } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { readKeyFile } from '#src/platform/security/index.ts'

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  // Refused connections come as an AggregateError whose message is empty.
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/** The ports are free, or something of ours may be running on them. */
export const checkPorts = ({ httpAddr, cardgwPort }: PlatformSettings): readonly Check[] => {
  const addresses = [
    { name: 'HTTP_ADDR', address: httpAddr },
    { name: 'CARDGW_PORT', address: { host: httpAddr.host, port: cardgwPort } },
  ]
  const [first, second] = addresses
  const distinct = first?.address.port === second?.address.port ? [first] : addresses
  return distinct.flatMap((entry) => (entry === undefined ? [] : [checkPort(entry)]))
}

const checkPort = ({
  name,
  address,
}: {
  readonly name: string
  readonly address: ListenAddress
}): Check => {
  const where = `${address.host ?? 'all interfaces'}, port ${address.port}`
  try {
    Bun.listen({
      hostname: address.host ?? '0.0.0.0',
      port: address.port,
      socket: { data: () => {} },
    }).stop(true)
    return { name, status: 'ok', detail: `${where} is free` }
  } catch (error) {
    return {
      name,
      status: 'warning',
      detail: `${where} cannot be opened: ${reasonOf(error)}`,
      fix: `stop what listens there (a running gateway, perhaps), or set ${name}`,
    }
  }
}

/** Keys can be read, and there is one that works now. */
export const checkKeys = async ({ apiKeysFile }: PlatformSettings): Promise<Check> => {
  const name = 'API keys'
  if (apiKeysFile === undefined) {
    return {
      name,
      status: 'warning',
      detail: 'API_KEYS_FILE is not set: every protected endpoint answers 401',
      fix: 'trilho keys create --file keys.json --name me --scopes spi:transform, then set API_KEYS_FILE',
    }
  }
  try {
    const { keys } = await readKeyFile(apiKeysFile)
    const alive = keys.filter(
      (key) =>
        typeof key.revoked_at !== 'string' &&
        (typeof key.expires_at !== 'string' || Date.parse(key.expires_at) > Date.now()),
    )
    const detail = `${alive.length} of ${keys.length} keys are active`
    return alive.length > 0
      ? { name, status: 'ok', detail }
      : { name, status: 'warning', detail, fix: 'create one with trilho keys create' }
  } catch (error) {
    return {
      name,
      status: 'failed',
      detail: reasonOf(error),
      fix: `correct ${apiKeysFile} or its rights`,
    }
  }
}

const versionMin = 140_000

/** Reachable, new enough, and with this program's schema. */
export const checkDatabase = async (
  dsn: string,
  migrations: readonly Migration[],
  logger: Logger,
): Promise<Check> => {
  const name = 'Database'
  const database = openDatabase({ dsn, connectionsMax: 1, statementTimeoutMs: 5_000, logger })
  try {
    const [row] = await database.sql<{ number: number; version: string }[]>`
      select current_setting('server_version_num')::int as number,
        current_setting('server_version') as version`
    if ((row?.number ?? 0) < versionMin) {
      return {
        name,
        status: 'failed',
        detail: `PostgreSQL ${row?.version} is too old`,
        fix: 'use PostgreSQL 14 or newer',
      }
    }
    const pending = await pendingMigrations(dsn, migrations)
    const detail = `PostgreSQL ${row?.version} answers`
    return pending.length === 0
      ? { name, status: 'ok', detail: `${detail}, the schema is up to date` }
      : {
          name,
          status: 'warning',
          detail: `${detail}, ${pending.length} migrations are missing`,
          fix: 'trilho migrate, or let serve do it at its start',
        }
  } catch (error) {
    return {
      name,
      status: 'failed',
      detail: reasonOf(error),
      fix: 'check DATABASE_DSN, the server, and the network between',
    }
  } finally {
    await database.close()
  }
}
