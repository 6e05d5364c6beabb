import postgres from 'postgres'
import { type Client, namedConnection, textArray } from '#src/platform/database/index.ts'
import type { FetchedBatch, PartitionSource } from '../engine.ts'
import { partitionCount } from '../partition.ts'
import type { ConsumeOptions, Delivery } from '../types.ts'

/** A partition that this member owns, and the last message it settled there. */
export type Lease = { readonly partition: number; xid: string; id: bigint }

/** A message with the transaction that published it, which is part of its position. */
export type LoggedDelivery = Delivery & { readonly xid: string }

/** The second key of the advisory lock that all members of a group share, to count them. */
const memberKey = 0x7fff_ffff

type Row = {
  readonly partition: number
  readonly id: bigint
  readonly xid: string
  readonly key: string | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly value: Buffer
  readonly publishedAt: Date
}

type Session = {
  /** We use it for one connection only, never after an error: the driver may wait on a dead socket for ever. */
  sql: Client
  /** First key of the group's advisory locks. */
  readonly lock: number
  readonly topic: string
  readonly group: string
  /** The server process that holds the locks; 0 while there is none. */
  pid: number
  members: number
  readonly leases: Map<number, Lease>
}

/**
 * One member of a group, on a connection of its own. A partition is owned by holding its advisory lock in
 * that session: when the process dies the server frees the lock with the connection, so another member goes on
 * at once, and what a member writes after it lost its session has no effect.
 */
export const joinGroup = (
  dsn: string,
  options: ConsumeOptions,
): PartitionSource<Lease, LoggedDelivery> => {
  const { topic, group } = options
  const open = (): Client => {
    const sql = openSession(dsn, () => renew(sql))
    return sql
  }
  let isClosed = false
  /** Gives up the connection and everything it owned. */
  const renew = (broken: Client): void => {
    if (broken !== session.sql || isClosed) return
    session.pid = 0
    session.leases.clear()
    session.sql = open()
    broken.end({ timeout: 0 }).catch(() => {})
  }
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    const { sql } = session
    try {
      return await inTime(work())
    } catch (error) {
      renew(sql)
      throw error
    }
  }
  const session: Session = {
    sql: open(),
    lock: Bun.hash.crc32(`${topic}\0${group}`) >>> 1,
    topic,
    group,
    pid: 0,
    members: 1,
    leases: new Map(),
  }
  const positions = createPositionWriter((leases) => attempt(() => writePositions(session, leases)))
  return {
    rebalance: (busy) => attempt(() => rebalance(session, busy, positions.written)),
    // We read no further from a partition that is to be given back, so that its batch is the last.
    assigned: () => [...session.leases.keys()].slice(0, share(session)),
    fetch: (partitions, messagesMax) =>
      attempt(() => fetchBatches(session, partitions, messagesMax)),
    settle: (lease, { offset, xid }) => {
      if (session.leases.get(lease.partition) !== lease) return
      lease.id = offset
      lease.xid = xid
      positions.settled(lease)
    },
    close: async () => {
      await positions.written().catch(() => {})
      isClosed = true
      await session.sql.end({ timeout: 2 })
    },
  }
}

/**
 * A plan is kept for the life of a connection, and the log looks empty when the first is made: without these the same
 * plan reads a growing log whole for every batch.
 */
const plannerSettings = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
}

/** A session names its transaction without the epoch. */
const xidMask = '4294967295'

/** Lost positions only cause redelivery, so they need not wait for the disk. */
const openSession = (given: string, onLost: () => void): Client => {
  const { dsn, name, hosts } = namedConnection(given, 'broker')
  return postgres(dsn, {
    ...hosts,
    max: 1,
    connect_timeout: 10,
    idle_timeout: 0,
    max_lifetime: null,
    types: { bigint: postgres.BigInt },
    connection: {
      application_name: name,
      ...plannerSettings,
      synchronous_commit: 'off',
      statement_timeout: 30_000,
      // When a host vanishes without a word, it keeps its locks no longer than this.
      tcp_keepalives_idle: 5,
      tcp_keepalives_interval: 2,
      tcp_keepalives_count: 3,
    },
    onnotice: () => {},
    onclose: onLost,
  })
}

/** The server ends a statement before this; after it, only the connection can be the reason. */
const answerTimeoutMs = 40_000

const inTime = async <T>(asked: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), answerTimeoutMs)
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const share = ({ members }: Session): number => Math.ceil(partitionCount / Math.max(1, members))

const rebalance = async (
  session: Session,
  busy: ReadonlySet<number>,
  written: () => Promise<void>,
): Promise<void> => {
  const { sql, lock, leases } = session
  const [at] = await sql<{ pid: number; members: number }[]>`
    select pg_backend_pid() as pid, count(*)::int as members from pg_locks
    where locktype = 'advisory' and granted and objsubid = 2
      and classid = ${lock}::oid and objid = ${memberKey}::oid
      and database = (select oid from pg_database where datname = current_database())`
  if (at === undefined) return
  session.members = at.members
  if (at.pid !== session.pid) {
    leases.clear()
    await sql`select pg_advisory_lock_shared(${lock}::int, ${memberKey}::int)`
    session.pid = at.pid
    session.members++
  }
  const surplus = [...leases.keys()].slice(share(session)).filter((at) => !busy.has(at))
  if (surplus.length > 0) await giveBack(session, surplus, written)
  const lacking = share(session) - leases.size
  if (lacking > 0) await claim(session, lacking, busy)
}

