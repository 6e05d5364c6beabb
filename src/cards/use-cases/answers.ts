import { dialects } from '#codecs/iso8583'
import {
  type Answer,
  ApiError,
  type ErrorDefinition,
  httpErrors,
} from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import type { CardEventRow } from '../transactions/card-events.ts'
import { currencyLetters } from '../transactions/domain.ts'
import { possibleResolutions } from '../transactions/resolutions.ts'
import { responseMessageOf } from '../transactions/response-messages.ts'
import { type CardTransaction, shownAuthCode } from '../transactions/store.ts'
import type { Verdict } from './exchange.ts'

/** The record that every operation shows, without members that have no value yet. */
export const transactionView = (transaction: CardTransaction) => {
  const { responseCode = '' } = transaction
  return {
    id: transaction.id,
    status: transaction.status,
    amount: Number(transaction.amountCents),
    requested_amount: amountOf(transaction.requestedCents),
    ...(transaction.capturedCents === undefined
      ? {}
      : { captured_amount: Number(transaction.capturedCents) }),
    refunded_amount: amountOf(transaction.refundedCents),
    reversed_amount: amountOf(transaction.reversedCents),
    currency: transaction.currency,
    auth_code: shownAuthCode(transaction) ?? '',
    response_code: responseCode,
    response_message: responseCode === '' ? '' : responseMessageOf(responseCode),
    brand: transaction.brand,
    merchant_id: transaction.merchantId,
    terminal_id: transaction.terminalId ?? null,
    installments: transaction.installments,
    ...detailsOf(transaction),
    stan: transaction.stan,
    rrn: transaction.rrn,
    created_at: transaction.createdAt.toISOString(),
    updated_at: transaction.updatedAt.toISOString(),
    captured_at: transaction.capturedAt?.toISOString(),
    voided_at: transaction.voidedAt?.toISOString(),
    operation: transaction.operation,
    stand_in: transaction.standIn,
    increment_error: transaction.incrementError,
    capture_error: transaction.captureError,
    void_error: transaction.voidError,
    refund_error: transaction.refundError,
    reason: transaction.reason,
    needs_attention: transaction.needsAttention || undefined,
    possible_outcomes: transaction.needsAttention ? possibleResolutions(transaction) : undefined,
  }
}

const amountOf = (cents: bigint | undefined): number | undefined =>
  cents === undefined ? undefined : Number(cents)

/** Fields that only some payments have. */
const detailsOf = ({ reference, details }: CardTransaction) =>
  details === undefined
    ? { reference }
    : {
        reference,
        entry: details.entry,
        installment_plan: details.installmentPlan,
        soft_descriptor: details.softDescriptor,
        eci: details.eci,
        network_data: details.kept,
        balances: details.balances?.map(({ account, kind, currency, cents }) => ({
          kind,
          account_type: account,
          currency: currencyLetters(currency) ?? currency,
          amount: cents,
        })),
      }

export const eventViewOf = ({ id, type, data, messages, at }: CardEventRow) => ({
  id: String(id),
  type,
  at: at.toISOString(),
  data,
  messages: (messages ?? []).map(({ mti, fields }) => ({
    mti,
    // Names such as `112` count as indexes, and come before `002`.
    fields: Object.entries(fields)
      .map(([de, value]) => ({ de: Number(de), name: nameOf(de), value }))
      .sort((a, b) => a.de - b.de),
  })),
})

/** The names of version 1987 are those of every dialect that the gateway speaks. */
const nameOf = (de: string): string => dialects['ascii']?.fields[Number(de)]?.name ?? ''

export const answerOf = (status: number, transaction: CardTransaction): Answer => ({
  status,
  body: JSON.stringify(transactionView(transaction)),
})

/** A failure at the network: whether it may have acted, and on which transaction. */
const failureOf = (
  { status, code }: ErrorDefinition,
  message: string,
  details: {
    readonly sent: boolean
    readonly transaction_id: string
    readonly reason: string
    readonly [more: string]: string | boolean
  },
): Answer => ({
  status,
  body: JSON.stringify({
    error: { code: code.toUpperCase(), message, details: { field: null, value: null, ...details } },
  }),
})

const refused = {
  increment: {
    definition: cardErrors.increment_declined,
    message: 'The card network declined the increment.',
  },
  capture: {
    definition: cardErrors.capture_declined,
    message: 'The card network declined the capture.',
  },
  partial_capture: {
    definition: cardErrors.capture_declined,
    message: 'The card network declined the capture.',
  },
  void: { definition: cardErrors.void_declined, message: 'The card network declined the void.' },
  partial_void: {
    definition: cardErrors.void_declined,
    message: 'The card network declined the partial void.',
  },
  release: {
    definition: cardErrors.void_declined,
    message: 'The card network declined the void of what is left.',
  },
  refund: {
    definition: cardErrors.refund_declined,
    message: 'The card network declined the refund.',
  },
} as const

/** The answer to an operation that the network refused: a record in a 2xx would say that it was done. */
export const refusalOf = (
  operation: keyof typeof refused,
  { id, status }: CardTransaction,
  responseCode: string,
): Answer => {
  const { definition, message } = refused[operation]
  return failureOf(definition, message, {
    sent: true,
    transaction_id: id,
    reason: `declined_${responseCode}`,
    status,
    response_code: responseCode,
    response_message: responseMessageOf(responseCode),
  })
}

/** The answer of a request whose outcome nobody knows. */
export const unknownAnswer = (
  transactionId: string,
  { why }: Extract<Verdict, { kind: 'unknown' }>,
  follows: string,
): Answer => {
  const details = { sent: true, transaction_id: transactionId, reason: why }
  return why === 'timed_out'
    ? failureOf(
        cardErrors.network_timeout,
        `The card network did not answer in time; ${follows}.`,
        details,
      )
    : failureOf(
        cardErrors.network_unavailable,
        why === 'connection_lost'
          ? `The connection to the card network was lost; ${follows}.`
          : why === 'answer_unreadable'
            ? `The answer of the card network cannot be read; ${follows}.`
            : `The answer of the card network does not belong to the request; ${follows}.`,
        details,
      )
}

export const notSentAnswer = (transactionId: string, why: string): Answer =>
  failureOf(cardErrors.network_unavailable, 'Nothing could be sent to the card network.', {
    sent: false,
    transaction_id: transactionId,
    reason: why,
  })

/** The network has acted, but its answer could not be written: a sweep will reverse it. */
export const unwritten = (transactionId: string, cause: unknown): ApiError =>
  new ApiError(httpErrors.unavailable, 'The answer of the card network could not be written.', {
    details: { field: null, value: null, sent: true, transaction_id: transactionId },
    cause,
  })
