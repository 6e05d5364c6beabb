import type { Client } from '#src/platform/database/index.ts'
import type { Network } from '../networks/index.ts'

const stanMax = 999_999
const blockSizeDefault = 500

/** DE 11, DE 37 and DE 7 of the next message. */
export type TraceNumbers = {
  /** Six digits. */
  readonly stan: string
  /** YDDDhh of the moment in GMT, and the STAN. */
  readonly rrn: string
  /** MMDDhhmmss in GMT. */
  readonly transmission: string
}

export type StanAllocator = {
  /** The next number that no waiting message of the network uses; together with DE 7 it is unique. */
  readonly next: (network: Pick<Network, 'name' | 'isPending'>) => Promise<TraceNumbers>
}

type Block = { next: number; left: number }

/**
 * Numbers messages from 000001 to 999999, round and round, by network. Numbers come from blocks taken from the
 * database, so neither a restart nor another instance repeats one.
 */
export const createStanAllocator = (options: {
  readonly sql: Client
  readonly blockSize?: number
  readonly now?: () => Date
}): StanAllocator => {
  const { sql, blockSize = blockSizeDefault, now = () => new Date() } = options
  const blocks = new Map<string, Block>()
  const refills = new Map<string, Promise<void>>()

  const take = async (network: string): Promise<void> => {
    const [row] = await sql<{ first: number }[]>`
      insert into card_stan_blocks as b (network, next) values (${network}, ${blockSize + 1})
      on conflict (network) do update set next = (b.next - 1 + ${blockSize}) % ${stanMax} + 1
      returning (next - 1 - ${blockSize} + ${stanMax}) % ${stanMax} + 1 as first`
    if (row === undefined) throw new Error('no block of trace numbers')
    blocks.set(network, { next: row.first, left: blockSize })
  }

  const refill = (network: string): Promise<void> => {
    const running = refills.get(network)
    if (running !== undefined) return running
    const started = take(network).finally(() => refills.delete(network))
    refills.set(network, started)
    return started
  }

  return {
    next: async (network) => {
      for (;;) {
        const block = blocks.get(network.name)
        if (block === undefined || block.left === 0) {
          await refill(network.name)
          continue
        }
        const stan = String(block.next).padStart(6, '0')
        block.next = (block.next % stanMax) + 1
        block.left--
        if (!network.isPending(stan)) return numbersOf(stan, now())
      }
    },
  }
}

const dayMs = 86_400_000

const numbersOf = (stan: string, at: Date): TraceNumbers => {
  const iso = at.toISOString()
  const hour = iso.slice(11, 13)
  const day = Math.floor((at.getTime() - Date.UTC(at.getUTCFullYear(), 0, 1)) / dayMs) + 1
  return {
    stan,
    rrn: `${iso.slice(3, 4)}${String(day).padStart(3, '0')}${hour}${stan}`,
    transmission: `${iso.slice(5, 7)}${iso.slice(8, 10)}${hour}${iso.slice(14, 16)}${iso.slice(17, 19)}`,
  }
}