const giveBack = async (
  { sql, lock, leases }: Session,
  partitions: readonly number[],
  written: () => Promise<void>,
): Promise<void> => {
  await written()
  for (const partition of partitions) leases.delete(partition)
  await sql`
    select pg_advisory_unlock(${lock}::int, partition)
    from unnest(${textArray([...partitions])}::text::int[]) partition`
}

const claim = async (
  { sql, lock, leases, topic, group, pid }: Session,
  count: number,
  busy: ReadonlySet<number>,
): Promise<void> => {
  const wanted = Array.from({ length: partitionCount }, (_, partition) => partition)
    .filter((partition) => !leases.has(partition) && !busy.has(partition))
    .sort(() => Math.random() - 0.5)
  // The scan stops at the limit, so no lock is taken beyond it.
  const got = await sql<{ partition: number }[]>`
    select partition from unnest(${textArray(wanted)}::text::int[]) partition
    where pg_backend_pid() = ${pid} and pg_try_advisory_lock(${lock}::int, partition) limit ${count}`
  if (got.length === 0) return
  const partitions = textArray(got.map(({ partition }) => partition))
  await sql`
    insert into broker_positions (topic, group_name, partition)
    select ${topic}, ${group}, partition from unnest(${partitions}::text::int[]) partition
    on conflict do nothing`
  const known = await sql<Lease[]>`
    select partition, xid::text as xid, id from broker_positions
    where topic = ${topic} and group_name = ${group} and partition = any(${partitions}::text::int[])`
  for (const { partition, xid, id } of known) leases.set(partition, { partition, xid, id })
}

/**
 * Returns the next messages of each partition, but only from transactions older than every one that still
 * runs: otherwise we would miss one that commits late. Transactions of other databases of the server
 * have published nothing here, so we do not wait for them.
 */
const fetchBatches = async (
  { sql, topic, leases }: Session,
  partitions: readonly number[],
  messagesMax: number,
): Promise<readonly FetchedBatch<Lease, LoggedDelivery>[]> => {
  const from = partitions.flatMap((partition) => leases.get(partition) ?? [])
  const rows = await sql<Row[]>`
    with bound as materialized (
      select coalesce(
        (select running from pg_snapshot_xip(pg_current_snapshot()) running
          where not exists (
            select from pg_stat_get_activity(null) other
            where other.backend_xid::text::bigint = running::text::bigint & ${xidMask}::bigint
              and other.datid <> (select oid from pg_database where datname = current_database())
          ) order by running limit 1),
        pg_snapshot_xmax(pg_current_snapshot())) as xid
    )
    select at.partition, log.id, log.xid::text as xid, log.key, log.headers, log.value,
      log.published_at as "publishedAt"
    from bound cross join unnest(${textArray(from.map(({ partition }) => partition))}::text::int[],
      ${textArray(from.map(({ xid }) => xid))}::text::text[],
      ${textArray(from.map(({ id }) => id))}::text::text[])
      as at(partition, xid, id)
    cross join lateral (
      select * from broker_log
      where topic = ${topic} and partition = at.partition
        and (broker_log.xid, broker_log.id) > (at.xid::xid8, at.id::bigint)
        and broker_log.xid < bound.xid
      order by broker_log.xid, broker_log.id limit ${messagesMax}
    ) log`
  return from.flatMap((lease) => {
    const messages = rows
      .filter(({ partition }) => partition === lease.partition)
      .map((row) => deliveryOf(topic, row))
    return messages.length === 0 ? [] : [{ lease, messages }]
  })
}

const deliveryOf = (topic: string, row: Row): LoggedDelivery => ({
  topic,
  partition: row.partition,
  offset: row.id,
  xid: row.xid,
  key: row.key ?? undefined,
  value: row.value,
  headers: row.headers ?? {},
  publishedAt: row.publishedAt,
  attempt: 1,
})

/** Writes positions while the work goes on: those settled while one statement runs go with the next. */
const createPositionWriter = (
  write: (leases: readonly Lease[]) => Promise<void>,
): { readonly settled: (lease: Lease) => void; readonly written: () => Promise<void> } => {
  const dirty = new Map<number, Lease>()
  let writing: Promise<void> | undefined
  const writeAll = async (): Promise<void> => {
    while (dirty.size > 0) {
      const leases = [...dirty.values()]
      dirty.clear()
      await write(leases)
    }
  }
  const written = (): Promise<void> => {
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
    return writing
  }
  return {
    settled: (lease) => {
      dirty.set(lease.partition, lease)
      // A position that is not written means redelivery, nothing worse; the next one writes it again.
      written().catch(() => {})
    },
    written,
  }
}

const writePositions = async (
  { sql, topic, group, pid, leases: owned }: Session,
  settled: readonly Lease[],
): Promise<void> => {
  // If we have lost a partition's session, its next owner finds out what was settled.
  const leases = settled.filter((lease) => owned.get(lease.partition) === lease)
  if (leases.length === 0) return
  await sql`
    update broker_positions set xid = at.xid::xid8, id = at.id::bigint, settled_at = now()
    from unnest(${textArray(leases.map(({ partition }) => partition))}::text::int[],
      ${textArray(leases.map(({ xid }) => xid))}::text::text[],
      ${textArray(leases.map(({ id }) => id))}::text::text[])
      as at(partition, xid, id)
    where pg_backend_pid() = ${pid} and broker_positions.topic = ${topic}
      and broker_positions.group_name = ${group} and broker_positions.partition = at.partition`
}
