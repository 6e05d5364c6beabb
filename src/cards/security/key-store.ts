/** Exchanged keys as the database has them, sealed: every process on the network's links has the same, and a restart. */
import { createHash } from 'node:crypto'
import { type Client, hint, type Queryable, textArray } from '#src/platform/database/index.ts'
import { createJob, type Job } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import {
  SealError,
  type SealedRecord,
  type SealedStock,
  type Sealer,
  sealedStock,
  secretsMatch,
} from '#src/platform/security/index.ts'
import { type KeyUse, ModuleKey } from './types.ts'

/** A key of the store. `usedForMs` is its age in use, by the database's clock; undefined: only offered. */
type StoredKey = {
  readonly id: bigint
  readonly use: KeyUse
  readonly key: ModuleKey
  readonly usedForMs: number | undefined
}

/** The keys of one network. Each call fails as the database does. */
export type LinkKeyStore = {
  /** Keeps keys before the network is told that they were taken. Returns their ids: one that is in use has it already. */
  readonly offer: (
    keys: ReadonlyMap<KeyUse, ModuleKey>,
    originOf: (use: KeyUse) => ModuleKey | undefined,
  ) => Promise<ReadonlyMap<KeyUse, bigint>>
  /** They are in use from now on; tells all processes, and deletes what is older than the key before. */
  readonly use: (ids: readonly bigint[]) => Promise<void>
  /** Oldest first; without those of another key of the settings. */
  readonly read: (originOf: (use: KeyUse) => ModuleKey | undefined) => Promise<readonly StoredKey[]>
}

type LinkKeyStores = {
  readonly of: (network: string) => LinkKeyStore
  /** What an operator reseals. */
  readonly sealed: SealedStock
  /** Hears of new keys of the network of that name, in whichever process they came; undefined: perhaps of any. */
  readonly start: (onNews: (network: string | undefined) => Promise<unknown>) => Promise<void>
  readonly stop: () => Promise<void>
}

type Row = {
  readonly id: bigint
  readonly network: string
  readonly use: KeyUse
  readonly sealed: Uint8Array
  readonly origin: string
}

const channel = 'trilho_card_keys'
/** How often all are looked at unasked: a notice may be lost, and behind a pooler of transactions each one is. */
const lookMs = 2_000
const encoder = new TextEncoder()
const decoder = new TextDecoder()

const contextOf = ({ network, use, origin }: Pick<Row, 'network' | 'use' | 'origin'>): string =>
  `card_link_keys ${network} ${use} ${origin}`

/** Sixty-four bits of a hash: says which key of the settings it was, and nothing about it. */
const textOf = (origin: ModuleKey | undefined): string =>
  origin === undefined
    ? ''
    : createHash('sha256').update(`card key ${origin.reveal()}`).digest('hex').slice(0, 16)

