import { StreamGoneError, TooManyStreamsError } from '../interface/errors.ts'

/** Why a read stream is of no more use. */
export type PullFailure =
  /** 410: the interface has forgotten the stream. */
  | { readonly kind: 'gone' }
  /** 429: too many streams are open. */
  | { readonly kind: 'throttled'; readonly waitMs: number }
  | { readonly kind: 'failed' }

/** No server may hold a channel back for longer. */
const waitMaxMs = 60_000

export const pullFailureOf = (error: unknown): PullFailure => {
  if (error instanceof StreamGoneError) return { kind: 'gone' }
  if (!(error instanceof TooManyStreamsError)) return { kind: 'failed' }
  return { kind: 'throttled', waitMs: Math.min(error.retryAfterMs, waitMaxMs) }
}
