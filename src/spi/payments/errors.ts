import { defineErrors } from '#src/platform/http/index.ts'

export const paymentErrors = defineErrors({
  payment_not_refundable: {
    status: 409,
    title: 'Payment not refundable',
    meaning:
      'The payment was not received here, or nothing says that it is settled; `payment_status` tells what is known.',
    remedy:
      'Give back only what was received. While the payment is pending, repeat the request later.',
    pt: {
      title: 'Pagamento não devolvível',
      meaning:
        'O pagamento não foi recebido aqui, ou nada diz que foi liquidado; `payment_status` diz o que se sabe.',
      remedy:
        'Devolva somente o que foi recebido. Enquanto o pagamento estiver pendente, repita a requisição mais tarde.',
    },
    retryable: true,
  },
  refund_exceeds_payment: {
    status: 409,
    title: 'Refund exceeds the payment',
    meaning:
      'More would be given back than was paid. `refundable` tells what is left; a return that has no answer yet holds its amount.',
    remedy: 'Read the payment and its returns, and refund no more than what is left.',
    pt: {
      title: 'Devolução maior que o pagamento',
      meaning:
        'Seria devolvido mais do que foi pago. `refundable` diz o que resta; uma devolução ainda sem resposta retém o seu valor.',
      remedy: 'Leia o pagamento e as suas devoluções, e não devolva mais do que resta.',
    },
  },
  refund_deadline_passed: {
    status: 409,
    title: 'Too late for a refund',
    meaning: 'More than 90 days have passed since the settlement: the SPI would refuse it (DT05).',
    remedy: 'Agree on a new payment.',
    pt: {
      title: 'Prazo de devolução esgotado',
      meaning: 'Passaram mais de 90 dias da liquidação: o SPI recusaria (DT05).',
      remedy: 'Combine um novo pagamento.',
    },
  },
  payee_differs: {
    status: 422,
    title: 'Somebody else would be paid',
    meaning: 'Who would be paid is not whom creditor_document names. Nothing was paid.',
    remedy: 'Ask the payer, and leave creditor_document out or correct it.',
    pt: {
      title: 'Outra pessoa seria paga',
      meaning: 'Quem receberia não é quem creditor_document indica. Nada foi pago.',
      remedy: 'Pergunte ao pagador, e retire ou corrija creditor_document.',
    },
  },
  amount_differs: {
    status: 422,
    title: 'The code asks for another amount',
    meaning: 'The code asks for `amount`, which the payer may not change. Nothing was paid.',
    remedy: 'Leave amount out, or ask for what the code says.',
    pt: {
      title: 'O código pede outro valor',
      meaning: 'O código pede `amount`, que o pagador não pode mudar. Nada foi pago.',
      remedy: 'Retire amount, ou peça o que o código diz.',
    },
  },
  too_many_payment_messages: {
    status: 409,
    title: 'Too many messages of one payment',
    meaning: 'So many messages name the payment that its returns are not added up any more.',
    remedy: 'Read them with GET /v1/messages/e2e/{endToEndId}.',
    pt: {
      title: 'Mensagens demais de um pagamento',
      meaning: 'Tantas mensagens nomeiam o pagamento que as suas devoluções não são mais somadas.',
      remedy: 'Leia-as com GET /v1/messages/e2e/{endToEndId}.',
    },
  },
})
