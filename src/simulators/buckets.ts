/**
 * Tokens by name: each bucket begins full, and fills at a steady rate. We forget the one that was unused for longest.
 */
import { putBounded } from './bounded.ts'
import { steadyClock } from './steady-clock.ts'

const bucketsMax = 100_000

type Bucket = { tokens: number; atMs: number }

export const createBuckets = (now: () => number) => {
  const steady = steadyClock(now)
  const buckets = new Map<string, Bucket>()
  return {
    /** The bucket as it is now. @param gained tokens that so many milliseconds bring */
    filled: (name: string, size: number, gained: (elapsedMs: number) => number): Bucket => {
      const atMs = steady()
      const bucket = buckets.get(name) ?? { tokens: size, atMs }
      buckets.delete(name)
      putBounded(buckets, name, bucket, bucketsMax)
      bucket.tokens = Math.min(size, bucket.tokens + gained(atMs - bucket.atMs))
      bucket.atMs = atMs
      return bucket
    },
    all: (): ReadonlyMap<string, Readonly<Bucket>> => buckets,
  }
}
