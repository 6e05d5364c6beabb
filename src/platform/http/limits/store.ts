import type { Client } from '#src/platform/database/index.ts'
import { inTime } from '#src/platform/runtime/index.ts'

/** The answer of a bucket: what it gives, and what is left. */
type Draw = {
  /** Whole tokens, at most as many as were asked for. */
  readonly granted: number
  readonly left: number
}

/** A bucket fills by `perSecond` up to `burst`. */
export type DrawTokens = (
  subject: string,
  rate: { readonly perSecond: number; readonly burst: number },
  wanted: number,
) => Promise<Draw>

/** Buckets that all processes share. The database's clock counts, so that theirs need not agree. */
export const sharedBuckets = (sql: Client): DrawTokens => {
  const draw: DrawTokens = async (subject, { perSecond, burst }, wanted) => {
    const [drawn] = await sql<Draw[]>`
      update rate_buckets b
      set tokens = filled.tokens - least(${wanted}::float8, floor(filled.tokens)), at = filled.at
      from (
        select subject, clock_timestamp() as at, least(${burst}::float8, tokens
          + ${perSecond}::float8 * greatest(0, extract(epoch from clock_timestamp() - at))) as tokens
        from rate_buckets where subject = ${subject} for update
      ) filled
      where b.subject = filled.subject
      returning least(${wanted}::float8, floor(filled.tokens))::int as granted, b.tokens as left`
    if (drawn !== undefined) return drawn
    await sql`
      insert into rate_buckets (subject, tokens, at) values (${subject}, ${burst}, clock_timestamp())
      on conflict do nothing`
    return draw(subject, { perSecond, burst }, wanted)
  }
  return draw
}

/** Buckets of one process. The one that nobody has drawn from for longest gives way: it is the likeliest to be full. */
export const ownBucketsMax = 10_000

/** The same of this process alone: without a database, or while it is away. */
export const ownBuckets = (nowMs: () => number): DrawTokens => {
  const buckets = new Map<string, { tokens: number; atMs: number }>()
  return async (subject, { perSecond, burst }, wanted) => {
    const now = nowMs()
    const bucket = buckets.get(subject) ?? { tokens: burst, atMs: now }
    buckets.delete(subject)
    buckets.set(subject, bucket)
    if (buckets.size > ownBucketsMax) buckets.delete(buckets.keys().next().value!)
    const filled = bucket.tokens + (perSecond * Math.max(0, now - bucket.atMs)) / 1_000
    const tokens = Math.min(burst, filled)
    const granted = Math.min(wanted, Math.floor(tokens))
    bucket.tokens = tokens - granted
    bucket.atMs = now
    return { granted, left: bucket.tokens }
  }
}

/** The database answers within a few milliseconds: a request does not wait longer for one that is frozen. */
const drawMsMax = 250
/** For so long nobody asks the database again; then one request asks for all. */
const aloneMs = 5_000

/** The buckets that processes share; without a database, or while it does not answer, this process's own. */
export const sharedOrOwn = (options: {
  readonly shared: () => DrawTokens | undefined
  readonly nowMs: () => number
  readonly onFailure: (err: unknown) => void
}): DrawTokens => {
  const { shared, nowMs, onFailure } = options
  const own = ownBuckets(nowMs)
  let aloneUntilMs: number | undefined
  return async (...asked) => {
    const draw = shared()
    if (draw === undefined || (aloneUntilMs !== undefined && nowMs() < aloneUntilMs)) {
      return own(...asked)
    }
    if (aloneUntilMs !== undefined) aloneUntilMs = nowMs() + aloneMs
    try {
      const drawn = await inTime(draw(...asked), drawMsMax)
      aloneUntilMs = undefined
      return drawn
    } catch (err) {
      aloneUntilMs = nowMs() + aloneMs
      onFailure(err)
      return own(...asked)
    }
  }
}
