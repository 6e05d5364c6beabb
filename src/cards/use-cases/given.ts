import { CodecError } from '#codecs/bytes'
import { bytesOfHex, type CardMessage, parseTlvWithin } from '#codecs/iso8583'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { isClearPinBlock } from '#src/platform/security/index.ts'
import {
  bitOf,
  type Input,
  inputs,
  MissingFactError,
  type Secrets,
  TooLongFactError,
} from '../content/index.ts'
import { cardErrors } from '../errors.ts'
import type { Network } from '../networks/index.ts'
import type { BuiltMessage } from '../networks/messages.ts'
import { SecurityModuleError } from '../security/index.ts'

/** Whether what a request gives may go into a message of its network. */

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

const notCarried = (input: Input): ApiError =>
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

/** An encrypted PIN block as it came. */
export type GivenPin = {
  /** The name of the key that it is under. */
  readonly key: string
  /** Hexadecimal digits. */
  readonly block: string
}

type Given = { readonly secrets: Secrets | undefined; readonly pin: GivenPin | undefined }

/**
 * The values that go into the message and nowhere else, with the PIN block under the network's key.
 *
 * @throws ApiError `field_not_carried`, `value_refused`, `network_unavailable`
 */
export const withPin = async (
  { secrets, pin }: Given,
  { keys }: Network,
  pan: Uint8Array,
): Promise<Secrets | undefined> => {
  if (pin === undefined) return secrets
  const isKnown = keys?.hasPinSource(pin.key)
  if (keys === undefined || isKnown === undefined) throw notCarried('pin')
  if (!isKnown) throw refused('pin.key is none of the keys of the card network.')
  const block = Uint8Array.fromHex(pin.block)
  try {
    if (isClearPinBlock(block, pan)) throw refused('pin.block is not encrypted.')
    const translated = await keys.translatePin(block, pin.key, pan)
    return { ...secrets, pinBlock: translated.toHex().toUpperCase() }
  } catch (cause) {
    if (!(cause instanceof SecurityModuleError)) throw cause
    if (cause.fault === 'refused' && blockFaults.has(cause.code ?? '')) {
      throw refused('pin.block holds no PIN of this card under pin.key.')
    }
    throw new ApiError(cardErrors.network_unavailable, 'The PIN block could not be translated.', {
      details: { field: null, value: null, sent: false, reason: 'security_module' },
      cause,
    })
  } finally {
    block.fill(0)
  }
}

/** The faults that a module finds in a block: no PIN in it, another format, a wrong length. */
const blockFaults: ReadonlySet<string> = new Set(['PIN block', '20', '23', '24'])

const refused = (message: string): ApiError =>
  new ApiError(httpErrors.value_refused, message, { details: { field: 'pin', value: null } })

/** Card number, track 2, holder's name, track data: they go in no field of ours. */
const refusedTags: ReadonlySet<string> = new Set(['57', '5A', '5F20', '56', '9F1F', '9F20', '9F6B'])

/** Whether it is BER-TLV without card data, in templates too. */
const isIccData = (hex: string): boolean => {
  try {
    const bytes = bytesOfHex(hex)
    return bytes !== undefined && parseTlvWithin(bytes).every(({ tag }) => !refusedTags.has(tag))
  } catch (error) {
    if (error instanceof CodecError) return false
    throw error
  }
}

/** @throws ApiError for chip data that no message may have */
export const checkIcc = ({ icc }: Secrets): void => {
  if (icc === undefined || isIccData(icc)) return
  throw new ApiError(
    httpErrors.value_refused,
    'icc_data must be BER-TLV without card number, tracks and name.',
    { details: { field: 'icc_data', value: null } },
  )
}
