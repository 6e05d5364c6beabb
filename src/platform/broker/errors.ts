/** Thrown by a handler for a message that no repetition can help: it goes to `dlq` at once. */
export class PoisonMessageError extends Error {
  override readonly name = 'PoisonMessageError'
  /** Stable, lower case with underscores: the header `dlq-error-code`. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The message cannot be published: it is over a limit, or the broker has no room. */
export class PublishRefusedError extends Error {
  override readonly name = 'PublishRefusedError'
}

/** The broker does not answer: whether the messages were taken is not known, so they are to be published again. */
export class BrokerUnavailableError extends Error {
  override readonly name = 'BrokerUnavailableError'
}
