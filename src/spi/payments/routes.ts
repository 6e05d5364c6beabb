import {
  ApiError,
  away,
  type ErrorDefinition,
  httpErrors,
  type Route,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { documents } from './documents.ts'
import type { Pay } from './outgoing.ts'
import { payDocument } from './outgoing-documents.ts'
import { noPayment, type PaymentRecord, type PaymentService } from './service.ts'
import { paymentView, refundView } from './views.ts'

/** Payments are the institution's, like the messages that tell of them: every account with the scope sees them. */
export const paymentRoutes = (
  service: PaymentService,
  pay: Pay,
  payeeErrors: readonly ErrorDefinition[],
): readonly Route[] => {
  const found = async (endToEndId: string): Promise<PaymentRecord> => {
    const record = await service.find(endToEndId)
    if (record === undefined) throw noPayment()
    return record
  }
  return [
    route(
      { ...payDocument, errors: [...payDocument.errors, ...payeeErrors] },
      async ({ body, caller, c }) => respond(await pay(body, caller, (wait) => away(c, wait))),
    ),
    route(documents.find, async ({ params }) => {
      const { payment, messages } = await found(params.endToEndId)
      return Response.json(paymentView(payment, messages))
    }),
    route(documents.refunds, async ({ params: { endToEndId } }) => {
      const { payment } = await found(endToEndId)
      return Response.json({
        refunds: payment.returns.map((one) => refundView(endToEndId, one)),
      })
    }),
    route(documents.refund, async ({ params: { endToEndId, refundId } }) => {
      const { payment } = await found(endToEndId)
      const one = payment.returns.find(({ id }) => id === refundId)
      if (one === undefined) throw new ApiError(httpErrors.not_found, 'No such refund.')
      return Response.json(refundView(endToEndId, one))
    }),
    route(documents.create, async ({ params: { endToEndId }, body, caller }) => {
      const request = {
        amountCents: body.amount,
        reason: body.reason,
        additionalInformation: body.additional_information,
        remittanceInformation: body.remittance_information,
      }
      return respond(await service.refund(endToEndId, request, caller))
    }),
  ]
}
