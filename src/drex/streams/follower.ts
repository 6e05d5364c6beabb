/**
 * Reads for each stream what its contract told, in blocks that have their confirmations, and tells it by an event in the
 * transaction that moves the stream's place: nothing is left out or told anew by a restart, and what a reorganisation
 * takes back is told, too. Each stream stands alone: one that cannot be read does not hold up the others.
 */
import type { AppEvent } from '#src/events/index.ts'
import { type Client, isRowFault, type Transaction } from '#src/platform/database/index.ts'
import { decodeEvent, readAbi } from '../contracts/abi.ts'
import { contractById } from '../contracts/store.ts'
import { checksumAddress } from '../evm/address.ts'
import {
  createFollower,
  emitInParts,
  type Follower,
  type FollowerContext,
  placeBefore,
} from '../ledger/following.ts'
import { provenPart } from '../ledger/part.ts'
import { withPage } from '../ledger/place.ts'
import { createSource, type Page, type Source } from '../ledger/source.ts'
import { RpcFailure } from '../rpc/errors.ts'
import type { Log } from '../rpc/methods.ts'
import * as store from './store.ts'

const streamsPage = 100
/** Bytes of a log's data that are read; contracts may tell as much as a block holds. */
const dataBytesMax = 16_384

/** How long a stream rests after a failure; twice as long after each further one. */
const restFirstMs = 1_000
const restMaxMs = 60_000

/** How many of the streams that failed last are read at once, beside the others, which do not wait for them. */
const besideMax = 8

/** What this process knows of a stream while it follows it. */
type Course = {
  /** It finds out by itself how many blocks are read at once. */
  readonly source: Source
  restMs: number
  restsUntilMs: number
}

export const createStreamFollower = (context: FollowerContext): Follower => {
  const { network, rpc, sql } = context
  const courses = new Map<string, Course>()
  const beside = createBeside(context)
  const follower = createFollower(`contract events of ${network.id}`, context, async (round) => {
    const present = new Set<string>()
    const failed: Turn[] = []
    let hasMore = false
    let afterId = ''
    for (;;) {
      const streams = await store.streamsOfNetwork(sql, network.id, afterId, streamsPage)
      const last = streams.at(-1)
      if (round.signal.aborted) return hasMore
      if (last === undefined) break
      afterId = last.id
      const head = await rpc.call('eth_blockNumber')
      for (const stream of streams) {
        const course = courses.get(stream.id) ?? begin(context)
        courses.set(stream.id, course)
        present.add(stream.id)
        if (course.restMs > restFirstMs) failed.push({ course, stream, head })
        else if (await follow(context, course, stream, head)) hasMore = true
        round.advance()
      }
    }
    for (const id of courses.keys()) if (!present.has(id)) courses.delete(id)
    beside.follow(failed)
    return hasMore
  })
  return {
    start: follower.start,
    stop: async () => {
      await follower.stop()
      await beside.ended()
    },
  }
}

type Turn = { readonly course: Course; readonly stream: store.Stream; readonly head: number }

const createBeside = (context: FollowerContext) => {
  const running = new Map<string, Promise<unknown>>()
  return {
    /** Begins with those that rested longest, so that each has its turn. */
    follow: (turns: readonly Turn[]): void => {
      const nowMs = performance.now()
      const waiting = turns
        .filter(({ course, stream }) => course.restsUntilMs <= nowMs && !running.has(stream.id))
        .sort((a, b) => a.course.restsUntilMs - b.course.restsUntilMs)
      for (const { course, stream, head } of waiting.slice(0, besideMax - running.size)) {
        const turn = follow(context, course, stream, head)
          // The database is away, which the round finds out and tells.
          .catch(() => undefined)
          .finally(() => running.delete(stream.id))
        running.set(stream.id, turn)
      }
    },
    ended: () => Promise.all(running.values()),
  }
}

const begin = (context: FollowerContext): Course => ({
  source: createSource(context),
  restMs: restFirstMs,
  restsUntilMs: 0,
})

