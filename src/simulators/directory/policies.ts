/** How often a participant may ask: buckets of tokens, each refilled at a steady rate. */
import { createBuckets } from '../buckets.ts'
import type { Category } from './options.ts'
import { Refusal } from './refusal.ts'

type Bucket = { readonly perMinute: number; readonly size: number }

const natural: Bucket = { perMinute: 2, size: 100 }
const legal: Bucket = { perMinute: 20, size: 1_000 }
const lookups: Readonly<Record<Category, Bucket>> = {
  A: { perMinute: 25_000, size: 50_000 },
  B: { perMinute: 20_000, size: 40_000 },
  C: { perMinute: 15_000, size: 30_000 },
  D: { perMinute: 8_000, size: 16_000 },
  E: { perMinute: 2_500, size: 5_000 },
  F: { perMinute: 250, size: 500 },
  G: { perMinute: 25, size: 250 },
  H: { perMinute: 2, size: 50 },
}

/** The policies of a participant, whatever its category. */
const plain = {
  ENTRIES_WRITE: { perMinute: 1_200, size: 36_000 },
  ENTRIES_UPDATE: { perMinute: 600, size: 600 },
  SYNC_VERIFICATIONS_WRITE: { perMinute: 10, size: 50 },
  CIDS_ENTRIES_READ: { perMinute: 1_200, size: 36_000 },
  CIDS_EVENTS_LIST: { perMinute: 20, size: 100 },
  CIDS_FILES_READ: { perMinute: 10, size: 50 },
  INFRACTION_REPORTS_READ: { perMinute: 600, size: 18_000 },
  INFRACTION_REPORTS_WRITE: { perMinute: 1_200, size: 36_000 },
  INFRACTION_REPORTS_LIST_WITH_ROLE: { perMinute: 40, size: 200 },
  INFRACTION_REPORTS_LIST_WITHOUT_ROLE: { perMinute: 10, size: 50 },
  REFUNDS_READ: { perMinute: 1_200, size: 36_000 },
  REFUNDS_WRITE: { perMinute: 2_400, size: 72_000 },
  REFUND_LIST_WITH_ROLE: { perMinute: 40, size: 200 },
  /** Forty a day. */
  CIDS_FILES_WRITE: { perMinute: 40 / 1_440, size: 200 },
  CLAIMS_READ: { perMinute: 600, size: 18_000 },
  CLAIMS_WRITE: { perMinute: 1_200, size: 36_000 },
  CLAIMS_LIST_WITH_ROLE: { perMinute: 40, size: 200 },
  CLAIMS_LIST_WITHOUT_ROLE: { perMinute: 10, size: 50 },
} as const satisfies Readonly<Record<string, Bucket>>

export type PlainPolicy = keyof typeof plain

const userMissing = 20
const participantMissing = 3
const minuteMs = 60_000

export const createPolicies = (category: Category, now: () => number) => {
  const buckets = createBuckets(now)
  const filled = (name: string, { perMinute, size }: Bucket) =>
    buckets.filled(name, size, (elapsedMs) => (elapsedMs * perMinute) / minuteMs)

  /** @throws Refusal if there is no token */
  const demand = (name: string, bucket: Bucket): void => {
    if (filled(name, bucket).tokens < 1) throw new Refusal('RateLimited')
  }

  const change = (name: string, bucket: Bucket, by: number): void => {
    const state = filled(name, bucket)
    state.tokens = Math.max(0, Math.min(bucket.size, state.tokens + by))
  }

  const lookupBuckets = (participant: string, payer: string, kind: string) => {
    const version = kind === 'EMAIL' || kind === 'PHONE' ? '' : '_V2'
    return {
      user: [
        `ENTRIES_READ_USER_ANTISCAN${version} ${participant} ${payer}`,
        payer.length === 11 ? natural : legal,
      ],
      participant: [`ENTRIES_READ_PARTICIPANT_ANTISCAN ${participant}`, lookups[category]],
    } as const
  }

  return {
    /** Takes no tokens: the cost of a lookup is known by its answer. @throws Refusal */
    beforeLookup: (participant: string, payer: string, kind: string): void => {
      const buckets = lookupBuckets(participant, payer, kind)
      demand(...buckets.user)
      demand(...buckets.participant)
    },
    afterLookup: (participant: string, payer: string, kind: string, isFound: boolean): void => {
      const buckets = lookupBuckets(participant, payer, kind)
      change(...buckets.user, isFound ? -1 : -userMissing)
      change(...buckets.participant, isFound ? -1 : -participantMissing)
    },
    /** A payment went out with the EndToEndId of the lookup. */
    afterPayment: (participant: string, payer: string, kind: string): void => {
      const buckets = lookupBuckets(participant, payer, kind)
      change(...buckets.user, payer.length === 11 ? 1 : 2)
      change(...buckets.participant, 1)
    },
    /** @throws Refusal */
    take: (policy: PlainPolicy, participant: string): void => {
      const name = `${policy} ${participant}`
      demand(name, plain[policy])
      change(name, plain[policy], -1)
    },
    /** Tokens by bucket, whole. */
    left: (): Readonly<Record<string, number>> =>
      Object.fromEntries(
        [...buckets.all()].map(([name, { tokens }]) => [name, Math.floor(tokens)]),
      ),
  }
}

export type Policies = ReturnType<typeof createPolicies>
