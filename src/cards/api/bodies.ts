import { z } from 'zod'
import { ApiError, type ErrorDefinition, httpErrors } from '#src/platform/http/index.ts'
import { findInIdentifier, findSensitive, isCardNumber } from '#src/platform/security/index.ts'
import { entries, installmentPlans } from '../content/index.ts'
import { cardErrors } from '../errors.ts'
import { amountCentsMax, currencyNumbers } from '../transactions/domain.ts'
import { resolutions } from '../transactions/resolutions.ts'
import type { AuthorizationRequest, VerificationRequest } from '../use-cases/authorize.ts'
import type { CaptureRequest } from '../use-cases/operations.ts'
import type { ResolutionRequest } from '../use-cases/resolve.ts'
import { detailsIn, paymentFields, secretsIn } from './payment-fields.ts'

/** Bodies of the card routes. The schemas published in the OpenAPI document are those that validate. */

const amountMax = Number(amountCentsMax)
const merchantIdMax = 15
const terminalIdMax = 8
const installmentsMax = 12
const cardTokenMax = 255
const reasonMax = 200
const shownMax = 64

/** The fixed fields of a message would lose blanks at the end. */
const trimmedAscii = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
/** Printable text. A vault may have tokens in the form of card numbers, whose check digit is wrong. */
const token = /^[\x21-\x7e]+$/
/** Text that may hold a card number in any grouping. */
const manyDigits = /\d(?:[ ._/-]?\d){11}/
/** Text that is not blank, has no control characters, and holds nothing like a card number. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const reasonText = /^(?=[\s\S]*\S)(?![\s\S]*\d(?:[ -]?\d){11})[^\u0000-\u001f\u007f-\u009f]+$/

const amount = z.int().min(1).max(amountMax).meta({
  description: 'Minor units: 10000 is 100.00.',
  example: 10_000,
})
export const currency = z.enum(Object.keys(currencyNumbers) as (keyof typeof currencyNumbers)[])
export const merchantId = z
  .string()
  .min(1)
  .max(merchantIdMax)
  .regex(trimmedAscii)
  .refine((value) => !isCardNumber(value))

export const authorizationBody = z
  .strictObject({
    card_token: z
      .string()
      .min(1)
      .max(cardTokenMax)
      .regex(token)
      .refine((value) => findInIdentifier(value) !== 'card number')
      .meta({
        description:
          'A token of the vault, never a card number, nor one with other characters around it.',
        example: 'tok_visa_approved',
      }),
    amount,
    currency,
    merchant_id: merchantId.meta({ example: 'MERCHANT000001' }),
    terminal_id: z.string().min(1).max(terminalIdMax).regex(trimmedAscii).optional(),
    installments: z.int().min(1).max(installmentsMax).default(1),
    capture: z.boolean().default(false).meta({
      description: 'Captures the whole amount right after the approval.',
    }),
    accept_partial: z.boolean().optional().meta({
      description:
        'Takes a part of the amount too, where the network approves no more; else that part is taken back.',
    }),
    ...paymentFields,
  })
  .meta({ id: 'CardAuthorization' })

const { amount: _, installments: __, capture: ___, ...asked } = authorizationBody.shape

export const verificationBody = z
  .strictObject(asked)
  .omit({ installment_plan: true, accept_partial: true })
  .meta({ id: 'CardVerification' })

export const incrementBody = z.strictObject({ amount }).meta({
  id: 'CardIncrement',
  description: 'What is added to the authorized amount.',
})

export const captureBody = z
  .strictObject({
    amount: amount.optional(),
    final: z.boolean().optional().meta({
      description:
        'False: other captures may follow; otherwise it is the last one. One that takes all that is left is final in any case.',
    }),
  })
  .meta({
    id: 'CardCapture',
    description: 'Without an amount, or without a body: all that is left of the authorization.',
  })

export const voidBody = z.strictObject({ amount: amount.optional() }).meta({
  id: 'CardVoid',
  description: 'Without an amount, or without a body: the whole. A part only of an authorization.',
})

export const refundBody = z.strictObject({ amount: amount.optional() }).meta({
  id: 'CardRefund',
  description: 'Without an amount, or without a body: all that is captured and not given back.',
})

const reason = z
  .string()
  .min(1)
  .max(reasonMax)
  .regex(reasonText)
  .refine((value) => findSensitive(value) !== 'card number')
  .meta({
    // The document's generator would write the flag as well.
    pattern: reasonText.source,
    description: 'Who confirmed it, and where that is noted. No card data.',
    example: 'Network desk, case 4711',
  })

export const adviceResolutionBody = z.strictObject({ reason }).meta({ id: 'AdviceResolution' })

export const resolutionBody = z
  .strictObject({
    outcome: z.enum(resolutions).meta({
      description: 'The status that the network confirms the transaction to be in.',
    }),
    reason,
  })
  .meta({ id: 'CardResolution' })

/** @throws ApiError that names the first field at fault */
export const readAuthorization = (body: unknown): AuthorizationRequest => {
  const isPlain = isPlainlyRight(body)
  const given = isPlain ? body : judged(authorizationBody, body)
  return {
    cardToken: given.card_token,
    amountCents: BigInt(given.amount),
    currency: given.currency,
    merchantId: given.merchant_id,
    terminalId: given.terminal_id,
    installments: given.installments ?? 1,
    capture: given.capture ?? false,
    ...(isPlain ? nothingMore : moreOf(given)),
  }
}

