import { createHash } from 'node:crypto'
import type { DrawTokens } from '#src/platform/http/index.ts'

// Source: DICT API, section "Limitação de requisições".

/** What a bucket holds and how fast it fills. */
type Policy = { readonly perMinute: number; readonly size: number }

export const categories = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const
export type Category = (typeof categories)[number]

const lookups: Readonly<Record<Category, Policy>> = {
  A: { perMinute: 25_000, size: 50_000 },
  B: { perMinute: 20_000, size: 40_000 },
  C: { perMinute: 15_000, size: 30_000 },
  D: { perMinute: 8_000, size: 16_000 },
  E: { perMinute: 2_500, size: 5_000 },
  F: { perMinute: 250, size: 500 },
  G: { perMinute: 25, size: 250 },
  H: { perMinute: 2, size: 50 },
}
const naturalPayer: Policy = { perMinute: 2, size: 100 }
const legalPayer: Policy = { perMinute: 20, size: 1_000 }

/** What a lookup that finds nothing costs of each bucket, beyond the token of every lookup. */
const payerMissing = 19
const participantMissing = 2
/** A lookup that found nothing, and whose answer was lost, costs so much that we do not know of. */
const littleLeft = payerMissing + 1
/** Payers for whom the directory is not asked, in the memory of the process. */
const restingMax = 10_000
/** What a payment of a company gives back. */
const legalPaid = 2
const cpfChars = 11
const minuteSeconds = 60

/** Buckets that nobody has drawn from for so long are full, and forgotten. */
export const fullAfterMs = 86_400_000
export const bucketPrefix = 'dict:'

/** Whose tokens a lookup takes. */
export type Looker = {
  /** CPF or CNPJ of the payer. */
  readonly payer: string
  /** E-mail addresses and phones have a bucket of their own. */
  readonly isContact: boolean
}

export type LookupTokens = {
  /** Takes a token for a lookup. @returns undefined, or how long until there is one */
  readonly take: (looker: Looker) => Promise<number | undefined>
  /** Called when a lookup found nothing. */
  readonly missed: (looker: Looker) => Promise<void>
  /** Called when the directory was not asked after all. */
  readonly giveBack: (looker: Looker) => Promise<void>
  /** Called when a payment went out for what the directory answered. */
  readonly paid: (looker: Looker) => Promise<void>
  /**
   * Called when the directory refused all the same: it is not asked for the looker for so long. Little that we thought
   * there was is not there; where there was much, something else is used up there than this bucket.
   */
  readonly exhausted: (looker: Looker, restMs: number) => Promise<void>
}

/** A CPF or CNPJ is nothing to keep in clear among counters. */
const pseudonymOf = (ispb: string, payer: string): string =>
  createHash('sha256').update(`${ispb} ${payer}`).digest('base64url').slice(0, 22)

/** The directory's buckets of lookups, kept beside it so that it need not refuse. All processes share them. */
export const createLookupTokens = (
  draw: DrawTokens,
  ispb: string,
  category: Category,
  nowMs: () => number,
): LookupTokens => {
  const restsUntilMs = new Map<string, number>()
  const participant = { subject: `${bucketPrefix}participant`, policy: lookups[category] }
  const payerOf = ({ payer, isContact }: Looker) => ({
    subject: `${bucketPrefix}${isContact ? 'contact' : 'other'}:${pseudonymOf(ispb, payer)}`,
    policy: payer.length === cpfChars ? naturalPayer : legalPayer,
  })
  const change = ({ subject, policy }: typeof participant, tokens: number) => {
    const { perMinute, size } = policy
    return draw(subject, { perSecond: perMinute / minuteSeconds, burst: size }, tokens)
  }
  const waitMs = ({ policy }: typeof participant, left: number): number =>
    Math.max(1, Math.ceil(((1 - left) * minuteSeconds * 1_000) / policy.perMinute))

  return {
    take: async (looker) => {
      const own = payerOf(looker)
      const restMs = (restsUntilMs.get(own.subject) ?? 0) - nowMs()
      if (restMs > 0) return restMs
      restsUntilMs.delete(own.subject)
      const first = await change(own, 1)
      if (first.granted === 0) return waitMs(own, first.left)
      const second = await change(participant, 1)
      if (second.granted > 0) return undefined
      await change(own, -1)
      return waitMs(participant, second.left)
    },
    missed: async (looker) => {
      await change(payerOf(looker), payerMissing)
      await change(participant, participantMissing)
    },
    giveBack: async (looker) => {
      await change(payerOf(looker), -1)
      await change(participant, -1)
    },
    paid: async (looker) => {
      const own = payerOf(looker)
      await change(own, own.policy === legalPayer ? -legalPaid : -1)
      await change(participant, -1)
    },
    exhausted: async (looker, restMs) => {
      const own = payerOf(looker)
      if (restsUntilMs.size >= restingMax) restsUntilMs.clear()
      restsUntilMs.set(own.subject, nowMs() + restMs)
      const { left } = await change(own, 0)
      if (left <= littleLeft) await change(own, littleLeft)
    },
  }
}
