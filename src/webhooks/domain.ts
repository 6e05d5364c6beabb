import { eventTypes } from '#src/events/index.ts'

export const deliveryStatuses = ['pending', 'delivered', 'exhausted'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** The families of a type: `card.transaction.voided` has `card.*` and `card.transaction.*`. */
const familiesOf = (type: string): string[] => {
  const steps = type.split('.')
  return steps.slice(1).map((_, index) => `${steps.slice(0, index + 1).join('.')}.*`)
}

const wildcards: ReadonlySet<string> = new Set(['*', ...eventTypes.flatMap(familiesOf)])

/** Every subscription that matches this type. */
export const patternsOf = (type: string): readonly string[] => ['*', ...familiesOf(type), type]

/** The subscriptions that an error lists: every type and every family. */
export const subscriptions = (): readonly string[] => [...wildcards, ...eventTypes]

/** Waits before each attempt, in ms: the schedule of Standard Webhooks, 75 hours in all. */
export const retryDelaysMs: readonly number[] = [
  0,
  5_000,
  5 * 60_000,
  30 * 60_000,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600_000),
]

export const attemptsMax = retryDelaysMs.length
/** We tell the newest attempts of a delivery: each replay adds as many as ten, with 4 KiB of answer. */
export const attemptsToldMax = 100
export const retryAfterMaxMs = 24 * 3_600_000
/** We disable an endpoint that has failed for so long. */
const failingDaysMax = 5
export const failingMaxMs = failingDaysMax * 24 * 3_600_000
/** We replace a delay by a random one between these multiples of it. */
const jitterFrom = 0.8
const jitterTo = 1.2
/** Failures further apart are not of one delivery: twice the longest wait for its next attempt. */
export const failingGapMaxMs = 2 * Math.max(retryAfterMaxMs, ...retryDelaysMs) * jitterTo

/**
 * `delivered`: 2xx. `gone`: 410, the receiver wants no more. `failed`: everything else, redirects too.
 *
 * @property retryAfterMs - what the receiver asked for
 */
export type AttemptOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly retryAfterMs: number | undefined }

export type DeliveryStep =
  | { readonly state: 'delivered' }
  | { readonly state: 'exhausted'; readonly disable: 'gone' | undefined }
  | { readonly state: 'pending'; readonly nextInMs: number }

/**
 * The step that follows an attempt.
 *
 * @param attempt - 1 for the first
 * @param random - 0 to 1
 */
export const afterAttempt = (
  attempt: number,
  outcome: AttemptOutcome,
  random: number,
): DeliveryStep => {
  switch (outcome.kind) {
    case 'delivered':
      return { state: 'delivered' }
    case 'gone':
      return { state: 'exhausted', disable: 'gone' }
    case 'failed': {
      const delayMs = retryDelaysMs[attempt]
      if (delayMs === undefined) return { state: 'exhausted', disable: undefined }
      const jittered = delayMs * (jitterFrom + random * (jitterTo - jitterFrom))
      const asked = Math.min(outcome.retryAfterMs ?? 0, retryAfterMaxMs)
      return { state: 'pending', nextInMs: Math.round(Math.max(jittered, asked)) }
    }
  }
}

/** `Retry-After` in seconds or as a date; undefined when it is neither. */
export const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  if (header === null) return undefined
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
