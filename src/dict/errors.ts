import { defineErrors } from '#src/platform/http/index.ts'

/** What may come of asking the directory of Pix keys. */
export const dictErrors = defineErrors({
  dict_key_not_found: {
    status: 404,
    title: 'No such Pix key',
    meaning: 'The directory has no entry for the key.',
    remedy: 'Ask the receiver for the key again. Keys that are not there cost twenty lookups.',
    pt: {
      title: 'Chave Pix inexistente',
      meaning: 'O diretório não tem vínculo para a chave.',
      remedy: 'Peça a chave de novo ao recebedor. Chaves inexistentes custam vinte consultas.',
    },
  },
  dict_key_of_this_institution: {
    status: 422,
    title: 'Pix key of this institution',
    meaning:
      'The key is in this institution\u2019s own custody: the directory is not asked for it, and the SPI does not settle what stays within one institution.',
    remedy: 'Pay it in your own books.',
    pt: {
      title: 'Chave Pix desta instituição',
      meaning:
        'A chave está sob custódia desta própria instituição: não se consulta o diretório por ela, e o SPI não liquida o que fica dentro de uma instituição.',
      remedy: 'Pague-a nos seus próprios livros.',
    },
  },
  dict_limited: {
    status: 429,
    title: 'Too many lookups',
    meaning:
      'The payer, or the institution, has looked up as many keys as the directory allows for now.',
    remedy:
      'Repeat after the seconds of Retry-After. A payment for what was looked up gives its lookup back.',
    pt: {
      title: 'Consultas demais',
      meaning:
        'O pagador, ou a instituição, já consultou tantas chaves quantas o diretório permite por ora.',
      remedy:
        'Repita depois dos segundos de Retry-After. Um pagamento pelo que foi consultado devolve a sua consulta.',
    },
    retryable: true,
  },
  dict_refused: {
    status: 422,
    title: 'Refused by the directory',
    meaning: 'The directory refuses what was asked; directory_code is its name for why.',
    remedy: 'Look the code up in the directory\u2019s description.',
    pt: {
      title: 'Recusado pelo diretório',
      meaning: 'O diretório recusa o que foi pedido; directory_code é o nome que ele dá ao motivo.',
      remedy: 'Procure o código na descrição do diretório.',
    },
  },
  dict_unavailable: {
    status: 503,
    title: 'Directory unavailable',
    meaning:
      'The directory gave no answer that can be used, and nothing was paid; reason says which: timeout, connection, status, too_large, document, signature, signing or circuit_open.',
    remedy: 'Repeat the request. Where reason is signature, see to DICT_TRUSTED_CERTS_PATH.',
    pt: {
      title: 'Diretório indisponível',
      meaning:
        'O diretório não deu resposta que se possa usar, e nada foi pago; reason diz qual: timeout, connection, status, too_large, document, signature, signing ou circuit_open.',
      remedy: 'Repita a requisição. Se reason for signature, veja DICT_TRUSTED_CERTS_PATH.',
    },
    retryable: true,
  },
  dict_entry_exists: {
    status: 409,
    title: 'Pix key registered already',
    meaning: 'This institution has registered the key, or is registering it.',
    remedy: 'Look the entry up by its key; change or remove it there.',
    pt: {
      title: 'Chave Pix já registrada',
      meaning: 'Esta instituição já registrou a chave, ou a está registrando.',
      remedy: 'Procure o vínculo pela chave; altere-o ou remova-o ali.',
    },
  },
  dict_entry_not_registered: {
    status: 409,
    title: 'Entry not registered',
    meaning:
      'The entry is not registered, or something else is asked of it that the directory has not answered yet; entry_status says which.',
    remedy: 'Repeat the request once the entry is registered.',
    pt: {
      title: 'Vínculo não registrado',
      meaning:
        'O vínculo não está registrado, ou pediu-se outra coisa sobre ele que o diretório ainda não respondeu; entry_status diz qual.',
      remedy: 'Repita a requisição quando o vínculo estiver registrado.',
    },
  },
  dict_dispute_exists: {
    status: 409,
    title: 'Asked for already',
    meaning: 'One about the same payment, for the same reason, goes on or waits for the directory.',
    remedy: 'Look it up by its transaction_id.',
    pt: {
      title: 'Já pedido',
      meaning:
        'Há outro sobre o mesmo pagamento, pela mesma razão, em andamento ou à espera do diretório.',
      remedy: 'Procure-o pelo transaction_id.',
    },
  },
  dict_dispute_not_yours: {
    status: 409,
    title: 'Of the other institution to do',
    meaning: 'Who asks may cancel, who is asked acknowledges and closes; role says which we are.',
    remedy: 'Wait for the other institution.',
    pt: {
      title: 'Cabe à outra instituição',
      meaning: 'Quem pede pode cancelar, quem é demandado recebe e fecha; role diz o que somos.',
      remedy: 'Aguarde a outra instituição.',
    },
  },
  dict_dispute_state: {
    status: 409,
    title: 'Not in this state',
    meaning:
      'Its state does not allow what is asked, or something else is asked of it that the directory has not answered yet; dispute_status says which.',
    remedy: 'Look it up, and repeat the request once its state allows it.',
    pt: {
      title: 'Não neste estado',
      meaning:
        'O estado não permite o que se pede, ou pediu-se outra coisa que o diretório ainda não respondeu; dispute_status diz qual.',
      remedy: 'Consulte-o e repita a requisição quando o estado permitir.',
    },
  },
  dict_return_impossible: {
    status: 409,
    title: 'The payment cannot be given back like this',
    meaning:
      'Nothing was returned, and the request stays open: reason says why, such as no_payment, refund_exceeds_payment with what is refundable, or return_made.',
    remedy: 'Accept it in part, or reject it with a reason.',
    pt: {
      title: 'O pagamento não pode ser devolvido assim',
      meaning:
        'Nada foi devolvido, e a solicitação segue aberta: reason diz por quê, como no_payment, refund_exceeds_payment com o que é devolvível, ou return_made.',
      remedy: 'Aceite-a em parte, ou rejeite-a com uma razão.',
    },
  },
  dict_comparison_running: {
    status: 409,
    title: 'A comparison runs',
    meaning: 'The entries of this type are being compared.',
    remedy: 'Wait until that comparison is done.',
    pt: {
      title: 'Há uma comparação em curso',
      meaning: 'Os vínculos deste tipo estão sendo comparados.',
      remedy: 'Aguarde até que essa comparação termine.',
    },
    retryable: true,
  },
  dict_difference_mended: {
    status: 409,
    title: 'Mended otherwise',
    meaning: 'The other side of this difference was kept before.',
    remedy: 'Compare again, and mend what still differs.',
    pt: {
      title: 'Corrigida de outro modo',
      meaning: 'O outro lado desta diferença já foi mantido.',
      remedy: 'Compare de novo e corrija o que ainda difere.',
    },
  },
  dict_claim_exists: {
    status: 409,
    title: 'Pix key claimed already',
    meaning: 'A claim of this institution to the key is under way.',
    remedy: 'Look the claim up by its key, and lead it to its end or cancel it.',
    pt: {
      title: 'Chave Pix já reivindicada',
      meaning: 'Uma reivindicação desta instituição sobre a chave está em andamento.',
      remedy: 'Procure a reivindicação pela chave e conclua-a ou cancele-a.',
    },
  },
  dict_claim_not_possible: {
    status: 409,
    title: 'Not possible for this claim now',
    meaning:
      'Status, side or period of the claim do not allow it, or the directory has not answered something else that was asked; claim_status, role, pending and possible_from say which.',
    remedy:
      'Look at the claim: next says what it waits for. Repeat from possible_from on, if there is one.',
    pt: {
      title: 'Impossível para esta reivindicação agora',
      meaning:
        'Status, papel ou prazo da reivindicação não o permitem, ou o diretório ainda não respondeu outra coisa que se pediu; claim_status, role, pending e possible_from dizem qual.',
      remedy:
        'Veja a reivindicação: next diz o que ela espera. Repita a partir de possible_from, se houver.',
    },
  },
  dict_lookup_unknown: {
    status: 409,
    title: 'No such lookup',
    meaning:
      'The end_to_end_id is of no lookup of this account that was made for this key and payer, is not paid yet and is younger than 15 minutes.',
    remedy: 'Look the key up again and pay with the new end_to_end_id.',
    pt: {
      title: 'Consulta inexistente',
      meaning:
        'O end_to_end_id não é de uma consulta desta conta feita para esta chave e este pagador, ainda não paga e com menos de 15 minutos.',
      remedy: 'Consulte a chave de novo e pague com o novo end_to_end_id.',
    },
  },
  dict_entry_changed: {
    status: 409,
    title: 'The Pix key has changed hands',
    meaning: 'Owner or account of the key is no longer what the lookup showed. Nothing was paid.',
    remedy: 'Look the key up again and have the payer confirm who is paid now.',
    pt: {
      title: 'A chave Pix mudou',
      meaning: 'O dono ou a conta da chave não é mais o que a consulta mostrou. Nada foi pago.',
      remedy: 'Consulte a chave de novo e peça ao pagador que confirme quem recebe agora.',
    },
  },
})
