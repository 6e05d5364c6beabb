/**
 * The ledger's follower: reads what the currencies of one network told, books it for the wallets that are known here,
 * and compares the balances with the chain's own. Whatever it writes, it writes together with its position, and only
 * if no other process has moved that: so any number may run, although one at a time is enough.
 */
import type { AppEvent, EmitWithin } from '#src/events/index.ts'
import type { Transaction } from '#src/platform/database/index.ts'
import { commonHead } from '../engine/blocks.ts'
import { type Hex, wordLength } from '../evm/hex.ts'
import { encodeBalanceOf } from '../evm/token-call.ts'
import { transferTopic } from '../evm/transfer-log.ts'
import type { Network } from '../networks.ts'
import { RpcFailure } from '../rpc/errors.ts'
import type { Log } from '../rpc/methods.ts'
import { type Entry, entriesOf } from './entries.ts'
import { receivedEvent, reversedEvent } from './events.ts'
import {
  createFollower,
  emitInParts,
  type Follower,
  type FollowerContext,
  placeBefore,
} from './following.ts'
import { provenPart } from './part.ts'
import { withPage } from './place.ts'
import { createSource, type Page, type Source } from './source.ts'
import * as store from './store.ts'

export type LedgerContext = Omit<FollowerContext, 'watchBlocks'> & {
  /** How many nodes must say the same. */
  readonly nodesNeeded: number
  readonly isTaken: EmitWithin['isTaken']
  /** @returns the token's decimals; undefined if it has never told any */
  readonly decimalsOf: (token: Hex) => Promise<number | undefined>
}

const checksMax = 64
/** The time between two comparisons of balances, while one is enough for all wallets that have moved. */
const compareMs = 1_000
/** The number of blocks whose states every node keeps at least. */
const stateBlocks = 100

export const createLedgerFollower = (context: LedgerContext): Follower =>
  createFollower(`ledger of ${context.network.id}`, context, createLook(context))

/**
 * Reads a page, or goes back where the chain has changed.
 * @returns false if there is nothing more to read for now
 */
const createLook = (context: LedgerContext): (() => Promise<boolean>) => {
  const { network, rpc } = context
  const source = createSource(context)
  const compareDue = createComparison(context)
  return async () => {
    const head = await rpc.call('eth_blockNumber')
    const position = await positionOf(context)
    const to = head - network.confirmations + 1
    if (to <= position.number) {
      await compareDue(head - position.number)
      return false
    }
    const addresses = tokensOf(network)
    const page = await source.read(position, to, { addresses, topics: [transferTopic] })
    if (page === undefined) {
      await goBack(context, position)
      return true
    }
    const last = await keep(context, { source, position, page })
    await compareDue(head - last)
    return last < to
  }
}

const positionOf = async ({
  network,
  nodesNeeded,
  rpc,
  sql,
}: LedgerContext): Promise<store.Position> => {
  const known = await store.positionOf(sql, network.id)
  if (known !== undefined) return known
  const head = await commonHead(rpc, nodesNeeded)
  await store.beginPosition(sql, network.id, network.startBlock - 1, head)
  const begun = await store.positionOf(sql, network.id)
  if (begun === undefined) throw new Error(`the ledger of ${network.id} has no position`)
  return begun
}

/** The followed currencies. */
const tokensOf = ({ token, tokens }: Network): readonly Hex[] => [token, ...tokens]

/**
 * The decimals of those of the currencies that have ever told any: an address that is none tells none, and nothing moves
 * there.
 */
const decimalsOf = async (
  { decimalsOf }: LedgerContext,
  tokens: Iterable<Hex>,
): Promise<ReadonlyMap<Hex, number>> => {
  const known = new Map<Hex, number>()
  for (const token of tokens) {
    const decimals = await decimalsOf(token)
    if (decimals !== undefined) known.set(token, decimals)
  }
  return known
}

type Reading = {
  readonly source: Source
  readonly position: store.Position
  readonly page: Page
}

/** @returns the last block of which all is kept */
const keep = async (context: LedgerContext, reading: Reading): Promise<number> => {
  const { network, prover, sql } = context
  const { position } = reading
  const entries = entriesOf(reading.page.logs)
  // A wallet that is made after this was unknown when the page was read: nobody could pay to it.
  const wallets = await store.walletsAmong(sql, [...new Set(entries.map(({ wallet }) => wallet))])
  const followed = new Set(tokensOf(network))
  const isOurs = ({ wallet, token }: Entry) => wallets.has(wallet) && followed.has(token)
  const oursOf = (logs: readonly Log[]) => entriesOf(logs).filter(isOurs)
  const { page, proven: ours } = network.proofs
    ? await provenPart(
        { ...reading, prover },
        reading.page.logs.filter((log) => oursOf([log]).length > 0),
        oursOf,
      )
    : { page: reading.page, proven: entries.filter(isOurs) }
  const bookings = await dated(reading, ours)
  const tokens = await decimalsOf(context, new Set(ours.map(({ token }) => token)))
  for (const { token } of ours) {
    // What we pass over now we never read again.
    if (!tokens.has(token))
      throw new RpcFailure('transient', `the currency ${token} tells no decimals`)
  }
  const anchors = withPage(position.anchors, page)
  await sql.begin(async (tx) => {
    if (!(await store.movePosition(tx, network.id, position, page.last, anchors))) return
    const booked = await store.book(tx, network.id, bookings)
    await tell(context, tx, booked, { wallets, tokens, after: position.historyUntil })
  })
  return page.last.number
}

