import type { Route } from '#src/platform/http/index.ts'
import { emptyBody } from '../disputes/documents.ts'
import { bodyAs, disputeRoutes } from '../disputes/routes.ts'
import { refundDocuments as documents, newRefund, refundClosing } from './documents.ts'
import { noFindings } from './domain.ts'
import type { RefundService } from './service.ts'
import { refundView, refundWithReturnView } from './view.ts'

/** Refund requests of the directory of Pix keys. */
export const refundRoutes = (
  service: Pick<RefundService, 'ask' | 'act' | 'find' | 'list' | 'returnOf'>,
): readonly Route[] =>
  disputeRoutes(service, {
    member: 'refunds',
    documents,
    ask: bodyAs(newRefund, ({ transaction_id: transactionId, reason, amount, details = null }) => {
      const content = { ...noFindings, amountCents: String(amount), details }
      return { transactionId, reason, content }
    }),
    acts: [
      {
        document: documents.close,
        wish: bodyAs(refundClosing, ({ result, amount, ...body }) => {
          const { analysis = null, rejection_reason: rejectionReason = null } = body
          const amountCents = amount === undefined ? null : String(amount)
          return { act: 'close', analysis: { result, amountCents, analysis, rejectionReason } }
        }),
      },
      {
        document: documents.cancel,
        wish: bodyAs(emptyBody, () => ({ act: 'cancel' })),
      },
    ],
    view: refundView,
    show: async (refund) => refundWithReturnView(refund, await service.returnOf(refund)),
  })
