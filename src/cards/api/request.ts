import { ApiError, type ErrorDefinition, httpErrors } from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import {
  type Currency,
  currencyNumbers,
  type Resolution,
  resolutions,
} from '../transactions/domain.ts'
import type { AuthorizationRequest } from '../use-cases/authorize.ts'

/** DE 4 has twelve digits. */
export const amountMax = 999_999_999_999
export const merchantIdMax = 15
export const terminalIdMax = 8
export const installmentsMax = 12
export const cardTokenMax = 255
export const reasonMax = 200
const shownMax = 64

/** Blanks at the end would be lost in the fixed fields of the message. */
const trimmedAscii = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const printableAscii = /^[\x21-\x7e]+$/
/** What may hold a card number, however it is grouped. */
const manyDigits = /\d(?:[ -]?\d){11}/
/** A card number, however it is grouped. */
const cardNumber = /^(?:\d[ -]?){11,18}\d$/

type Fields = Readonly<Record<string, unknown>>

const authorizationFields: ReadonlySet<string> = new Set([
  ...['card_token', 'amount', 'currency', 'merchant_id'],
  ...['terminal_id', 'installments', 'capture'],
])
const captureFields: ReadonlySet<string> = new Set(['amount'])
const resolutionFields: ReadonlySet<string> = new Set(['outcome', 'reason'])

/** @throws ApiError that names the first field at fault */
export const readAuthorization = (body: unknown): AuthorizationRequest => {
  const fields = fieldsOf(body, authorizationFields)
  return {
    cardToken: cardTokenOf(fields['card_token']),
    amountCents: amountOf(fields['amount']),
    currency: currencyOf(fields['currency']),
    merchantId: merchantOf(fields['merchant_id']),
    terminalId: terminalOf(fields['terminal_id']),
    installments: installmentsOf(fields['installments']),
    capture: captureOf(fields['capture']),
  }
}

/** The amount, undefined for the whole. @throws ApiError */
export const readCapture = (body: unknown): bigint | undefined => {
  const { amount } = fieldsOf(body, captureFields) as { readonly amount?: unknown }
  return amount === undefined ? undefined : amountOf(amount)
}

export type ResolutionRequest = { readonly outcome: Resolution; readonly reason: string }

/** @throws ApiError that names the first field at fault */
export const readResolution = (body: unknown): ResolutionRequest => {
  const { outcome: wanted, reason } = fieldsOf(body, resolutionFields) as {
    readonly outcome?: unknown
    readonly reason?: unknown
  }
  const outcome = resolutions.find((one) => one === wanted)
  if (outcome === undefined) {
    throw refused(cardErrors.invalid_outcome, 'outcome', wanted, resolutions.join(', '))
  }
  if (isTextWithoutCardNumber(reason)) return { outcome, reason }
  throw new ApiError(
    cardErrors.invalid_reason,
    `reason must be 1 to ${reasonMax} printable characters without a card number.`,
    { details: { field: 'reason', value: null } },
  )
}

const isTextWithoutCardNumber = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= reasonMax &&
  value.trim() !== '' &&
  !/\p{C}/u.test(value) &&
  !manyDigits.test(value)

const fieldsOf = (body: unknown, known: ReadonlySet<string>): Fields => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError(httpErrors.bad_request, 'The body is no JSON object.', {
      details: { field: null, value: null },
    })
  }
  const unknown = Object.keys(body).find((name) => !known.has(name))
  if (unknown === undefined) return body as Fields
  // Card data under a name of its own is neither used nor kept, but the sender must learn of it.
  throw new ApiError(httpErrors.validation_failed, 'The body has a field that is not known.', {
    details: { field: shown(unknown), value: null },
  })
}

const cardTokenOf = (value: unknown): string => {
  if (
    typeof value === 'string' &&
    value.length <= cardTokenMax &&
    printableAscii.test(value) &&
    !cardNumber.test(value)
  ) {
    return value
  }
  throw new ApiError(
    cardErrors.invalid_card_token,
    `card_token must be a token of the vault, 1 to ${cardTokenMax} printable characters, never a card number.`,
    { details: { field: 'card_token', value: null } },
  )
}

const amountOf = (value: unknown): bigint => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= amountMax) {
    return BigInt(value)
  }
  throw refused(
    cardErrors.invalid_amount,
    'amount',
    value,
    `a whole number of cents from 1 to ${amountMax}`,
  )
}

const currencyOf = (value: unknown): Currency => {
  if (typeof value === 'string' && Object.hasOwn(currencyNumbers, value)) return value as Currency
  throw refused(cardErrors.invalid_currency, 'currency', value, 'BRL or USD')
}

const isTrimmed = (value: unknown, charactersMax: number): value is string =>
  typeof value === 'string' && value.length <= charactersMax && trimmedAscii.test(value)

const merchantOf = (value: unknown): string => {
  if (isTrimmed(value, merchantIdMax)) return value
  const expected = `1 to ${merchantIdMax} printable ASCII characters`
  throw refused(cardErrors.invalid_merchant_id, 'merchant_id', value, expected)
}

const terminalOf = (value: unknown): string | undefined => {
  if (value === undefined || isTrimmed(value, terminalIdMax)) return value
  const expected = `1 to ${terminalIdMax} printable ASCII characters`
  throw refused(cardErrors.invalid_terminal_id, 'terminal_id', value, expected)
}

const installmentsOf = (value: unknown): number => {
  if (value === undefined) return 1
  const isNumber = typeof value === 'number' && Number.isInteger(value)
  if (isNumber && value >= 1 && value <= installmentsMax) return value
  const expected = `a whole number from 1 to ${installmentsMax}`
  throw refused(cardErrors.invalid_installments, 'installments', value, expected)
}

const captureOf = (value: unknown): boolean => {
  if (value === undefined || typeof value === 'boolean') return value ?? false
  throw refused(cardErrors.invalid_capture, 'capture', value, 'true or false')
}

const refused = (
  definition: ErrorDefinition,
  field: string,
  value: unknown,
  expected: string,
): ApiError =>
  new ApiError(definition, `${field} must be ${expected}.`, {
    details: { field, value: shown(value) },
  })

/** What of a value may be given back: nothing long, and nothing that may be card data. */
const shown = (value: unknown): string | number | boolean | null => {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return null
  }
  const text = String(value)
  return text.length > shownMax || manyDigits.test(text) ? null : value
}
