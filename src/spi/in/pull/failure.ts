import {
  InterfaceError,
  StreamGoneError,
  TooManyStreamsError,
  UncutAnswerError,
} from '../../link/errors.ts'

/** Why we cannot use a read stream any more. */
export type PullFailure =
  /** 410: the interface has forgotten the stream. */
  | { readonly kind: 'gone' }
  /** 429: too many streams are open, or we ask too much. */
  | { readonly kind: 'throttled'; readonly waitMs: number }
  /** Another 4xx: the interface would refuse the same request again. */
  | { readonly kind: 'refused' }
  /** A complete answer that cannot be cut into messages. */
  | { readonly kind: 'uncut' }
  | { readonly kind: 'failed' }

export const pullFailureOf = (error: unknown): PullFailure => {
  if (error instanceof StreamGoneError) return { kind: 'gone' }
  if (error instanceof TooManyStreamsError) {
    return { kind: 'throttled', waitMs: error.retryAfterMs }
  }
  if (error instanceof UncutAnswerError) return { kind: 'uncut' }
  const status = error instanceof InterfaceError ? (error.status ?? 0) : 0
  return status >= 400 && status < 500 ? { kind: 'refused' } : { kind: 'failed' }
}
