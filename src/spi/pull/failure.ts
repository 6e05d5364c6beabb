/** Why a read stream is of no more use. */
export type PullFailure =
  /** 410: the interface has forgotten the stream. */
  | { readonly kind: 'gone' }
  /** 429: too many streams are open. */
  | { readonly kind: 'throttled'; readonly waitMs: number }
  | { readonly kind: 'failed' }

/** No server may hold a channel back for longer. */
const waitMaxMs = 60_000

/** Told by the error's name, so that any client of the port will do. */
export const pullFailureOf = (error: unknown): PullFailure => {
  if (!(error instanceof Error)) return { kind: 'failed' }
  if (error.name === 'StreamGoneError') return { kind: 'gone' }
  if (error.name !== 'TooManyStreamsError') return { kind: 'failed' }
  const asked = 'retryAfterMs' in error ? Number(error.retryAfterMs) : 0
  return { kind: 'throttled', waitMs: Number.isFinite(asked) ? Math.min(asked, waitMaxMs) : 0 }
}
