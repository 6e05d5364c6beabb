import { z } from 'zod'
import {
  activityQuery,
  activitySchema,
  idParams,
  instant,
  pageQuery,
  pageResponses,
  type RouteContract,
} from '#src/platform/http/index.ts'
import { entries, installmentPlans } from '../content/index.ts'
import { cardErrors } from '../errors.ts'
import { cardStatuses } from '../transactions/domain.ts'
import { resolutions } from '../transactions/resolutions.ts'
import {
  authorizationBody,
  captureBody,
  currency,
  incrementBody,
  merchantId,
  refundBody,
  resolutionBody,
  verificationBody,
  voidBody,
} from './bodies.ts'
import { eventsDocument } from './events-document.ts'
import { reference } from './payment-fields.ts'

/** The card routes in the OpenAPI document. */

/** Rows of a page. */
export const listMax = 200
export const listDefault = 50

const record = z
  .object({
    id: z.string(),
    status: z.enum(cardStatuses),
    amount: z.int().meta({
      description: 'What is authorized, in minor units, with its increments; 0 for a verification.',
      example: 10_000,
    }),
    requested_amount: z.int().optional().meta({
      description: 'What was asked for, where the network approved a part.',
    }),
    captured_amount: z.int().optional().meta({ description: 'The sum of its captures.' }),
    refunded_amount: z.int().optional().meta({ description: 'The sum of its refunds.' }),
    reversed_amount: z.int().optional().meta({
      description: 'What partial voids took back of the authorization.',
    }),
    currency,
    auth_code: z.string().meta({ description: 'DE 38; empty unless approved.' }),
    response_code: z.string().meta({ description: 'DE 39; empty while there is no answer.' }),
    response_message: z.string(),
    brand: z.string(),
    merchant_id: z.string(),
    terminal_id: z.string().nullable(),
    installments: z.int(),
    reference: z.string().optional().meta({ description: 'The caller’s own.' }),
    entry: z.enum(entries).optional(),
    installment_plan: z.enum(installmentPlans).optional(),
    soft_descriptor: z.string().optional(),
    eci: z.string().optional().meta({ description: 'Of the request.' }),
    network_data: z.record(z.string(), z.string()).optional().meta({
      description: 'What later messages repeat of the answer, by the names of the network’s file.',
    }),
    balances: z
      .array(
        z.object({
          kind: z.enum(['ledger', 'available']),
          account_type: z.string().meta({
            description: '00 default, 10 savings, 20 debit, 30 credit.',
          }),
          currency: z.string(),
          amount: z.int().meta({ description: 'Minor units; negative is owed.' }),
        }),
      )
      .optional()
      .meta({ description: 'What the network told of the account, DE 54.' }),
    stan: z.string().meta({ description: 'DE 11 of the authorization.' }),
    rrn: z.string().meta({ description: 'DE 37.' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    captured_at: z.iso.datetime().optional(),
    voided_at: z.iso.datetime().optional(),
    operation: z.string().optional().meta({
      description:
        'What is under way: verification, increment, capture, partial_capture, void, partial_void, release, refund, the reversal of one, such as reversing_refund, or what a network that was away has yet to hear of, such as advising_capture.',
    }),
    stand_in: z.boolean().optional().meta({
      description: 'Approved here while the network was away; auth_code is ours.',
    }),
    capture_error: z.string().optional().meta({
      description:
        'Why the last capture had no effect: declined_ and the response code, timed_out, connection_lost, answer_mismatch, answer_unreadable, not_sent, or a code of the vault.',
    }),
    void_error: z.string().optional().meta({
      description:
        'The same for the last void; undecided_ and the response code where it is repeated until the network has done it.',
    }),
    increment_error: z
      .string()
      .optional()
      .meta({ description: 'The same for the last increment.' }),
    refund_error: z.string().optional().meta({ description: 'The same for the last refund.' }),
    reason: z.string().optional().meta({
      description:
        'Why the authorization came to nothing: not_sent, timed_out, connection_lost, answer_mismatch, answer_unreadable or abandoned; or expired: nobody captured it, or all of it, in time. restored: the database is a restored copy, and what was under way waits for resolveTransaction.',
    }),
    needs_attention: z.boolean().optional().meta({
      description:
        'The network never confirmed a reversal, or the database is a restored copy: somebody has to ask the network.',
    }),
    possible_outcomes: z.array(z.enum(resolutions)).optional().meta({
      description:
        'With needs_attention: how resolveTransaction may end what is under way. While its reversal or advice is still sent, nobody can say that it was not done: 409.',
    }),
  })
  .meta({ id: 'CardTransaction' })

const cents = z
  .string()
  .regex(/^\d{1,12}$/, 'must be cents, 1 to 12 digits')
  .transform(BigInt)

const listQuery = z.strictObject({
  status: z.enum(cardStatuses).optional(),
  merchant_id: merchantId.optional(),
  reference: reference.optional(),
  rrn: z
    .string()
    .regex(/^[0-9A-Z]{12}$/)
    .optional()
    .meta({ description: 'DE 37.' }),
  stan: z
    .string()
    .regex(/^\d{6}$/)
    .optional()
    .meta({
      description: 'DE 11 of the authorization. Needs from and to, at most a day apart.',
    }),
  amount: cents.optional().meta({
    description: 'Exactly this, authorized, in cents. Needs from and to, at most a day apart.',
  }),
  amount_from: cents.optional().meta({ description: 'As `amount`, or more.' }),
  amount_to: cents.optional().meta({ description: 'As `amount`, or less.' }),
  needs_attention: z.literal('true').optional().meta({
    description: 'Only those with a reversal that the network never confirmed.',
  }),
  from: instant.optional().meta({ description: 'Created at or after.' }),
  to: instant.optional().meta({ description: 'Created before.' }),
  ...pageQuery(/^txn_[0-9a-f]{32}$/, listMax, listDefault),
})

/** Where the network is away, and its rules let it go on. */
const advised = {
  description:
    'The network is away and hears of it later: operation shows what it has yet to confirm',
  schema: record,
}

const voiding = {
  description:
    'The network has yet to do it: it is away, or says that it has not decided (such as 91). It is asked until it has',
  schema: record,
}

const networkErrors = [
  cardErrors.network_unavailable,
  cardErrors.network_timeout,
  cardErrors.vault_unavailable,
  cardErrors.card_token_not_found,
]

/** Refusals of what begins with a card. */
const cardRefusals = [
  cardErrors.invalid_card_token,
  cardErrors.invalid_currency,
  cardErrors.invalid_merchant_id,
  cardErrors.invalid_terminal_id,
  cardErrors.field_not_carried,
  cardErrors.field_needed,
  cardErrors.merchant_profile_missing,
  cardErrors.unsupported_card_range,
  cardErrors.cards_too_busy,
  ...networkErrors,
]

/** Why a transaction may not be changed. */
const changeRefusals = [
  cardErrors.transaction_not_found,
  cardErrors.invalid_amount,
  cardErrors.invalid_state,
  cardErrors.operation_not_taken,
  ...networkErrors,
]

const keyed =
  'Send an Idempotency-Key; the first answer may be a 504 too. 502 and 504 carry details.sent (whether the network may have acted) and details.transaction_id'
const description = `${keyed}; what it may have done is reversed.`

const ofAny = { id: 'listTransactions#/transactions/0/id' }
const ofStatus = (status: (typeof cardStatuses)[number]) => ({
  id: `listTransactions?status=${status}#/transactions/0/id`,
})

/** A route that does something, once for each key, and judges its body of JSON by hand. */
export const posted = {
  bodyBytesMax: 16_384,
  isBodyReadByHand: true,
  idempotent: true,
} as const

export const documents = {
  authorize: {
    ...posted,
    at: 'POST /v1/transactions/authorize',
    scope: 'cards:authorize',
    operation: 'authorizeCard',
    summary: 'Authorize a payment',
    description: `A decline is no error: 201 with the status declined. With "capture" true the key needs the scope cards:capture, too. ${description}`,
    body: { 'application/json': authorizationBody },
    responses: { 201: { description: 'Authorized, captured or declined', schema: record } },
    errors: [
      ...cardRefusals,
      cardErrors.invalid_amount,
      cardErrors.invalid_installments,
      cardErrors.invalid_capture,
    ],
  },
  verify: {
    ...posted,
    at: 'POST /v1/transactions/verify',
    scope: 'cards:authorize',
    operation: 'verifyCard',
    summary: 'Ask whether a card is good',
    description: `An authorization of nothing: no money is on hold, whatever comes. 201 with the status verified or declined. Without an answer in time the record ends voided, and 504 tells so. ${keyed}.`,
    body: { 'application/json': verificationBody },
    responses: { 201: { description: 'Verified or declined', schema: record } },
    errors: [...cardRefusals, cardErrors.operation_not_taken],
  },
  increment: {
    ...posted,
    at: 'POST /v1/transactions/{id}/increment',
    scope: 'cards:authorize',
    operation: 'incrementTransaction',
    summary: 'Raise the authorized amount',
    description: `By the given amount, as long as the authorization is not captured for good; amount is the sum. A refusal of the network is 422 with its response_code in the details; the amount is unchanged, and increment_error says why. ${description}`,
    params: idParams,
    body: { 'application/json': incrementBody },
    exampleFrom: ofStatus('authorized'),
    responses: { 200: { description: 'The transaction', schema: record } },
    errors: [...changeRefusals, cardErrors.increment_declined],
  },
  capture: {
    ...posted,
    at: 'POST /v1/transactions/{id}/capture',
    scope: 'cards:capture',
    operation: 'captureTransaction',
    summary: 'Capture what was authorized',
    description: `All that is left, or a part. With "final" false the status stays authorized, and other captures may follow, up to 50, together never more than was authorized; captured_amount is their sum, and what is captured may be refunded meanwhile. A final one, or one that leaves nothing, ends captured. A void takes all of them back. A refusal of the network is 422 with its response_code in the details; the status is unchanged, and capture_error says why. ${description}`,
    params: idParams,
    body: { 'application/json': captureBody },
    exampleFrom: ofStatus('authorized'),
    isBodyOptional: true,
    responses: { 200: { description: 'The transaction', schema: record }, 202: advised },
    errors: [...changeRefusals, cardErrors.amount_exceeds_authorized, cardErrors.capture_declined],
  },
  void: {
    ...posted,
    at: 'POST /v1/transactions/{id}/void',
    scope: 'cards:void',
    operation: 'voidTransaction',
    summary: 'Take a transaction back',
    description: `The whole, or with an amount a part of an authorization that is not captured: the network hears of the amount that stays (DE 95), and the status is unchanged, unless nothing is left beside what is captured: then it is captured. A part of what is captured is refunded instead. A refusal of the network is 422 with its response_code in the details; the status is unchanged, and void_error says why. ${keyed}; the void is repeated until the network has done it.`,
    params: idParams,
    body: { 'application/json': voidBody },
    exampleFrom: ofStatus('authorized'),
    isBodyOptional: true,
    responses: { 200: { description: 'The transaction', schema: record }, 202: voiding },
    errors: [...changeRefusals, cardErrors.amount_exceeds_authorized, cardErrors.void_declined],
  },
  refund: {
    ...posted,
    at: 'POST /v1/transactions/{id}/refund',
    scope: 'cards:refund',
    operation: 'refundTransaction',
    summary: 'Give back what was captured',
    description: `The whole or parts, as often as it takes, together never more than was captured. The status stays captured; refunded_amount is the sum. A refusal of the network is 422 with its response_code in the details, and refund_error says why. After a refund there is no void. ${description}`,
    params: idParams,
    body: { 'application/json': refundBody },
    exampleFrom: ofStatus('captured'),
    isBodyOptional: true,
    responses: { 200: { description: 'The transaction', schema: record }, 202: advised },
    errors: [...changeRefusals, cardErrors.amount_exceeds_captured, cardErrors.refund_declined],
  },
  resolve: {
    ...posted,
    at: 'POST /v1/transactions/{id}/resolve',
    scope: 'ops:admin',
    operation: 'resolveTransaction',
    summary: 'Tell how a reversal ended that no network confirmed',
    description: `For transactions with needs_attention, after asking the network. An authorization can only end voided: have the network release it first. What a restored copy has under way (reason restored) ends as the network has it; voided of an authorization, authorized of a capture or increment and captured of a refund have it reversed. A capture ends authorized (taken back), captured or partially_captured, a void voided or as the transaction was before, a partial void partially_voided or authorized, a refund refunded or captured (taken back), an increment incremented or as it was. The event "resolved" keeps outcome, reason and the API key. Needs the scope ops:admin. ${description}`,
    params: idParams,
    body: { 'application/json': resolutionBody },
    exampleFrom: { id: 'listTransactions?needs_attention=true#/transactions/0/id' },
    responses: { 200: { description: 'The transaction', schema: record } },
    errors: [
      cardErrors.transaction_not_found,
      cardErrors.invalid_outcome,
      cardErrors.invalid_reason,
      cardErrors.outcome_not_possible,
      cardErrors.invalid_state,
    ],
  },
  find: {
    at: 'GET /v1/transactions/{id}',
    scope: 'cards:read',
    operation: 'getTransaction',
    summary: 'One transaction',
    params: idParams,
    exampleFrom: ofAny,
    responses: { 200: { description: 'The transaction', schema: record } },
    errors: [cardErrors.transaction_not_found],
  },
  activity: {
    at: 'GET /v1/transactions/activity',
    scope: 'cards:read',
    operation: 'readTransactionActivity',
    summary: 'The transactions of late: how many, how fast, with what outcome',
    description: 'The time of one runs from its request to the answer of the network.',
    query: activityQuery,
    responses: { 200: { description: 'Steps and outcomes', schema: activitySchema } },
  },
  list: {
    at: 'GET /v1/transactions',
    scope: 'cards:read',
    operation: 'listTransactions',
    summary: 'Transactions, newest first',
    query: listQuery,
    responses: pageResponses('transactions', record),
  },
  events: eventsDocument,
} satisfies Readonly<Record<string, RouteContract>>
