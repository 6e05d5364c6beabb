import type { InterfaceProblem } from './types.ts'

/** The message interface did not do what we asked; `status` is undefined if it did not answer. */
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

/** 410: the interface has forgotten the read stream; another stream delivers what this one had not confirmed. */
export class StreamGoneError extends InterfaceError {
  override readonly name = 'StreamGoneError'

  constructor() {
    super('the read stream is gone', { status: 410 })
  }
}

/** 429: the participant has as many read streams open as the interface allows on a channel. */
export class TooManyStreamsError extends InterfaceError {
  override readonly name = 'TooManyStreamsError'
  /** What Retry-After asks for. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super('too many read streams are open', { status: 429 })
    this.retryAfterMs = retryAfterMs
  }
}
