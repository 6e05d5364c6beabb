/** A handler throws it for a message that no repetition can help: it goes to `dlq` at once. */
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

/** The broker does not answer: we do not know whether it took the messages, so the caller must publish them again. */
export class BrokerUnavailableError extends Error {
  override readonly name = 'BrokerUnavailableError'
}

/**
 * A message that was handed out is settled already: another process has taken it over, or its settling was not heard of.
 * The transaction that throws this undoes its effects.
 */
export class DeliveryLostError extends Error {
  override readonly name = 'DeliveryLostError'
}
