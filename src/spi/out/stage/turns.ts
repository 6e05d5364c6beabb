import type { Delivery } from '#src/platform/broker/index.ts'
import { type Client, createGatherer, isRowFault } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { costOf, type InterfaceClient, type Line, lineOf } from '../../link/index.ts'
import type { Channel } from '../../messages/index.ts'
import { type AsideDeps, type InHand, mayWaitOn } from './aside.ts'
import { isLineLeft, joinLines } from './entries.ts'
import type { QueuedOutbound } from './store.ts'

export type TurnsDeps = Pick<AsideDeps, 'ways'> & {
  readonly sql: Client
  readonly client: Pick<InterfaceClient, 'admit'>
  /** The channel that what stands in a line goes by now. */
  readonly wayOfLines: () => Channel
  readonly logger: Logger
}

type Asked = {
  readonly delivery: Delivery
  readonly stored: InHand
}

/** What the channel tells a batch before any of it is signed; a message in neither list asks when it goes out. */
export type Told = {
  /** Their tokens are taken, on this channel. */
  readonly paid: ReadonlyMap<Delivery, Channel>
  /** They stand in a line. */
  readonly away: ReadonlySet<Delivery>
}

export type Turns = ReturnType<typeof createTurns>

export const untold: Told = { paid: new Map(), away: new Set() }

const limits = { rowsMax: 200, writersMax: 1, spacingMs: 10, waitingMax: 5_000 }

/**
 * The order in which messages for the secondary channel use what it takes, or the channel that they go by instead: while
 * any stands in a line, newer ones go behind it by their age, and only those go out whom the search for queue entries
 * calls, the first of the line first. The line is rows of the database, so a process that dies takes no place with it.
 */
export const createTurns = ({ sql, client, ways, wayOfLines, logger }: TurnsDeps) => {
  /** Resolves when the message stands in its line. */
  const wait = createGatherer<Pick<QueuedOutbound, 'id' | 'type'>, void>({
    write: async (messages) => {
      await joinLines(
        sql,
        messages.map(({ id, type }) => ({ id, line: lineOf(type) })),
      )
      logger.info({ messages: messages.length }, 'they wait until their channel has room')
      return messages.map(() => undefined)
    },
    ...limits,
    isRowFault,
  })
  /** True when it may stand in a line. */
  const mayWait = (message: Pick<InHand, 'channel' | 'isBound'>) =>
    mayWaitOn(message.channel) || ways(message)[0] === 'SECONDARY'

  /** Returns those whose tokens are taken. */
  const admitted = async (
    way: Channel,
    line: Line,
    asked: readonly Asked[],
  ): Promise<readonly Asked[]> => {
    const called = asked.filter(({ stored }) => stored.isCalled)
    const isFree = called.length === 0 && !(await isLineLeft(sql, line))
    const first = (isFree ? asked : called).toSorted((a, b) => (a.stored.id < b.stored.id ? -1 : 1))
    const costs = first.map(({ delivery }) => costOf(delivery.value).cost)
    return first.slice(0, await client.admit(way, line, costs))
  }

  return {
    mayWait,
    wait,
    tell: async (all: readonly Asked[]): Promise<Told> => {
      const way = wayOfLines()
      const asked = all.filter(
        ({ stored }) => stored.status === 'QUEUED' && mayWait(stored) && ways(stored).includes(way),
      )
      const paid = new Map<Delivery, Channel>()
      for (const [line, those] of Map.groupBy(asked, ({ stored }) => lineOf(stored.type))) {
        for (const { delivery } of await admitted(way, line, those)) paid.set(delivery, way)
      }
      const away = asked.filter(({ delivery }) => !paid.has(delivery))
      await Promise.all(away.map(({ stored }) => wait(stored)))
      return { paid, away: new Set(away.map(({ delivery }) => delivery)) }
    },
  }
}