/** @returns whether there is more to read at once */
const follow = async (
  context: FollowerContext,
  course: Course,
  stream: store.Stream,
  head: number,
): Promise<boolean> => {
  const { network, logger } = context
  const to = head - network.confirmations + 1
  const [topic] = stream.topics
  if (to <= stream.position.number || topic === undefined || topic === null) return false
  if (performance.now() < course.restsUntilMs) return false
  try {
    const page = await course.source.read(stream.position, to, {
      addresses: [stream.address],
      topics: [topic],
    })
    if (page === undefined) {
      await goBack(context, stream)
      return true
    }
    const last = await tell(context, stream, { source: course.source, page })
    course.restMs = restFirstMs
    return last < to
  } catch (error) {
    if (!isRowFault(error)) throw error
    course.restsUntilMs = performance.now() + course.restMs
    course.restMs = Math.min(restMaxMs, 2 * course.restMs)
    const level = error instanceof RpcFailure ? 'warn' : 'error'
    logger[level]({ network: network.id, stream: stream.id, err: error }, 'a stream waits')
    return false
  }
}

/** @returns the last block of which all is told */
const tell = async (
  context: FollowerContext,
  stream: store.Stream,
  reading: { readonly source: Source; readonly page: Page },
): Promise<number> => {
  const { network, prover, sql, watchBlocks } = context
  const wantedOf = (logs: readonly Log[]) => logs.filter(isWanted(stream))
  const told = wantedOf(reading.page.logs)
  const { page, proven: logs } = network.proofs
    ? await provenPart({ ...reading, prover }, told, wantedOf)
    : { page: reading.page, proven: told }
  const data = await payloads(sql, stream, logs)
  const anchors = withPage(stream.anchors, page)
  await sql.begin(async (tx) => {
    if (!(await store.moveStream(tx, stream, page.last, anchors))) return
    const oldest = page.last.number - network.confirmations - watchBlocks
    const recent = logs.flatMap(({ blockNumber, blockHash, logIndex }, i) =>
      blockNumber < oldest ? [] : [{ blockNumber, blockHash, logIndex, data: data[i] }],
    )
    await store.keepTold(tx, stream.id, recent, oldest)
    await emit(context, tx, stream, 'drex.contract.event', data)
  })
  return page.last.number
}

/** Whether a log matches every topic of the filter that is not null; the first is the event itself. */
const isWanted =
  ({ address, topics }: store.Stream) =>
  (log: Log): boolean =>
    log.address === address && topics.every((topic, i) => topic === null || log.topics[i] === topic)

type StreamEvent = 'drex.contract.event' | 'drex.contract.event_removed'
type Payload = Extract<AppEvent, { type: StreamEvent }>['data']

const payloads = async (
  sql: Client,
  stream: store.Stream,
  logs: readonly Log[],
): Promise<readonly Payload[]> => {
  if (logs.length === 0) return []
  const contract = await contractById(sql, stream.contractId)
  // A registration may have been replaced by one whose ABI lacks the event.
  const abi = contract === undefined ? undefined : await readAbi(contract.abi)
  return logs.map((log) => {
    const isShort = log.data.length <= 2 + dataBytesMax * 2
    const args = abi && isShort ? decodeEvent(abi, stream.event, log) : undefined
    return {
      log_id: `${stream.network}:${log.blockHash}:${log.logIndex}`,
      stream_id: stream.id,
      contract_id: stream.contractId,
      network: stream.network,
      address: checksumAddress(stream.address),
      event: stream.event,
      args: args ?? null,
      tx_hash: log.transactionHash,
      block_number: log.blockNumber,
      block_hash: log.blockHash,
      log_index: log.logIndex,
    }
  })
}

/** Goes back to the last block that is still on the chain, and takes back what was told since. */
const goBack = async (context: FollowerContext, stream: store.Stream): Promise<void> => {
  const { sql, logger, network } = context
  const { place, anchors } = await placeBefore(context, stream.position, stream.anchors)
  const removed = await sql.begin(async (tx) => {
    if (!(await store.moveStream(tx, stream, place, anchors))) return 0
    const gone = await store.takeBack(tx, stream.id, place.number)
    await emit(context, tx, stream, 'drex.contract.event_removed', gone as readonly Payload[])
    return gone.length
  })
  logger.warn({ network: network.id, stream: stream.id, removed }, 'a stream went back')
}

const emit = (
  { emitEvents }: FollowerContext,
  tx: Transaction,
  { id: subject, account }: store.Stream,
  type: StreamEvent,
  all: readonly Payload[],
): Promise<void> =>
  emitInParts(tx, emitEvents, all, (part) =>
    part.map((data): AppEvent => ({ type, subject, account, data })),
  )
