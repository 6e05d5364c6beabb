import { buildMessage, formatCents } from '#codecs/iso20022'
import type { Queryable } from '#src/platform/database/index.ts'
import {
  type Actor,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  invalid,
  refusedValue,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import { enqueueMessages, momentOf } from '../messages/index.ts'
import { readDocument } from '../messages/queries.ts'
import { faultsInParams } from '../messages/value-rules.ts'
import { outboundOf } from '../out/send/outbound.ts'
import { random } from '../random.ts'
import type { Sending } from '../sending.ts'
import { cashOf } from './cash.ts'
import {
  type Payment,
  type PaymentMessage,
  type PaymentReturn,
  paymentOf,
  refundableFor,
  returnDeadline,
} from './domain.ts'
import { paymentErrors } from './errors.ts'
import { lockPayment, messagesOfPayment, paymentMessagesMax } from './store.ts'
import { refundView } from './views.ts'

type RefundRequest = {
  readonly amountCents: number
  /** One of the codes of pacs.004. */
  readonly reason: string
  readonly additionalInformation: string | undefined
  readonly remittanceInformation: string | undefined
}

/** A payment with the messages that tell of it. */
export type PaymentRecord = {
  readonly payment: Payment
  readonly messages: readonly PaymentMessage[]
}

/**
 * Whoever knows what receivers were paid learns of the returns of it, in their transaction: before the payment is locked,
 * and once the return is made.
 */
export type NoteReturn = (
  tx: Queryable,
  endToEndId: string,
) => Promise<
  (made: {
    /** RtrId. */
    readonly id: string
    readonly amountCents: bigint
    readonly reason: string
    readonly description: string | undefined
    readonly at: Date
  }) => Promise<void>
>

export type PaymentService = ReturnType<typeof createPaymentService>

export type PaymentDeps = Sending & {
  readonly now: () => Date
  /** Undefined: who has returns made notes them himself, or there is nobody to tell. */
  readonly noteReturn: NoteReturn | undefined
}

/** For a feature that gives money back in a transaction of its own. */
export type Refunds = {
  /**
   * Judges and queues the return of a received payment.
   *
   * @returns RtrId
   * @throws ApiError as {@link paymentErrors}, 404 and 400
   */
  readonly refundWithin: (
    tx: Queryable,
    endToEndId: string,
    request: RefundRequest,
    actor: Actor,
  ) => Promise<string>
  /** The returns that the receiver of a payment made; empty for a payment that we do not have. */
  readonly returnsOf: (sql: Queryable, endToEndId: string) => Promise<readonly PaymentReturn[]>
}

export const createRefundsOn = (deps: PaymentDeps): Refunds => ({
  refundWithin: async (tx, endToEndId, request, actor) =>
    (await refundPayment(tx, endToEndId, request, actor, deps)).made.id,
  returnsOf: async (sql, endToEndId) => (await findPayment(sql, endToEndId))?.payment.returns ?? [],
})

/**
 * Payments with their returns, and the returns that this institution makes. A refund is one transaction: the payment
 * is locked, its returns are added up, the pacs.004 is stored and queued, and the Idempotency-Key gets its answer. So of
 * requests that come together, each sees what the one before it holds.
 */
export const createPaymentService = (deps: PaymentDeps) => ({
  /** @returns undefined if no payment has the id */
  find: (endToEndId: string) => findPayment(deps.sql, endToEndId),
  /** @throws ApiError as {@link paymentErrors}, 404 and 400 */
  refund: (endToEndId: string, request: RefundRequest, caller: Caller) =>
    runOnce(deps.sql, caller.idempotencyKey, async (tx) => {
      const { made } = await refundPayment(tx, endToEndId, request, actorOf(caller), deps)
      return { status: 202, body: JSON.stringify(refundView(endToEndId, made)) }
    }),
})

const refundPayment = async (
  tx: Queryable,
  endToEndId: string,
  request: RefundRequest,
  actor: Actor,
  deps: PaymentDeps,
): Promise<{ readonly made: PaymentReturn }> => {
  const found = await findPayment(tx, endToEndId)
  if (found === undefined) throw noPayment()
  const note = await deps.noteReturn?.(tx, endToEndId)
  await lockPayment(tx, found.payment)
  const locked = (await findPayment(tx, endToEndId)) ?? found
  await judge(tx, locked.payment, request, deps.now())
  const made = await makeReturn(tx, locked.payment, request, actor, deps)
  const { reason, remittanceInformation: description } = request
  await note?.({ ...made, reason, description, at: momentOf(made.messageId) })
  return { made }
}

export const noPayment = (): ApiError => new ApiError(httpErrors.not_found, 'No such payment.')

const findPayment = async (
  sql: Queryable,
  endToEndId: string,
): Promise<PaymentRecord | undefined> => {
  const messages = await messagesOfPayment(sql, endToEndId)
  if (messages.length > paymentMessagesMax) {
    throw new ApiError(
      paymentErrors.too_many_payment_messages,
      `More than ${paymentMessagesMax} messages name the payment.`,
    )
  }
  const payment = paymentOf(endToEndId, messages, momentOf)
  return payment === undefined ? undefined : { payment, messages }
}

/** @throws ApiError if the payment does not allow the return */
const judge = async (
  tx: Queryable,
  payment: Payment,
  { amountCents, reason }: RefundRequest,
  now: Date,
): Promise<void> => {
  const { direction, outcome, endedAt } = payment
  if (direction === 'OUTBOUND' || outcome !== 'settled' || endedAt === null) {
    throw new ApiError(
      paymentErrors.payment_not_refundable,
      direction === 'OUTBOUND'
        ? 'The payment was made by this institution: who was paid gives it back.'
        : 'Nothing says that the payment is settled.',
      { details: { payment_status: outcome } },
    )
  }
  if (payment.debtorIspb === null) {
    const message = 'Its message does not say which institution paid.'
    throw new ApiError(paymentErrors.payment_not_refundable, message, {
      details: { payment_status: outcome },
    })
  }
  const deadline = returnDeadline(endedAt)
  if (now > deadline) {
    throw new ApiError(
      paymentErrors.refund_deadline_passed,
      `The payment could be returned until ${deadline.toISOString()}.`,
      { details: { refundable_until: deadline.toISOString() } },
    )
  }
  const document = await readDocument(tx, payment.messageId)
  const cash = document === undefined ? undefined : cashOf(document, payment.endToEndId)
  const refundable = refundableFor(reason, payment, cash)
  if (refundable === undefined) {
    const message = 'gives back cash, and the payment is no Pix Saque or Pix Troco'
    throw invalid([{ pointer: '/reason', rule: 'purpose', message }])
  }
  if (BigInt(amountCents) > refundable) {
    throw new ApiError(
      paymentErrors.refund_exceeds_payment,
      `At most ${formatCents(refundable)} can be given back for this reason.`,
      { details: { refundable: formatCents(refundable) } },
    )
  }
}

const makeReturn = async (
  tx: Queryable,
  payment: Payment,
  request: RefundRequest,
  actor: Actor,
  { broker, ispb, revision, now }: PaymentDeps,
): Promise<PaymentReturn> => {
  const { additionalInformation, remittanceInformation } = request
  const at = now()
  const build = buildMessage(
    'PACS004',
    {
      original_end_to_end_id: payment.endToEndId,
      amount: request.amountCents,
      return_reason: request.reason,
      additional_information: additionalInformation,
      remittance_information: remittanceInformation,
      returning_ispb: payment.creditorIspb,
      receiving_ispb: payment.debtorIspb,
    },
    { ispb, nowMs: at.getTime(), random, revision },
  )
  if (!build.ok) throw invalid(build.problems)
  const faults = faultsInParams({
    additional_information: additionalInformation,
    remittance_information: remittanceInformation,
  })
  if (faults.length > 0) throw refusedValue(faults)
  const message = outboundOf(build.message, { ispb, channel: 'PRIMARY' })
  const [transaction] = message.transactions
  await enqueueMessages(tx, broker, [message])
  await writeAudit(tx, { actor, action: 'spi.refund', object: message.id, outcome: 'queued' })
  return {
    id: transaction?.instructionId ?? '',
    direction: 'OUTBOUND',
    messageId: message.id,
    amountCents: BigInt(request.amountCents),
    reason: request.reason,
    outcome: 'pending',
    refusal: null,
    endedAt: null,
  }
}
