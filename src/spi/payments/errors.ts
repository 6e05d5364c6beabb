import { defineErrors } from '#src/platform/http/index.ts'

export const paymentErrors = defineErrors({
  payment_not_refundable: {
    status: 409,
    title: 'Payment not refundable',
    meaning:
      'The payment was not received here, nothing says that it is settled, or its message does not say who paid; `payment_status` tells what is known.',
    remedy:
      'Give back only what was received. While the payment is pending, repeat the request later.',
    retryable: true,
  },
  refund_exceeds_payment: {
    status: 409,
    title: 'Refund exceeds the payment',
    meaning:
      'More would be given back than was paid. `refundable` tells what is left; a return that has no answer yet holds its amount.',
    remedy: 'Read the payment and its returns, and refund no more than what is left.',
  },
  refund_deadline_passed: {
    status: 409,
    title: 'Too late for a refund',
    meaning: 'More than 90 days have passed since the settlement: the SPI would refuse it (DT05).',
    remedy: 'Agree on a new payment.',
  },
  payee_differs: {
    status: 422,
    title: 'Somebody else would be paid',
    meaning: 'Who would be paid is not whom creditor_document names. Nothing was paid.',
    remedy: 'Ask the payer, and leave creditor_document out or correct it.',
  },
  amount_differs: {
    status: 422,
    title: 'The code asks for another amount',
    meaning: 'The code asks for `amount`, which the payer may not change. Nothing was paid.',
    remedy: 'Leave amount out, or ask for what the code says.',
  },
  too_many_payment_messages: {
    status: 409,
    title: 'Too many messages of one payment',
    meaning: 'So many messages name the payment that its returns are not added up any more.',
    remedy: 'Read them with GET /v1/messages/e2e/{endToEndId}.',
  },
})