const nothingMore = {
  reference: undefined,
  details: undefined,
  secrets: undefined,
  pin: undefined,
} as const

/** @throws ApiError that names the first field at fault */
export const readVerification = (body: unknown): VerificationRequest => {
  const given = judged(verificationBody, body)
  return {
    cardToken: given.card_token,
    currency: given.currency,
    merchantId: given.merchant_id,
    terminalId: given.terminal_id,
    reference: given.reference,
    details: detailsIn(given),
    secrets: secretsIn(given),
    pin: given.pin,
  }
}

/** What is added to the authorized amount. @throws ApiError */
export const readIncrement = (body: unknown): bigint => BigInt(judged(incrementBody, body).amount)

const moreOf = (given: Given) => {
  if (given.installment_plan !== undefined && (given.installments ?? 1) === 1) {
    throw new ApiError(httpErrors.value_refused, 'installment_plan is for several installments.', {
      details: { field: 'installment_plan', value: given.installment_plan },
    })
  }
  const { reference, pin } = given
  return { reference, pin, details: detailsIn(given), secrets: secretsIn(given) }
}

type Given = z.input<typeof authorizationBody>

/** The fields that most requests have, and no others. */
const plainFields: ReadonlySet<string> = new Set(
  Object.keys(authorizationBody.shape).filter(
    (name) => name !== 'accept_partial' && !Object.hasOwn(paymentFields, name),
  ),
)

const isWhole = (value: unknown, max: number): boolean =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max

const isName = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length <= max && trimmedAscii.test(value)

/**
 * What the schema would take, found in a tenth of its time. Anything else is left to the schema, which also knows what
 * is wrong with it.
 */
const isPlainlyRight = (body: unknown): body is Given => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  for (const name in body) if (!plainFields.has(name)) return false
  const given = body as Readonly<Record<keyof Given, unknown>>
  return (
    isToken(given.card_token) &&
    isWhole(given.amount, amountMax) &&
    typeof given.currency === 'string' &&
    Object.hasOwn(currencyNumbers, given.currency) &&
    isName(given.merchant_id, merchantIdMax) &&
    !isCardNumber(given.merchant_id as string) &&
    (given.terminal_id === undefined || isName(given.terminal_id, terminalIdMax)) &&
    (given.installments === undefined || isWhole(given.installments, installmentsMax)) &&
    (given.capture === undefined || typeof given.capture === 'boolean')
  )
}

const isToken = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length <= cardTokenMax &&
  token.test(value) &&
  findInIdentifier(value) !== 'card number'

/** @throws ApiError */
export const readCapture = (body: unknown): CaptureRequest => {
  const given = judged(captureBody, body)
  return { amountCents: centsOf(given), isFinal: given.final ?? true }
}

const centsOf = ({
  amount: cents,
}: {
  readonly amount?: number | undefined
}): bigint | undefined => (cents === undefined ? undefined : BigInt(cents))

/** The amount; undefined means the whole. @throws ApiError */
export const readVoid = (body: unknown): bigint | undefined => centsOf(judged(voidBody, body))

