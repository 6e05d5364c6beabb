import { formatCents } from '#codecs/iso20022'
import { callerOf, type Route, readJson } from '#src/platform/http/index.ts'
import { emptyBody } from '../disputes/documents.ts'
import { advanced, idOf, pageOfDisputes, sharedView, writing } from '../disputes/routes.ts'
import { amountOf } from './amounts.ts'
import { refundDocuments as documents, newRefund, refundClosing } from './documents.ts'
import type { Refund } from './domain.ts'
import type { RefundService } from './service.ts'

const base = '/v1/dict/refunds'

/** Refund requests of the directory of Pix keys. */
export const refundRoutes = (service: RefundService): readonly Route[] => [
  {
    ...{ ...writing, path: base, document: documents.create },
    handle: async (c) => {
      const {
        transaction_id: transactionId,
        reason,
        amount,
        details,
      } = await readJson(c, newRefund)
      const wanted = {
        transactionId,
        reason,
        amountCents: BigInt(amount),
        details: details ?? null,
      }
      return advanced(await service.request(wanted, callerOf(c)), 201, refundView)
    },
  },
  {
    ...{ method: 'GET', path: base, scope: 'dict:read', document: documents.list },
    handle: async (c) => {
      const { items, next } = await pageOfDisputes(c, service.list)
      return Response.json({ refunds: items.map(refundView), next_cursor: next })
    },
  },
  {
    ...{ method: 'GET', path: `${base}/{id}`, scope: 'dict:read', document: documents.find },
    handle: async (c) => {
      const refund = await service.find(idOf(c))
      const made = await service.returnOf(refund)
      return Response.json({
        ...refundView(refund),
        return: made === undefined ? null : returnView(made),
      })
    },
  },
  {
    ...{ ...writing, path: `${base}/{id}/close`, document: documents.close },
    handle: async (c) => {
      const { result, amount, ...body } = await readJson(c, refundClosing)
      const analysis = {
        ...{ result, amountCents: amount === undefined ? null : String(amount) },
        ...{ analysis: body.analysis ?? null, rejectionReason: body.rejection_reason ?? null },
      }
      return advanced(await service.close(idOf(c), analysis, callerOf(c)), 200, refundView)
    },
  },
  {
    ...{ ...writing, path: `${base}/{id}/cancel`, document: documents.cancel },
    handle: async (c) => {
      await readJson(c, emptyBody)
      return advanced(await service.cancel(idOf(c), callerOf(c)), 200, refundView)
    },
  },
]

const refundView = ({ content, ...refund }: Refund) => ({
  ...sharedView({ ...refund, content }),
  ...{ details: content.details, result: content.result, analysis: content.analysis },
  ...{ amount: amountOf(content.amountCents), rejection_reason: content.rejectionReason },
  ...{ funds_recovery_id: content.recoveryId, return_id: refund.returnId },
  returned_at: refund.returnedAt?.toISOString() ?? null,
})

const returnView = ({
  id,
  amountCents,
  outcome,
  refusal,
}: NonNullable<Awaited<ReturnType<RefundService['returnOf']>>>) => ({
  ...{ id, amount: formatCents(amountCents), status: outcome, refusal },
})
