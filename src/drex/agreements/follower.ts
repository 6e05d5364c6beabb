/**
 * Reads what the contracts of agreements told, in blocks that have their confirmations, and keeps it in the transaction
 * that moves the place: nothing is left out or told anew by a restart, and what a reorganisation takes back is taken back
 * here, too.
 */
import { receiptIn } from '../engine/receipt.ts'
import {
  createFollower,
  type Follower,
  type FollowerContext,
  placeBefore,
} from '../ledger/following.ts'
import { takePart } from '../ledger/part.ts'
import { withPage } from '../ledger/place.ts'
import { createSource, type Page, type Source } from '../ledger/source.ts'
import { RpcFailure } from '../rpc/errors.ts'
import type { Log } from '../rpc/methods.ts'
import { advance } from './advance.ts'
import * as store from './store.ts'
import { createReader, mismatchOf, type Reader } from './told.ts'

export const createAgreementFollower = (context: FollowerContext): Follower => {
  const source = createSource(context)
  return createFollower(`agreements of ${context.network.id}`, context, () => look(context, source))
}

/** @returns whether there is more to read at once */
const look = async (context: FollowerContext, source: Source): Promise<boolean> => {
  const { network, rpc, sql, logger } = context
  try {
    // We ask for the head before we ask the database: what it does not hold yet was not signed at this head.
    const head = await rpc.call('eth_blockNumber')
    const to = head - network.confirmations + 1
    const position = await store.positionOf(sql, network.id)
    if (position === undefined || to <= position.place.number) return false
    if (!(await store.isFollowing(sql, network.id, position.place.number))) {
      await passOver(context, position, to)
      return false
    }
    const reader = await createReader()
    // We filter by topics and not by addresses: there may be more contracts than a node takes.
    const page = await source.read(position.place, to, { topics: reader.topics })
    if (page !== undefined) return (await keep(context, { reader, position, source, page })) < to
    await goBack(context, position)
    return true
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error
    logger.warn({ network: network.id, err: error }, 'agreements wait')
    return false
  }
}

/** Moves on to a block without reading, because no agreement is followed; unless one is by now. */
const passOver = (
  { network, sql }: FollowerContext,
  { place }: store.Position,
  to: number,
): Promise<void> =>
  sql.begin(async (tx) => {
    await store.lockPosition(tx, network.id)
    if (await store.isFollowing(tx, network.id, place.number)) return
    const there = { place: { number: to, hash: undefined }, anchors: [] }
    await store.movePosition(tx, network.id, place, there)
  })

type Reading = {
  readonly reader: Reader
  readonly position: store.Position
  readonly source: Source
  readonly page: Page
}

/** @returns the last block of which all is kept */
const keep = async (
  context: FollowerContext,
  { reader, position, ...reading }: Reading,
): Promise<number> => {
  const { network, sql, emitEvents, watchBlocks } = context
  const after = position.place.number
  const told = reading.page.logs.map(reader.about)
  const concerned = await store.concerned(sql, network.id, after, told)
  const known = new Set(concerned.map(({ id }) => id))
  const agreements = Map.groupBy(concerned, ({ contract }) => contract)
  const concernedBy = (log: Log) =>
    (agreements.get(log.address) ?? []).filter((each) => reader.decode(each, log) !== undefined)
  const events: store.Event[] = []
  const logs = reading.page.logs.filter((log) => concernedBy(log).length > 0)
  const page = await takePart(reading, logs, async (_, own) => {
    const told: store.Event[] = []
    for (const log of own) told.push(...(await eventsIn(context, reader, concernedBy(log), log)))
    events.push(...told)
  })
  const { number, hash } = page.last
  const anchors = withPage(position.anchors, page)
  await sql.begin(async (tx) => {
    const there = { place: { number, hash }, anchors }
    await store.lockPosition(tx, network.id)
    // If an agreement was taken over meanwhile, we read again, for it too.
    const present = await store.concerned(tx, network.id, after, told)
    if (present.some(({ id }) => !known.has(id))) return
    if (!(await store.movePosition(tx, network.id, position.place, there))) return
    await store.keepEvents(tx, network.id, events)
    await advance(
      tx,
      emitEvents,
      events.map(({ agreementId }) => agreementId),
    )
    const untilBlock = number + network.confirmations + watchBlocks
    const blockTime = Number(page.blocks.get(number)?.timestamp ?? 0n)
    await store.endFollowing(tx, network.id, { untilBlock, blockTime })
  })
  return page.last.number
}

/** An event may belong to several agreements, because both sides may be ours. */
const eventsIn = async (
  context: FollowerContext,
  reader: Reader,
  concerned: readonly store.Agreement[],
  told: Log,
): Promise<readonly store.Event[]> => {
  const { blockHash, blockNumber, logIndex, transactionHash: hash } = told
  const receipt = await receiptIn(context, blockHash, hash)
  const log = receipt?.logs.find((each) => each.logIndex === logIndex)
  if (receipt?.blockNumber !== blockNumber || log === undefined) {
    throw new RpcFailure('transient', `the receipt of ${hash} is not proven`)
  }
  return concerned.flatMap((agreement): store.Event[] => {
    const decoded = reader.decode(agreement, log)
    if (decoded === undefined) return []
    const mismatch = mismatchOf(agreement, decoded, log, receipt)
    return [{ agreementId: agreement.id, blockNumber, logIndex, hash, ...decoded, mismatch }]
  })
}

/** Goes back to the last block that is still on the chain, and takes back what was told since. */
const goBack = async (context: FollowerContext, position: store.Position): Promise<void> => {
  const { network, sql, logger, emitEvents } = context
  const { place, anchors } = position
  const back = await placeBefore(context, place, anchors)
  await sql.begin(async (tx) => {
    if (!(await store.movePosition(tx, network.id, place, back))) return
    await advance(tx, emitEvents, await store.forgetEvents(tx, network.id, back.place.number))
  })
  logger.warn({ network: network.id, from: back.place.number + 1 }, 'agreements went back')
}