/** The entries with the times of their blocks, which must be the blocks that the events named. */
const dated = async (
  { source, page }: Reading,
  entries: readonly Entry[],
): Promise<readonly store.Booking[]> => {
  const numbers = new Set(entries.map(({ blockNumber }) => blockNumber))
  const unread = [...numbers].filter((number) => !page.blocks.has(number))
  const blocks = new Map([...page.blocks, ...(await source.blocks(unread))])
  return entries.map((entry) => {
    const block = blocks.get(entry.blockNumber)
    if (block?.hash !== entry.blockHash) {
      throw new RpcFailure('malformed', `the node tells of another block ${entry.blockNumber}`)
    }
    return { ...entry, bookedAt: new Date(Number(block.timestamp) * 1_000) }
  })
}

/** Tells what came in, by events. */
const tell = async (
  { network, emitEvents, isTaken }: LedgerContext,
  tx: Transaction,
  booked: readonly store.Booked[],
  known: {
    readonly wallets: ReadonlyMap<Hex, readonly store.Owned[]>
    readonly tokens: ReadonlyMap<Hex, number>
    readonly after: number
  },
): Promise<void> => {
  const received = booked.filter((each) => each.side === 'in' && each.blockNumber > known.after)
  if (received.length === 0) return
  if (!(await isTaken(tx, [{ type: 'drex.transfer.received' }]))) return
  const transfers = await store.transfersByHash(
    tx,
    network.id,
    received.map(({ hash }) => hash),
  )
  await emitInParts(tx, emitEvents, received, (part) =>
    part.flatMap((each): AppEvent[] => {
      const decimals = known.tokens.get(each.token)!
      const transfer = transfers.get(each.hash)
      return known.wallets
        .get(each.wallet)!
        .map((wallet) => receivedEvent(each, { network: network.id, wallet, decimals }, transfer))
    }),
  )
}

/** Goes back to the last block that is still on the chain, and takes back what was told since. */
const goBack = async (context: LedgerContext, position: store.Position): Promise<void> => {
  const { network, sql, logger, emitEvents } = context
  const { place, anchors } = await placeBefore(
    context,
    position,
    position.anchors,
    network.startBlock - 1,
    (above) => store.bookedBlocks(sql, network.id, above),
  )
  const tokens = await decimalsOf(context, tokensOf(network))
  const removed = await sql.begin(async (tx) => {
    if (!(await store.movePosition(tx, network.id, position, place, anchors))) return []
    const gone = await store.removeAbove(tx, network.id, place.number)
    const received = gone.filter(
      ({ side, blockNumber }) => side === 'in' && blockNumber > position.historyUntil,
    )
    const wallets = await store.walletsAmong(
      tx,
      received.map(({ wallet }) => wallet),
    )
    const events = received.flatMap((each): AppEvent[] => {
      const decimals = tokens.get(each.token)
      if (decimals === undefined) return []
      const told = wallets.get(each.wallet) ?? []
      return told.map((wallet) => reversedEvent(each, { network: network.id, wallet, decimals }))
    })
    await emitInParts(tx, emitEvents, events, (part) => part)
    return gone
  })
  logger.warn(
    { network: network.id, from: place.number + 1, to: position.number, removed: removed.length },
    'the chain changed below its confirmations: movements were taken back',
  )
}

/**
 * Compares now and then. What it makes takes the number of blocks that the ledger is behind the chain: of older ones, a
 * node does not keep the state.
 */
const createComparison = (context: LedgerContext) => {
  let atMs = 0
  let after: store.Holding | undefined
  return async (behind: number): Promise<void> => {
    if (behind >= stateBlocks || performance.now() < atMs) return
    const compared = await compare(context, after)
    // Balances that no node tells are asked for again when all others had their turn.
    after = compared.last
    // Where one look is not enough for all that moved, the next follows at once, if anything comes of it.
    atMs = after !== undefined && compared.count > 0 ? 0 : performance.now() + compareMs
  }
}

/**
 * Compares what the ledger says of wallets that have moved with what their currency says at the same block.
 * @returns how many it compared, and the last that it looked at, if there may be others behind it
 */
const compare = async (
  { network, rpc, sql, logger }: LedgerContext,
  after: store.Holding | undefined,
): Promise<{ readonly count: number; readonly last: store.Holding | undefined }> => {
  const { at, holdings } = await store.uncheckedHoldings(sql, network.id, after, checksMax)
  if (at === undefined) return { count: 0, last: undefined }
  const outcomes = await rpc.batch(
    holdings.map(({ token, wallet }) => ({
      method: 'eth_call',
      params: [{ to: token, data: encodeBalanceOf(wallet) }, { blockHash: at.hash }],
    })),
  )
  const checked = holdings.flatMap((holding, i) => {
    const outcome = outcomes[i]!
    // If the node lacks the state of that block, we ask again at a later one.
    if ('failure' in outcome || outcome.result.length !== wordLength) return []
    return [{ ...holding, balance: BigInt(outcome.result) }]
  })
  await store.saveChecks(sql, network.id, at.number, checked)
  for (const { token, wallet, total, opening, balance } of checked) {
    if (opening === undefined || opening + total === balance) continue
    logger.error(
      { network: network.id, token, wallet, block: at.number },
      'the balance of a wallet is not what its movements say',
    )
  }
  return { count: checked.length, last: holdings[checksMax - 1] }
}
