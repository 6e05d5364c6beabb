import { defineErrors } from '#src/platform/http/index.ts'

/** Errors of cards, beside those every feature shares; shown in capitals. */
export const cardErrors = defineErrors({
  invalid_amount: {
    status: 400,
    title: 'Invalid amount',
    meaning: 'The amount is no whole number of cents from 1 to 999999999999.',
    remedy: 'Send the amount in minor units, as a JSON number.',
    pt: {
      title: 'Valor inválido',
      meaning: 'O valor não é um número inteiro de centavos de 1 a 999999999999.',
      remedy: 'Envie o valor em centavos, como número JSON.',
    },
  },
  invalid_currency: {
    status: 400,
    title: 'Invalid currency',
    meaning: 'The currency is neither BRL nor USD.',
    remedy: 'Send one of the two.',
    pt: {
      title: 'Moeda inválida',
      meaning: 'A moeda não é BRL nem USD.',
      remedy: 'Envie uma das duas.',
    },
  },
  invalid_merchant_id: {
    status: 400,
    title: 'Invalid merchant',
    meaning: 'The merchant is missing, or no text of 1 to 15 printable ASCII characters.',
    remedy: 'Send the identifier that the acquirer gave the merchant.',
    pt: {
      title: 'Estabelecimento inválido',
      meaning: 'O estabelecimento falta, ou não é um texto de 1 a 15 caracteres ASCII imprimíveis.',
      remedy: 'Envie o identificador que o adquirente deu ao estabelecimento.',
    },
  },
  invalid_terminal_id: {
    status: 400,
    title: 'Invalid terminal',
    meaning: 'The terminal is no text of 1 to 8 printable ASCII characters.',
    remedy: 'Send the identifier of the terminal, or leave it out.',
    pt: {
      title: 'Terminal inválido',
      meaning: 'O terminal não é um texto de 1 a 8 caracteres ASCII imprimíveis.',
      remedy: 'Envie o identificador do terminal, ou omita-o.',
    },
  },
  invalid_installments: {
    status: 400,
    title: 'Invalid installments',
    meaning:
      'The number of installments is no whole number from 1 to 12, or the network of the card takes none.',
    remedy: 'Send a number of this range, or leave it out for a single payment.',
    pt: {
      title: 'Parcelas inválidas',
      meaning:
        'O número de parcelas não é um inteiro de 1 a 12, ou a rede do cartão não aceita parcelas.',
      remedy: 'Envie um número desse intervalo, ou omita-o para um pagamento à vista.',
    },
  },
  field_not_carried: {
    status: 422,
    title: 'Field not carried',
    meaning:
      'The messages to the network of this card have no place for a field of the request, or none for this value of it. Nothing was sent.',
    remedy: 'Leave the field out, or have the content of the network’s file changed.',
    pt: {
      title: 'Campo não transportado',
      meaning:
        'As mensagens à rede deste cartão não têm lugar para um campo da requisição, ou não para este valor. Nada foi enviado.',
      remedy: 'Omita o campo, ou peça que o conteúdo do arquivo da rede seja alterado.',
    },
  },
  field_needed: {
    status: 422,
    title: 'Field needed',
    meaning: 'The network of this card needs something that the request or the vault did not give.',
    remedy: 'Send the field that details.field names.',
    pt: {
      title: 'Falta um campo',
      meaning: 'A rede deste cartão precisa de algo que a requisição ou o cofre não deu.',
      remedy: 'Envie o campo que details.field indica.',
    },
  },
  merchant_profile_missing: {
    status: 422,
    title: 'Merchant profile missing',
    meaning: 'The network of this card needs the category, name or city of the merchant.',
    remedy: 'Enter the merchant in the file of CARDGW_MERCHANTS_FILE, and start again.',
    pt: {
      title: 'Falta o perfil do estabelecimento',
      meaning: 'A rede deste cartão precisa da categoria, do nome ou da cidade do estabelecimento.',
      remedy: 'Inclua o estabelecimento no arquivo de CARDGW_MERCHANTS_FILE, e reinicie.',
    },
  },
  invalid_card_token: {
    status: 400,
    title: 'Invalid card token',
    meaning: 'The token is missing, too long, has blanks, or is a card number itself.',
    remedy: 'Send the token of the vault; never send a card number.',
    pt: {
      title: 'Token de cartão inválido',
      meaning: 'O token falta, é longo demais, tem espaços ou é um número de cartão.',
      remedy: 'Envie o token do cofre; nunca envie um número de cartão.',
    },
  },
  invalid_capture: {
    status: 400,
    title: 'Invalid capture flag',
    meaning: 'The value of capture is neither true nor false.',
    remedy: 'Send a JSON boolean, or leave it out.',
    pt: {
      title: 'Indicador de captura inválido',
      meaning: 'O valor de capture não é true nem false.',
      remedy: 'Envie um booleano JSON, ou omita-o.',
    },
  },
  card_token_not_found: {
    status: 400,
    title: 'Card token not found',
    meaning: 'The vault does not know the token.',
    remedy: 'Check the token, or have the card tokenized anew.',
    pt: {
      title: 'Token de cartão não encontrado',
      meaning: 'O cofre não conhece o token.',
      remedy: 'Confira o token, ou tokenize o cartão de novo.',
    },
  },
  unsupported_card_range: {
    status: 400,
    title: 'Unsupported card',
    meaning: 'No configured network takes cards of this range.',
    remedy: 'Ask for another card, or configure the network.',
    pt: {
      title: 'Cartão não suportado',
      meaning: 'Nenhuma rede configurada aceita cartões desta faixa.',
      remedy: 'Peça outro cartão, ou configure a rede.',
    },
  },
  amount_exceeds_authorized: {
    status: 400,
    title: 'Amount exceeds the authorized one',
    meaning:
      'A capture or partial void may be as large as what is left of the authorization, no larger.',
    remedy: 'Send at most the authorized amount less captured_amount and reversed_amount.',
    pt: {
      title: 'Valor acima do autorizado',
      meaning:
        'Uma captura ou um cancelamento parcial pode ir até o que resta da autorização, não além.',
      remedy: 'Envie no máximo o valor autorizado menos reversed_amount.',
    },
  },
  invalid_outcome: {
    status: 400,
    title: 'Invalid outcome',
    meaning: 'The outcome is none that a reversal can end with.',
    remedy: 'Send the status that the network confirms the transaction to be in.',
    pt: {
      title: 'Desfecho inválido',
      meaning: 'O desfecho não é um com que um desfazimento pode terminar.',
      remedy: 'Envie o status em que a rede confirma que a transação está.',
    },
  },
  invalid_reason: {
    status: 400,
    title: 'Invalid reason',
    meaning:
      'The reason is no text of 1 to 200 printable characters, or has twelve digits or more in a row, which may be a card number.',
    remedy: 'Say in words who confirmed the outcome, without card data.',
    pt: {
      title: 'Motivo inválido',
      meaning:
        'O motivo não é um texto de 1 a 200 caracteres imprimíveis, ou tem doze dígitos ou mais em sequência, o que pode ser um número de cartão.',
      remedy: 'Diga em palavras quem confirmou o desfecho, sem dados de cartão.',
    },
  },
  outcome_not_possible: {
    status: 409,
    title: 'Outcome not possible',
    meaning: 'The reversal that waits for an answer cannot end in this status.',
    remedy:
      'Read the transaction: an authorization can end voided, a capture authorized, captured or partially_captured, a void voided or as it was, a partial void partially_voided or authorized, a refund refunded or captured, an increment incremented or as it was.',
    pt: {
      title: 'Desfecho impossível',
      meaning: 'O desfazimento que espera resposta não pode terminar neste status.',
      remedy:
        'Leia a transação: uma autorização pode terminar voided, uma captura authorized, captured ou partially_captured, um cancelamento voided ou como estava, um cancelamento parcial partially_voided ou authorized, um estorno refunded ou captured, um incremento incremented ou como estava.',
    },
  },
  invalid_state: {
    status: 409,
    title: 'Invalid state',
    meaning: 'The status of the transaction, or what is under way on it, rules the operation out.',
    remedy: 'Read the transaction and decide anew.',
    pt: {
      title: 'Estado inválido',
      meaning: 'O status da transação, ou o que está em andamento nela, exclui a operação.',
      remedy: 'Leia a transação e decida de novo.',
    },
  },
  capture_declined: {
    status: 422,
    title: 'Capture declined',
    meaning:
      'The card network refused the capture; details.response_code says why. The status is as it was.',
    remedy: 'Read the transaction; capture again or void, as the code advises.',
    pt: {
      title: 'Captura recusada',
      meaning:
        'A rede do cartão recusou a captura; details.response_code diz por quê. O status é o de antes.',
      remedy: 'Leia a transação; capture de novo ou cancele, conforme o código.',
    },
  },
  increment_declined: {
    status: 422,
    title: 'Increment declined',
    meaning:
      'The card network refused to raise the authorized amount; details.response_code says why. The amount is as it was.',
    remedy: 'Go on with the authorized amount, or authorize the rest on its own.',
    pt: {
      title: 'Incremento recusado',
      meaning:
        'A rede do cartão recusou aumentar o valor autorizado; details.response_code diz por quê. O valor é o de antes.',
      remedy: 'Siga com o valor autorizado, ou autorize o resto à parte.',
    },
  },
  void_declined: {
    status: 422,
    title: 'Void declined',
    meaning:
      'The card network refused the void; details.response_code says why. The status is as it was.',
    remedy: 'Read the transaction; void again later, or ask the network.',
    pt: {
      title: 'Cancelamento recusado',
      meaning:
        'A rede do cartão recusou o cancelamento; details.response_code diz por quê. O status é o de antes.',
      remedy: 'Leia a transação; cancele de novo mais tarde, ou pergunte à rede.',
    },
  },
  refund_declined: {
    status: 422,
    title: 'Refund declined',
    meaning:
      'The card network refused the refund; details.response_code says why. The status is as it was.',
    remedy: 'Read the transaction; refund again later, or ask the network.',
    pt: {
      title: 'Estorno recusado',
      meaning:
        'A rede do cartão recusou o estorno; details.response_code diz por quê. O status é o de antes.',
      remedy: 'Leia a transação; estorne de novo mais tarde, ou pergunte à rede.',
    },
  },
  operation_not_taken: {
    status: 409,
    title: 'Operation not taken',
    meaning: 'The file of the card network says that it takes no messages of this kind.',
    remedy: 'Use another operation, or have the content of the network’s file changed.',
    pt: {
      title: 'Operação não aceita',
      meaning: 'O arquivo da rede do cartão diz que ela não aceita mensagens deste tipo.',
      remedy: 'Use outra operação, ou peça que o conteúdo do arquivo da rede seja alterado.',
    },
  },
  amount_exceeds_captured: {
    status: 400,
    title: 'Amount exceeds the captured one',
    meaning: 'Refunds may be as large as the capture together, no larger.',
    remedy: 'Refund at most captured_amount less refunded_amount.',
    pt: {
      title: 'Valor acima do capturado',
      meaning: 'Os estornos juntos podem ir até o valor capturado, não além.',
      remedy: 'Estorne no máximo captured_amount menos refunded_amount.',
    },
  },
  transaction_not_found: {
    status: 404,
    title: 'Transaction not found',
    meaning: 'No card transaction has this identifier.',
    remedy: 'Check the identifier.',
    pt: {
      title: 'Transação não encontrada',
      meaning: 'Nenhuma transação de cartão tem este identificador.',
      remedy: 'Confira o identificador.',
    },
  },
  reconciliation_not_found: {
    status: 404,
    title: 'Reconciliation not found',
    meaning: 'No business day with this identifier waits for somebody.',
    remedy: 'Read the list again: another person may have seen to it.',
    pt: {
      title: 'Conciliação não encontrada',
      meaning: 'Nenhum dia de movimento com este identificador espera por alguém.',
      remedy: 'Leia a lista de novo: outra pessoa pode já ter cuidado dele.',
    },
  },
  advice_not_found: {
    status: 404,
    title: 'Advice not found',
    meaning: 'No advice of a card network with this identifier waits for somebody.',
    remedy: 'Read the list again: another person may have seen to it.',
    pt: {
      title: 'Aviso não encontrado',
      meaning: 'Nenhum aviso de uma rede de cartões com este identificador espera por alguém.',
      remedy: 'Leia a lista de novo: outra pessoa pode já ter cuidado dele.',
    },
  },
  network_unavailable: {
    status: 502,
    title: 'Card network unavailable',
    meaning:
      'The connection to the card network failed. details.sent tells whether the network may have acted; if so, what it did is being reversed.',
    remedy: 'Repeat when sent is false; read the transaction when it is true.',
    pt: {
      title: 'Rede de cartões indisponível',
      meaning:
        'A conexão com a rede de cartões falhou. details.sent diz se a rede pode ter agido; se sim, o que ela fez está sendo desfeito.',
      remedy: 'Repita se sent é false; leia a transação se é true.',
    },
    retryable: true,
  },
  network_timeout: {
    status: 504,
    title: 'Card network timeout',
    meaning: 'The card network did not answer in time; whatever it did is being reversed.',
    remedy: 'Read the transaction until it is voided; repeat under a new key only then.',
    pt: {
      title: 'Rede de cartões sem resposta',
      meaning:
        'A rede de cartões não respondeu a tempo; o que quer que tenha feito está sendo desfeito.',
      remedy: 'Leia a transação até que esteja voided; só então repita, com uma chave nova.',
    },
  },
  vault_unavailable: {
    status: 503,
    title: 'Token vault unavailable',
    meaning: 'The token vault did not give the card number. Nothing was sent.',
    remedy: 'Repeat later.',
    pt: {
      title: 'Cofre de tokens indisponível',
      meaning: 'O cofre de tokens não deu o número do cartão. Nada foi enviado.',
      remedy: 'Repita mais tarde.',
    },
    retryable: true,
  },
  cards_too_busy: {
    status: 503,
    title: 'Too busy',
    meaning: 'More card transactions wait to be written than the gateway keeps. Nothing was sent.',
    remedy: 'Repeat later with the same Idempotency-Key.',
    pt: {
      title: 'Ocupado demais',
      meaning:
        'Esperam para ser gravadas mais transações de cartão do que o gateway guarda. Nada foi enviado.',
      remedy: 'Repita mais tarde com a mesma Idempotency-Key.',
    },
    retryable: true,
  },
})
