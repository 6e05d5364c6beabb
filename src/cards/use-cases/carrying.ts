import type { CardMessage } from '#codecs/iso8583'
import { ApiError } from '#src/platform/http/index.ts'
import { bitOf, type Input, inputs, MissingFactError, TooLongFactError } from '../content/index.ts'
import { cardErrors } from '../errors.ts'
import type { BuiltMessage } from '../networks/messages.ts'

/**
 * The message, if it has all that the request gave.
 *
 * @param given bits of the inputs of the request
 * @throws ApiError for what the network's messages cannot carry, or need beside
 */
export const carrying = (given: number, build: () => BuiltMessage): CardMessage => {
  let built: BuiltMessage
  try {
    built = build()
  } catch (error) {
    if (error instanceof MissingFactError) throw missing(error)
    if (error instanceof TooLongFactError) throw tooLong(error)
    throw error
  }
  const left = given & ~built.carried
  const input = left === 0 ? undefined : inputs.find((one) => (left & bitOf(one)) !== 0)
  if (input === undefined) return built.message
  built.message.wipe()
  throw notCarried(input)
}

export const notCarried = (input: Input): ApiError =>
  input === 'installments'
    ? new ApiError(
        cardErrors.invalid_installments,
        'The card network of this card takes no installments.',
        { details: { field: input, value: null } },
      )
    : new ApiError(
        cardErrors.field_not_carried,
        `The messages to the card network of this card cannot carry this ${input}.`,
        { details: { field: input, value: null } },
      )

const missing = ({ source }: MissingFactError): ApiError => {
  if (source.startsWith('merchant.')) {
    return new ApiError(
      cardErrors.merchant_profile_missing,
      `The card network needs ${source}, and no profile of this merchant is configured.`,
      { details: { field: 'merchant_id', value: null } },
    )
  }
  const field = inputs.find((one) => one === source) ?? 'card_token'
  return new ApiError(cardErrors.field_needed, `The card network needs ${source}.`, {
    details: { field, value: null },
  })
}

const tooLong = (error: TooLongFactError): ApiError =>
  new ApiError(cardErrors.field_not_carried, `${error.message}.`, {
    details: { field: inputs.find((one) => one === error.source) ?? null, value: null },
  })
