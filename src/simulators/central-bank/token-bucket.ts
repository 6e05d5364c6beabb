/** How much a participant may send: a bucket per channel, filled at a steady rate. */
import { definitionOf, type MessageType } from '#codecs/iso20022'
import { createBuckets } from '../buckets.ts'
import type { Channel } from './options.ts'

type Window = { readonly size: number; readonly perSecond: number }

const primary: Window = { size: 3750, perSecond: 750 }
const secondaryDay: Window = { size: 350, perSecond: 35 }
const secondaryNight: Window = { size: 5000, perSecond: 350 }
const tracking: Window = { size: 1500, perSecond: 500 }

const dayBeginsHour = 8
/** Brasília: no summer time since 2019. */
const brasiliaOffsetMs = -3 * 3_600_000
const hourMs = 3_600_000

export const windowOf = (channel: Channel, nowMs: number): Window => {
  if (channel === 'primary') return primary
  const hour = Math.floor((nowMs + brasiliaOffsetMs) / hourMs) % 24
  return hour < dayBeginsHour ? secondaryNight : secondaryDay
}

/** The cost of a message: its tokens per operation for payments, their reports and trck.002, else 1. */
export const costOf = (type: MessageType, operations: number): number => {
  const { tokens } = definitionOf(type).exchange
  return tokens === null ? 1 : tokens * operations
}

export const createTokenBuckets = (now: () => number) => {
  const buckets = createBuckets(now)
  const filled = (key: string, { size, perSecond }: Window) =>
    buckets.filled(key, size, (elapsedMs) => (elapsedMs * perSecond) / 1_000)
  return {
    /** Seconds to wait, 0 when the participant may send. */
    waitSeconds: (ispb: string, channel: Channel): number => {
      const wait = (key: string, window: Window): number => {
        const { tokens } = filled(key, window)
        return tokens > 0 ? 0 : Math.max(1, Math.ceil(-tokens / window.perSecond))
      }
      const seconds = wait(`${ispb} ${channel}`, windowOf(channel, now()))
      return channel === 'primary' ? seconds : Math.max(seconds, wait(`${ispb} tracking`, tracking))
    },
    /** The bank debits messages when it takes them, so a bucket may fall below zero. */
    debit: (ispb: string, channel: Channel, type: MessageType, operations: number): void => {
      const isTracking = definitionOf(type).exchange.role === 'tracked' && channel === 'secondary'
      const window = isTracking ? tracking : windowOf(channel, now())
      const key = isTracking ? `${ispb} tracking` : `${ispb} ${channel}`
      filled(key, window).tokens -= costOf(type, operations)
    },
  }
}

export type TokenBuckets = ReturnType<typeof createTokenBuckets>
