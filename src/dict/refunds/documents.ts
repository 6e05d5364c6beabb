import { z } from 'zod'
import { refundReasons, refundRejectionReasons, refundResults } from '#codecs/dict'
import {
  disputeMembers,
  documentsOf,
  prose,
  refuseIn,
  transactionId,
} from '../disputes/documents.ts'
import { dictErrors } from '../errors.ts'

/** What the directory can say, below what a number of JSON has exactly. */
const centsMax = 999_999_999_999_999
const cents = z.int().min(1).max(centsMax).meta({ description: 'In cents.', example: 1_000 })

export const newRefund = z
  .strictObject({
    transaction_id: transactionId,
    reason: z.enum(refundReasons).meta({
      description: 'FRAUD needs an infraction report that the other institution has agreed to.',
    }),
    amount: cents,
    details: prose.optional().meta({ description: 'Needed of OPERATIONAL_FLAW.' }),
  })
  .meta({
    example: { transaction_id: 'E1234567820261120120000000000001', reason: 'FRAUD', amount: 1_000 },
  })
  .superRefine(({ reason, details }, context) => {
    if (reason === 'OPERATIONAL_FLAW' && details === undefined) {
      refuseIn(context)('details', 'required', 'is missing')
    }
  })

export const refundClosing = z
  .strictObject({
    result: z.enum(refundResults),
    amount: cents.optional().meta({
      description: 'With PARTIALLY_ACCEPTED: in cents, less than what is asked for.',
    }),
    rejection_reason: z
      .enum(refundRejectionReasons)
      .optional()
      .meta({ description: 'With REJECTED.' }),
    analysis: prose.optional().meta({ description: 'Needed of INVALID_REQUEST.' }),
  })
  .meta({ example: { result: 'REJECTED', rejection_reason: 'NO_BALANCE' } })
  .superRefine(({ result, amount, rejection_reason: reason, analysis }, context) => {
    const refuse = refuseIn(context)
    const demand = (path: string, isThere: boolean, isNeeded: boolean): void => {
      if (isNeeded && !isThere) refuse(path, 'required', 'is missing')
      if (!isNeeded && isThere) refuse(path, 'forbidden', `is not of ${result}`)
    }
    demand('amount', amount !== undefined, result === 'PARTIALLY_ACCEPTED')
    demand('rejection_reason', reason !== undefined, result === 'REJECTED')
    if (reason === 'INVALID_REQUEST' && analysis === undefined) {
      refuse('analysis', 'required', 'is missing')
    }
  })

const refund = z
  .object({
    ...disputeMembers,
    amount: z.string().meta({ description: 'Reais with two decimals, as asked for.' }),
    rejection_reason: z.string().nullable(),
    funds_recovery_id: z.string().nullable(),
    return_id: z.string().nullable().meta({ description: 'RtrId of the return that answers it.' }),
    returned_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'Of one that we asked for: when the return was found here.' }),
  })
  .meta({ id: 'RefundRequest' })

const refundWithReturn = refund
  .extend({
    return: z
      .object({
        id: z.string(),
        amount: z.string(),
        refusal: z.string().nullable(),
        status: z.enum(['pending', 'settled', 'rejected', 'failed', 'unknown']),
      })
      .nullable()
      .meta({ description: 'As `GET /v1/pix/payments/{endToEndId}` has it; null: not here.' }),
  })
  .meta({ id: 'RefundRequestWithReturn' })

const { actOn, ...documents } = documentsOf(
  {
    base: '/v1/dict/refunds',
    item: refund,
    shown: refundWithReturn,
    member: 'refunds',
    body: newRefund,
    asked:
      'The directory has not answered, or the return is not settled: both are seen to until they are.',
  },
  {
    create: {
      operation: 'createRefundRequest',
      summary: 'Ask for a payment of ours back',
      description:
        'Stored before the directory is told, and told again until it answers, also after a restart: one request is made. The event `dict.refund.returned` tells that the money has come.',
    },
    list: {
      operation: 'listRefundRequests',
      summary: 'Refund requests that we are a party of, newest first',
    },
    find: { operation: 'getRefundRequest', summary: 'A refund request, with its return' },
  },
)

export const refundDocuments = {
  ...documents,
  close: actOn(
    'close',
    {
      operation: 'closeRefundRequest',
      summary: 'Give the payment back, in whole or in part, or say why not',
      description: [
        'By the institution that is asked. What is accepted goes back as a return (pacs.004: FR01 of FRAUD, BE08 of OPERATIONAL_FLAW) within what is left of the payment, made in the same transaction as the answer; the directory is told once the return is settled, with its RtrId. A return that is refused leaves the request open.',
        'Accepting moves money, and needs the scope `spi:send` besides.',
      ].join('\n\n'),
    },
    refundClosing,
    [dictErrors.dict_return_impossible],
  ),
  cancel: actOn('cancel', {
    operation: 'cancelRefundRequest',
    summary: 'Cancel a request of ours that is not closed',
  }),
}
