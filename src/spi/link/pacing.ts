import { definitionOf, isMessageType } from '#codecs/iso20022'
import type { Channel } from '../messages/index.ts'

/** What a channel lets a participant send: `size` operations at once, `perSecond` on average. */
type Bucket = { readonly size: number; readonly perSecond: number }

const primary: Bucket = { size: 3_750, perSecond: 750 }
const secondaryByDay: Bucket = { size: 350, perSecond: 35 }
const secondaryByNight: Bucket = { size: 5_000, perSecond: 350 }
const investigations: Bucket = { size: 1_500, perSecond: 500 }

const secondMs = 1_000
/** São Paulo has kept UTC-3 all year since 2019. */
const offsetHours = 3
const dayBeginsHour = 8

const isNight = (nowMs: number): boolean =>
  (Math.floor(nowMs / 3_600_000) + 24 - offsetHours) % 24 < dayBeginsHour

/** Counts occurrences of ASCII text. */
const count = (bytes: Buffer, text: string): number => {
  let found = 0
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) found++
  return found
}

/**
 * Returns what the interface charges for a message: for some types per transaction, for all others once. Reads
 * canonical bytes, as the builders write them.
 */
export const costOf = (
  message: Uint8Array,
): { readonly cost: number; readonly isTracked: boolean } => {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  const mark = '<MsgDefIdr>'
  const at = bytes.indexOf(mark)
  const type = at < 0 ? '' : bytes.toString('latin1', at + mark.length, at + mark.length + 8)
  if (!isMessageType(type)) return { cost: 1, isTracked: false }
  const { facts, exchange } = definitionOf(type)
  const isTracked = exchange.role === 'tracked'
  if (exchange.tokens === null) return { cost: 1, isTracked }
  const transactions = count(bytes, `<${facts.transaction}>`)
  return { cost: exchange.tokens * Math.max(1, transactions), isTracked }
}

type State = { tokens: number; atMs: number }

export type Pacing = {
  /**
   * Takes the tokens that the messages cost if the bucket holds any (it may go below zero, like the interface's own).
   * Returns 0 if it took them, otherwise how long to wait.
   */
  take(channel: Channel, messages: readonly Uint8Array[]): number
}

/** Mirrors the interface's token buckets, so that 429 stays the exception. */
export const createPacing = (share: number, now: () => number): Pacing => {
  const states = new Map<Bucket, State>()

  const take = (bucket: Bucket, cost: number): number => {
    const { size, perSecond } = { size: bucket.size * share, perSecond: bucket.perSecond * share }
    const nowMs = now()
    const state = states.get(bucket) ?? { tokens: size, atMs: nowMs }
    states.set(bucket, state)
    const elapsedMs = Math.max(0, nowMs - state.atMs)
    state.tokens = Math.min(size, state.tokens + (elapsedMs / secondMs) * perSecond)
    state.atMs = nowMs
    if (state.tokens <= 0) return Math.ceil(((1 - state.tokens) / perSecond) * secondMs)
    state.tokens -= cost
    return 0
  }

  return {
    take: (channel, messages) => {
      const costs = messages.map(costOf)
      const total = costs.reduce((sum, { cost }) => sum + cost, 0)
      if (channel === 'PRIMARY') return take(primary, total)
      if (costs.every(({ isTracked }) => isTracked)) return take(investigations, total)
      return take(isNight(now()) ? secondaryByNight : secondaryByDay, total)
    },
  }
}
