import type { InterfaceProblem, PulledMessage } from './types.ts'

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
  /** The pause that Retry-After asks for. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super('too many read streams are open', { status: 429 })
    this.retryAfterMs = retryAfterMs
  }
}

/** An answer as it came; of one that is larger than we take, its beginning. */
export type RawAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

/** The answer has more bytes than we take. */
export class AnswerTooLargeError extends InterfaceError {
  override readonly name = 'AnswerTooLargeError'
  readonly answer: RawAnswer

  constructor(answer: RawAnswer) {
    super(`the answer has more than ${answer.body.length} bytes`, { status: answer.status })
    this.answer = answer
  }
}

/** A complete answer that cannot be cut into messages, or not in whole. */
export class UncutAnswerError extends InterfaceError {
  override readonly name = 'UncutAnswerError'
  /** A code such as `multipart_truncated`. */
  readonly code: string
  readonly answer: RawAnswer
  /** The messages that could be cut out of it. */
  readonly messages: readonly PulledMessage[]
  /** The same for the same answer. */
  readonly digest: string
  /** False for the answer that opened the stream: asking for it again would open another. */
  readonly isRepeatable: boolean
  /** The request that confirms this answer. */
  readonly nextUrl: string

  constructor(
    code: string,
    answer: RawAnswer,
    about: Pick<UncutAnswerError, 'messages' | 'digest' | 'isRepeatable' | 'nextUrl'>,
  ) {
    super(`the answer cannot be cut into messages: ${code}`, { status: answer.status })
    this.code = code
    this.answer = answer
    this.messages = about.messages
    this.digest = about.digest
    this.isRepeatable = about.isRepeatable
    this.nextUrl = about.nextUrl
  }
}