export const createLinkKeyStores = (sql: Client, sealer: Sealer, logger: Logger): LinkKeyStores => {
  const openKey = (row: Row): ModuleKey => {
    const plain = sealer.open(row.sealed, contextOf(row))
    try {
      return new ModuleKey(decoder.decode(plain))
    } finally {
      plain.fill(0)
    }
  }
  const sealKey = (key: ModuleKey, place: Pick<Row, 'network' | 'use' | 'origin'>): Uint8Array => {
    const plain = encoder.encode(key.reveal())
    try {
      return sealer.seal(plain, contextOf(place))
    } finally {
      plain.fill(0)
    }
  }
  const unopened = new Set<string>()
  /** The key, unless it cannot be opened: then an operator hears of it once, and others go on. */
  const openOrLog = (row: Row): ModuleKey | undefined => {
    try {
      return openKey(row)
    } catch (err) {
      if (!(err instanceof SealError)) throw err
      const { network, use, id } = row
      if (!unopened.has(String(id))) {
        unopened.add(String(id))
        logger.error({ network, use, err }, 'a kept key of a card network is not opened')
      }
      return undefined
    }
  }
  /** The id of the key in use, if it is this one. */
  const idInUse = async (
    tx: Queryable,
    place: Pick<Row, 'network' | 'use' | 'origin'>,
    key: ModuleKey,
  ): Promise<bigint | undefined> => {
    const [row] = await tx<Row[]>`
      select id, network, use, sealed, origin from card_link_keys
      where network = ${place.network} and use = ${place.use} and used_since is not null
      order by id desc limit 1`
    if (row === undefined || row.origin !== place.origin) return undefined
    const inUse = openOrLog(row)
    return inUse && secretsMatch(inUse.reveal(), key.reveal()) ? BigInt(row.id) : undefined
  }
  const storeOf = (network: string): LinkKeyStore => ({
    offer: async (keys, originOf) => {
      const ids = new Map<KeyUse, bigint>()
      await sql.begin(async (tx) => {
        // Replace what was offered before and never used.
        await tx`
          delete from card_link_keys where network = ${network} and used_since is null
            and use = any(${textArray([...keys.keys()])}::text::text[])`
        for (const [use, key] of keys) {
          const origin = textOf(originOf(use))
          const known = await idInUse(tx, { network, use, origin }, key)
          if (known !== undefined) {
            ids.set(use, known)
            continue
          }
          const [row] = await tx<{ id: bigint }[]>`
            insert into card_link_keys (network, use, sealed, origin)
            values (${network}, ${use}, ${sealKey(key, { network, use, origin })}, ${origin})
            returning id`
          if (row !== undefined) ids.set(use, BigInt(row.id))
        }
      })
      void hint(sql, channel, network)
      return ids
    },
    use: async (ids) => {
      const isNew = await sql.begin((tx) => putInUse(tx, network, ids))
      if (isNew) void hint(sql, channel, network)
    },
    read: async (originOf) => {
      const rows = await sql<(Row & { readonly usedForMs: number | null })[]>`
        select id, network, use, sealed, origin,
          (extract(epoch from clock_timestamp() - used_since) * 1000)::float8 as "usedForMs"
        from card_link_keys where network = ${network} order by id`
      return rows.flatMap((row) => {
        if (row.origin !== textOf(originOf(row.use))) return []
        const { id, use, usedForMs } = row
        const key = openOrLog(row)
        return key === undefined
          ? []
          : [{ id: BigInt(id), use, key, usedForMs: usedForMs ?? undefined }]
      })
    },
  })
  return {
    of: storeOf,
    sealed: sealedStock(
      'card network keys',
      () => sealer,
      () => pagesOf(sql),
    ),
    ...createListening(sql, logger),
  }
}

/** Hears of new keys, and looks for them unasked. */
const createListening = (sql: Client, logger: Logger): Pick<LinkKeyStores, 'start' | 'stop'> => {
  let unlisten: (() => Promise<void>) | undefined
  let looks: Job | undefined
  return {
    start: async (onNews) => {
      const lookAtAll = () => onNews(undefined)
      looks = createJob({ name: 'keys of card networks', everyMs: lookMs, logger, run: lookAtAll })
      try {
        // We missed whatever was told before we listened, or listened again.
        unlisten = (await sql.listen(channel, onNews, lookAtAll)).unlisten
      } catch (err) {
        logger.warn({ err }, 'keys of card networks that other processes take are seen late')
      }
      await looks.start()
    },
    stop: async () => {
      await looks?.stop()
      await unlisten?.().catch(() => undefined)
    },
  }
}

/** @returns whether any of them was not in use */
const putInUse = async (
  tx: Queryable,
  network: string,
  ids: readonly bigint[],
): Promise<boolean> => {
  const taken = await tx<{ use: KeyUse }[]>`
    update card_link_keys set used_since = clock_timestamp()
    where id = any(${textArray(ids.map(String))}::text::bigint[]) and used_since is null
    returning use`
  if (taken.length === 0) return false
  // For each use, this key and the one before it stay, and so do later ones.
  await tx`
    delete from card_link_keys old
    where network = ${network} and use = any(${textArray(taken.map(({ use }) => use))}::text::text[])
      and id < (
        select min(id) from (
          select id from card_link_keys
          where network = old.network and use = old.use and used_since is not null
          order by id desc limit 2
        ) kept
      )`
  return true
}

/** All of them: a handful for each network. */
async function* pagesOf(sql: Client): AsyncGenerator<readonly SealedRecord[]> {
  const rows = await sql<Row[]>`
    select id, network, use, sealed, origin from card_link_keys order by id`
  yield rows.map((row) => ({
    sealed: row.sealed,
    context: contextOf(row),
    replace: async (sealed) => {
      const replaced = await sql`
        update card_link_keys set sealed = ${sealed}
        where id = ${String(row.id)}::bigint and sealed = ${row.sealed} returning id`
      return replaced.length === 1
    },
  }))
}