/** The amount; undefined means all that is left. @throws ApiError */
export const readRefund = (body: unknown): bigint | undefined => centsOf(judged(refundBody, body))

/** @throws ApiError that names the first field at fault */
export const readResolution = (body: unknown): ResolutionRequest => judged(resolutionBody, body)

type Refusal = {
  readonly definition: ErrorDefinition
  readonly expected: string
  /** The error shows nothing of the value. */
  readonly hides?: true
}

const ofPayment = (expected: string): Refusal => ({
  definition: httpErrors.validation_failed,
  expected,
  hides: true,
})

/** @throws ApiError that names the first field at fault */
export const readAdviceResolution = (body: unknown): string =>
  judged(adviceResolutionBody, body).reason

const paymentRefusals: Readonly<Record<keyof typeof paymentFields, Refusal>> = {
  reference: ofPayment('1 to 64 printable ASCII characters without a card number'),
  entry: ofPayment(entries.join(', ')),
  installment_plan: ofPayment(installmentPlans.join(' or ')),
  soft_descriptor: ofPayment('1 to 22 printable ASCII characters without a card number'),
  three_ds: ofPayment('eci of two digits, cavv of 20 bytes in base64, ds_transaction_id a UUID'),
  icc_data: ofPayment('BER-TLV as hexadecimal digits, without card number, tracks and name'),
  pin: ofPayment(
    'key, the name of one, and block, an encrypted PIN block of 16 hexadecimal digits',
  ),
  card_sequence: ofPayment('three digits'),
  stored_credential: ofPayment('initiator, reason and as needed network_transaction_id'),
}

const refusals: Readonly<Record<string, Refusal>> = {
  card_token: {
    definition: cardErrors.invalid_card_token,
    expected: `a token of the vault, 1 to ${cardTokenMax} printable characters, never a card number`,
    hides: true,
  },
  amount: {
    definition: cardErrors.invalid_amount,
    expected: `a whole number of cents from 1 to ${amountMax}`,
  },
  currency: { definition: cardErrors.invalid_currency, expected: 'BRL or USD' },
  merchant_id: {
    definition: cardErrors.invalid_merchant_id,
    expected: `1 to ${merchantIdMax} printable ASCII characters, no card number`,
  },
  terminal_id: {
    definition: cardErrors.invalid_terminal_id,
    expected: `1 to ${terminalIdMax} printable ASCII characters`,
  },
  installments: {
    definition: cardErrors.invalid_installments,
    expected: `a whole number from 1 to ${installmentsMax}`,
  },
  capture: { definition: cardErrors.invalid_capture, expected: 'true or false' },
  accept_partial: { definition: httpErrors.validation_failed, expected: 'true or false' },
  final: { definition: httpErrors.validation_failed, expected: 'true or false' },
  ...paymentRefusals,
  outcome: { definition: cardErrors.invalid_outcome, expected: resolutions.join(', ') },
  reason: {
    definition: cardErrors.invalid_reason,
    expected: `1 to ${reasonMax} printable characters without a card number`,
    hides: true,
  },
}

const judged = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys')
  if (unknown !== undefined) {
    // We neither use nor keep card data in an unknown field, but the sender must learn of it.
    throw new ApiError(httpErrors.validation_failed, 'The body has a field that is not known.', {
      details: { field: shown(unknown.keys[0]), value: null },
    })
  }
  const field = String(issues[0]?.path[0])
  if (!Object.hasOwn(refusals, field)) {
    throw new ApiError(httpErrors.bad_request, 'The body is no JSON object.', {
      details: { field: null, value: null },
    })
  }
  throw refusalOf(field, (body as Readonly<Record<string, unknown>>)[field])
}

const refusalOf = (field: string, given: unknown): ApiError => {
  const { definition, expected, hides } = refusals[field] ?? ofPayment('as documented')
  const value = hides === true ? null : shown(given)
  return new ApiError(definition, `${field} must be ${expected}.`, { details: { field, value } })
}

/** The part of a value that an error may show: nothing long, and nothing that may be card data. */
const shown = (value: unknown): string | number | boolean | null => {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return null
  }
  const text = String(value)
  return text.length > shownMax || manyDigits.test(text) ? null : value
}
