import type { InterfaceProblem } from './types.ts'

/** The message interface did not do what was asked; `status` is undefined where it did not answer. */
export class InterfaceError extends Error {
  override readonly name: string = 'InterfaceError'
  readonly status: number | undefined
  readonly problem: InterfaceProblem | undefined

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly status?: number | undefined
      readonly problem?: InterfaceProblem | undefined
    } = {},
  ) {
    super(message, options)
    this.status = options.status
    this.problem = options.problem
  }
}

/** 410: the interface has forgotten the read stream; what it had not confirmed is delivered by another. */
export class StreamGoneError extends InterfaceError {
  override readonly name = 'StreamGoneError'

  constructor() {
    super('the read stream is gone', { status: 410 })
  }
}

/** 429: as many read streams are open as one participant may have on a channel. */
export class TooManyStreamsError extends InterfaceError {
  override readonly name = 'TooManyStreamsError'
  /** What Retry-After asks for. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super('too many read streams are open', { status: 429 })
    this.retryAfterMs = retryAfterMs
  }
}
