/** SQL of the streams: what each is for, where it is, and what it told of the last blocks. */
import type { Row } from 'postgres'
import {
  type Client,
  type Queryable,
  type Transaction,
  valueOfRow,
} from '#src/platform/database/index.ts'
import type { Hex } from '../evm/hex.ts'
import type { Anchor, Place } from '../ledger/place.ts'

export type Stream = {
  readonly id: string
  readonly account: string
  readonly contractId: string
  readonly network: string
  readonly address: Hex
  readonly event: string
  readonly filter: Readonly<Record<string, unknown>>
  readonly topics: readonly (Hex | null)[]
  readonly position: Place
  readonly anchors: readonly Anchor[]
  readonly createdBy: string
  readonly createdAt: Date
}

const read = (row: Row): Stream => {
  const { blockNumber, blockHash, ...value } = valueOfRow<
    Omit<Stream, 'position'> & { readonly blockNumber: string; readonly blockHash?: Hex }
  >(row)
  return { ...value, position: { number: Number(blockNumber), hash: blockHash } }
}

const columns = (sql: Queryable) => sql`
  id, account, contract_id, network, address, event, filter, topics, block_number::text, block_hash,
  anchors, created_by, created_at`

/** @returns false if the account has as many as it may */
export const insertStream = async (
  sql: Transaction,
  stream: Stream,
  streamsMax: number,
): Promise<boolean> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`streams:${stream.account}`}, 0))`
  const inserted = await sql`
    insert into drex_streams (id, account, contract_id, network, address, event, filter, topics,
      block_number, created_by, created_at)
    select ${stream.id}, ${stream.account}, ${stream.contractId}, ${stream.network},
      ${stream.address}, ${stream.event}, ${JSON.stringify(stream.filter)}::text::jsonb,
      ${JSON.stringify(stream.topics)}::text::jsonb, ${stream.position.number},
      ${stream.createdBy}, ${stream.createdAt}
    where (select count(*) from drex_streams where account = ${stream.account}) < ${streamsMax}`
  return inserted.count === 1
}

/** Newest first. */
export const streamsOfContract = async (
  sql: Client,
  { contractId, account }: { readonly contractId: string; readonly account: string },
  beforeId: string | undefined,
  limit: number,
): Promise<readonly Stream[]> => {
  const rows = await sql`
    select ${columns(sql)} from drex_streams
    where contract_id = ${contractId} and account = ${account}
      ${beforeId === undefined ? sql`` : sql`and id < ${beforeId}`}
    order by id desc limit ${limit}`
  return rows.map(read)
}

/** In pages, by id. */
export const streamsOfNetwork = async (
  sql: Client,
  network: string,
  afterId: string,
  limit: number,
): Promise<readonly Stream[]> => {
  const rows = await sql`
    select ${columns(sql)} from drex_streams where network = ${network} and id > ${afterId}
    order by id limit ${limit}`
  return rows.map(read)
}

/** @returns false if the account has no such stream */
export const deleteStream = async (
  sql: Transaction,
  { id, contractId, account }: Pick<Stream, 'id' | 'contractId' | 'account'>,
): Promise<boolean> => {
  const gone = await sql`
    delete from drex_streams
    where id = ${id} and contract_id = ${contractId} and account = ${account}`
  if (gone.count === 0) return false
  await sql`delete from drex_stream_events where stream_id = ${id}`
  return true
}

/** @returns false if another process has moved it meanwhile, or it was deleted */
export const moveStream = async (
  sql: Transaction,
  { id, position }: Pick<Stream, 'id' | 'position'>,
  to: Place,
  anchors: readonly Anchor[],
): Promise<boolean> => {
  const moved = await sql`
    update drex_streams set block_number = ${to.number}, block_hash = ${to.hash ?? null},
      anchors = ${JSON.stringify(anchors)}::text::jsonb
    where id = ${id} and block_number = ${position.number}
      and block_hash is not distinct from ${position.hash ?? null}`
  return moved.count === 1
}

export type Told = {
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly logIndex: number
  readonly data: unknown
}

/** Keeps what was told, and forgets what is so old that no reorganisation reaches it. */
export const keepTold = async (
  sql: Transaction,
  streamId: string,
  told: readonly Told[],
  oldestBlock: number,
): Promise<void> => {
  await sql`
    delete from drex_stream_events
    where stream_id = ${streamId} and block_number < ${oldestBlock}`
  if (told.length === 0) return
  const rows = told.map(({ blockNumber, blockHash, logIndex, data }) => ({
    stream_id: streamId,
    block_number: blockNumber,
    block_hash: blockHash,
    log_index: logIndex,
    data,
  }))
  await sql`
    insert into drex_stream_events (stream_id, block_number, block_hash, log_index, data)
    select stream_id, block_number, block_hash, log_index, data
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as told (
      stream_id text, block_number bigint, block_hash text, log_index integer, data jsonb)
    on conflict do nothing`
}

/** In order, the newest first. */
export const takeBack = async (
  sql: Transaction,
  streamId: string,
  aboveBlock: number,
): Promise<readonly unknown[]> => {
  const rows = await sql<{ data: unknown }[]>`
    with gone as (
      delete from drex_stream_events
      where stream_id = ${streamId} and block_number > ${aboveBlock}
      returning block_number, log_index, data
    ) select data from gone order by block_number desc, log_index desc`
  return rows.map(({ data }) => data)
}
