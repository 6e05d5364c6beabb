import { definitionOf, isMessageType } from '#codecs/iso20022'
import type { DrawTokens } from '#src/platform/http/index.ts'
import type { Channel } from '../messages/index.ts'

/** What a channel lets a participant send: `size` operations at once, `perSecond` on average. */
type Bucket = { readonly size: number; readonly perSecond: number }

const buckets = {
  primary: { size: 3_750, perSecond: 750 },
  secondary_day: { size: 350, perSecond: 35 },
  secondary_night: { size: 5_000, perSecond: 350 },
  investigations: { size: 1_500, perSecond: 500 },
} as const satisfies Readonly<Record<string, Bucket>>

type BucketName = keyof typeof buckets

/** Messages for the secondary channel that cannot go yet stand in a line, the same by day and by night. */
export const lines = ['secondary', 'investigations'] as const

export type Line = (typeof lines)[number]

const isTracked = (type: string): boolean =>
  isMessageType(type) && definitionOf(type).exchange.role === 'tracked'

/** Returns the line that a message of a type stands in. */
export const lineOf = (type: string): Line => (isTracked(type) ? 'investigations' : 'secondary')

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

/** Reads canonical bytes, as the builders write them. */
const typeOf = (bytes: Buffer): string => {
  const mark = '<MsgDefIdr>'
  const at = bytes.indexOf(mark)
  return at < 0 ? '' : bytes.toString('latin1', at + mark.length, at + mark.length + 8)
}

/** Returns what the interface charges for a message: for some types per transaction, for all others once. */
export const costOf = (
  message: Uint8Array,
): { readonly cost: number; readonly isTracked: boolean } => {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  const type = typeOf(bytes)
  if (!isMessageType(type)) return { cost: 1, isTracked: false }
  const { facts, exchange } = definitionOf(type)
  const transactions = count(bytes, `<${facts.transaction}>`)
  const cost = exchange.tokens === null ? 1 : exchange.tokens * Math.max(1, transactions)
  return { cost, isTracked: isTracked(type) }
}

export type Pacing = ReturnType<typeof createPacing>

export type PacingDeps = {
  /** The institution's own: the interface has buckets for each. */
  readonly ispb: string
  /** The share of the interface's buckets that this gateway may use. */
  readonly share: number
  /** Draws from the buckets that all processes of the gateway share. */
  readonly draw: DrawTokens
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Mirrors the interface's token buckets over all processes, so that 429 stays the exception. */
export const createPacing = (deps: PacingDeps) => {
  const { now } = deps
  const drawn = new Map<BucketName, Drawn>()
  const bucketOf = (name: BucketName): Drawn => {
    const bucket = drawn.get(name) ?? new Drawn(name, deps)
    drawn.set(name, bucket)
    return bucket
  }
  const bucketOfLine = (channel: Channel, line: Line): Drawn => {
    if (channel === 'PRIMARY') return bucketOf('primary')
    if (line === 'investigations') return bucketOf(line)
    return bucketOf(isNight(now()) ? 'secondary_night' : 'secondary_day')
  }
  return {
    /**
     * Takes the tokens that the messages cost if the bucket holds any (it may go below zero, like the interface's own).
     * Returns 0 if it took them, otherwise how long until the bucket holds some.
     */
    take: async (channel: Channel, messages: readonly Uint8Array[]): Promise<number> => {
      if (messages.length === 0) return 0
      const costs = messages.map(costOf)
      const total = costs.reduce((sum, { cost }) => sum + cost, 0)
      const line = costs.every((one) => one.isTracked) ? 'investigations' : 'secondary'
      return bucketOfLine(channel, line).take(total)
    },
    /** Does so for each of several costs of a line while the bucket holds any; returns for how many of the first. */
    admit: async (channel: Channel, line: Line, costs: readonly number[]): Promise<number> => {
      const bucket = bucketOfLine(channel, line)
      let admitted = 0
      for (const cost of costs) {
        if ((await bucket.take(cost)) > 0) break
        admitted++
      }
      return admitted
    },
    /** The tokens that the bucket of a line holds. */
    room: (channel: Channel, line: Line) => bucketOfLine(channel, line).room(),
  }
}

/** A process draws what it needs for a quarter of a second: at full speed four statements a second. */
const lotsPerSecond = 4

/** The tokens that this process has drawn of one bucket and not spent. */
class Drawn {
  private readonly subject: string
  private readonly rate: { readonly perSecond: number; readonly burst: number }
  private readonly deps: PacingDeps
  private tokens = 0
  /** When the shared bucket had too little, and for how long. */
  private empty = { atMs: 0, forMs: 0 }
  private drawing: Promise<void> | undefined

  constructor(name: BucketName, deps: PacingDeps) {
    const { size, perSecond } = buckets[name]
    this.subject = `spi:${deps.ispb}:${name}`
    this.rate = { perSecond: perSecond * deps.share, burst: size * deps.share }
    this.deps = deps
  }

  async take(cost: number): Promise<number> {
    while (this.tokens <= 0) {
      const waitMs = this.waitMs()
      if (waitMs > 0) return waitMs
      this.drawing ??= this.draw()
      await this.drawing
    }
    this.tokens -= cost
    return 0
  }

  /** Pays what is owed, too: while a line stands, nobody else does. */
  async room(): Promise<number> {
    const owed = Math.max(0, Math.ceil(-this.tokens))
    const { granted, left } = await this.deps.draw(this.subject, this.rate, owed)
    this.tokens += granted
    return this.tokens + Math.floor(left)
  }

  /** A clock that went back ends the wait. */
  private waitMs(): number {
    const afterMs = this.deps.now() - this.empty.atMs
    return afterMs < 0 ? 0 : Math.max(0, this.empty.forMs - afterMs)
  }

  private async draw(): Promise<void> {
    const { subject, rate, deps } = this
    const { draw, now } = deps
    const lot = Math.ceil(rate.perSecond / lotsPerSecond)
    try {
      const { granted, left } = await draw(subject, rate, lot + Math.ceil(-this.tokens))
      this.tokens += granted
      // A cost larger than the bucket is paid in several draws.
      const missing = Math.min(Math.floor(-this.tokens) + 1, Math.floor(rate.burst)) - left
      const forMs = this.tokens > 0 ? 0 : Math.ceil((missing / rate.perSecond) * secondMs) + 1
      this.empty = { atMs: now(), forMs }
    } finally {
      this.drawing = undefined
    }
  }
}
