import {
  ApiError,
  away,
  callerOf,
  httpErrors,
  type Route,
  readJson,
  readParams,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { documents, paymentParams, refundBody, refundParams } from './documents.ts'
import type { Pay } from './outgoing.ts'
import { payBody, payDocument } from './outgoing-documents.ts'
import { noPayment, type PaymentRecord, type PaymentService } from './service.ts'
import { paymentView, refundView } from './views.ts'

const bodyBytesMax = 16_384

/** Payments are the institution's, like the messages that tell of them: every account with the scope sees them. */
export const paymentRoutes = (service: PaymentService, pay: Pay): readonly Route[] => {
  const found = async (endToEndId: string): Promise<PaymentRecord> => {
    const record = await service.find(endToEndId)
    if (record === undefined) throw noPayment()
    return record
  }
  return [
    route('POST /v1/pix/payments', 'spi:send', payDocument, { bodyBytesMax }, async (c) => {
      const body = await readJson(c, payBody)
      return respond(await pay(body, callerOf(c), (wait) => away(c, wait)))
    }),
    route('GET /v1/pix/payments/{endToEndId}', 'messages:read', documents.find, async (c) => {
      const { payment, messages } = await found(readParams(c, paymentParams).endToEndId)
      return Response.json(paymentView(payment, messages))
    }),
    route(
      'GET /v1/pix/payments/{endToEndId}/refunds',
      'messages:read',
      documents.refunds,
      async (c) => {
        const { endToEndId } = readParams(c, paymentParams)
        const { payment } = await found(endToEndId)
        return Response.json({
          refunds: payment.returns.map((one) => refundView(endToEndId, one)),
        })
      },
    ),
    route(
      'GET /v1/pix/payments/{endToEndId}/refunds/{refundId}',
      'messages:read',
      documents.refund,
      async (c) => {
        const { endToEndId, refundId } = readParams(c, refundParams)
        const { payment } = await found(endToEndId)
        const one = payment.returns.find(({ id }) => id === refundId)
        if (one === undefined) throw new ApiError(httpErrors.not_found, 'No such refund.')
        return Response.json(refundView(endToEndId, one))
      },
    ),
    route(
      'POST /v1/pix/payments/{endToEndId}/refunds',
      'spi:send',
      documents.create,
      { bodyBytesMax },
      async (c) => {
        const { endToEndId } = readParams(c, paymentParams)
        const body = await readJson(c, refundBody)
        const request = {
          amountCents: body.amount,
          reason: body.reason,
          additionalInformation: body.additional_information,
          remittanceInformation: body.remittance_information,
        }
        return respond(await service.refund(endToEndId, request, callerOf(c)))
      },
    ),
  ]
}
