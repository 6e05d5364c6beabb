import type { Client } from '#src/platform/database/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import type { Network } from '../networks/index.ts'

const stanMax = 999_999
const blockSizeDefault = 500

/** DE 11, DE 37 and DE 7 of the next message. */
export type TraceNumbers = {
  /** Six digits. */
  readonly stan: string
  /** YDDDhh of the moment in GMT, and the STAN; when STANs came again within the hour, letters in its place. */
  readonly rrn: string
  /** MMDDhhmmss in GMT. */
  readonly transmission: string
}

export type StanAllocator = {
  /** The next number that no waiting message of the network uses; together with DE 7 it is unique. */
  readonly next: (network: Pick<Network, 'name' | 'isPending'>) => Promise<TraceNumbers>
}

/** Numbers that are this process's own, for the hour in which it took them. */
type Block = {
  next: number
  left: number
  /** How often the numbers began anew in that hour, before the next one. */
  round: number
  /** YDDDhh, by the database's clock. */
  readonly hour: string
  /** On this process's clock, which only measures the time since. */
  readonly endsAtMs: number
}

type BlockRow = {
  readonly first: number
  readonly round: number
  readonly hour: string
  readonly secondsLeft: number
}

/**
 * Numbers messages from 000001 to 999999, round and round, by network. Numbers come from blocks taken from the
 * database, so neither a restart nor another instance repeats one. Above 277 messages a second the numbers of an hour
 * come again: then the round is part of the retrieval reference number, which stays unique.
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
    const [row] = await sql<BlockRow[]>`
      insert into card_stan_blocks as b (network, next, hour, round)
      values (${network}, ${blockSize + 1}, date_trunc('hour', now(), 'UTC'), 0)
      on conflict (network) do update set
        next = (b.next - 1 + ${blockSize}) % ${stanMax} + 1,
        hour = excluded.hour,
        round = case when b.hour = excluded.hour then b.round else 0 end
          + (b.next - 1 + ${blockSize}) / ${stanMax}
      returning (next - 1 - ${blockSize} + ${stanMax}) % ${stanMax} + 1 as first,
        -- That of its first number: a new round may begin within the block.
        round - (next - 1 < ${blockSize})::int as round,
        substr(to_char(hour at time zone 'UTC', 'YYYYDDDHH24'), 4) as hour,
        extract(epoch from hour + interval '1 hour' - now())::float8 as "secondsLeft"`
    if (row === undefined) throw new Error('no block of trace numbers')
    blocks.set(network, {
      next: row.first,
      left: blockSize,
      round: row.round,
      hour: row.hour,
      endsAtMs: performance.now() + row.secondsLeft * 1_000,
    })
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
        if (block === undefined || block.left === 0 || performance.now() >= block.endsAtMs) {
          await refill(network.name)
          continue
        }
        const { next: number, round, hour } = block
        block.next = (number % stanMax) + 1
        if (block.next === 1) block.round++
        block.left--
        const stan = String(number).padStart(6, '0')
        if (network.isPending(stan)) continue
        const transmission = transmissionOf(now())
        return { stan, rrn: hour + referenceOf(number, round), transmission }
      }
    },
  }
}

const radix = 36
/** The smallest number of six digits that begins with a letter: none of the first round's does. */
const firstWithLetter = 10 * radix ** 5
/** Rounds of an hour that have numbers of their own: for 430 000 messages a second. */
const roundsMax = Math.floor((26 * radix ** 5) / (stanMax + 1))

/** Six characters that are unique in their hour. */
const referenceOf = (stan: number, round: number): string =>
  round === 0
    ? String(stan).padStart(6, '0')
    : (firstWithLetter + ((round - 1) % roundsMax) * (stanMax + 1) + stan)
        .toString(radix)
        .toUpperCase()

const hourMs = 3_600_000
/** More rounds of an hour are 8 900 messages a second. */
const roundsSought = 32

const hourOf = (at: Date): string => {
  const year = at.getUTCFullYear()
  const day = Math.floor((at.getTime() - Date.UTC(year, 0, 0)) / dayMs)
  return `${year % 10}${String(day).padStart(3, '0')}${String(at.getUTCHours()).padStart(2, '0')}`
}

/** When it was sent: of the years that DE 7 leaves out the one that is nearest to a moment near to it. */
const sentAt = (transmission: string, near: Date): number => {
  const [month = 0, day = 0, hour = 0] = (transmission.match(/\d\d/g) ?? []).map(Number)
  const year = near.getUTCFullYear()
  const moments = [year - 1, year, year + 1].map((one) => Date.UTC(one, month - 1, day, hour))
  const distance = (moment: number): number => Math.abs(moment - near.getTime())
  return moments.reduce((best, one) => (distance(one) < distance(best) ? one : best))
}

/**
 * What DE 37 of an authorization with this DE 11 and DE 7 may be: its hour is that of the database's clock, and DE 7 that
 * of a process.
 */
export const referencesOf = (stan: string, transmission: string, near: Date): readonly string[] => {
  const sentMs = sentAt(transmission, near)
  return referencesWithin(stan, sentMs - hourMs, sentMs + hourMs)
}

/** The same of one with this DE 11 that was sent in the hours before the moment. */
export const referencesBefore = (stan: string, at: Date, hours: number): readonly string[] =>
  referencesWithin(stan, at.getTime() - hours * hourMs, at.getTime() + hourMs)

const referencesWithin = (stan: string, fromMs: number, toMs: number): readonly string[] => {
  const rounds = Array.from({ length: roundsSought }, (_, round) =>
    referenceOf(Number(stan), round),
  )
  return Array.from({ length: (toMs - fromMs) / hourMs + 1 }, (_, hour) =>
    hourOf(new Date(fromMs + hour * hourMs)),
  ).flatMap((hour) => rounds.map((reference) => hour + reference))
}

/** DE 7, MMDDhhmmss in GMT. */
export const transmissionOf = (at: Date): string => at.toISOString().slice(5, 19).replace(/\D/g, '')
