import { defineErrors } from '#src/platform/http/index.ts'

/** Errors of reading a code, besides those that every feature shares. */
export const qrcodeErrors = defineErrors({
  brcode_invalid: {
    status: 422,
    title: 'Not a valid code',
    meaning: 'The payload breaks a rule; errors names the tag path, its byte offset and the rule.',
    remedy: 'Scan the code again, or ask its producer for a correct one.',
    pt: {
      title: 'Código inválido',
      meaning:
        'O conteúdo quebra uma regra; errors diz o caminho da tag, a posição em bytes e a regra.',
      remedy: 'Leia o código de novo, ou peça um correto a quem o produziu.',
    },
  },
  qrcode_without_location: {
    status: 422,
    title: 'Code without a location',
    meaning: 'The code is static, or of another kind: there is no payload elsewhere.',
    remedy: 'Read it with POST /v1/qrcodes/parse; of a composite code say which location.',
    pt: {
      title: 'Código sem endereço',
      meaning: 'O código é estático, ou de outro tipo: não há conteúdo em outro lugar.',
      remedy: 'Leia-o com POST /v1/qrcodes/parse; de um código composto, diga qual endereço.',
    },
  },
  qrcode_location_refused: {
    status: 422,
    title: 'Location refused',
    meaning: 'The location in the code leads to an address that is not public, or is none.',
    remedy:
      'Do not pay by this code; a host of your own network goes into TRILHO_FETCH_ALLOWED_TARGETS.',
    pt: {
      title: 'Endereço recusado',
      meaning: 'O endereço no código leva a um lugar que não é público, ou não é um endereço.',
      remedy:
        'Não pague por este código; um servidor da sua própria rede vai em TRILHO_FETCH_ALLOWED_TARGETS.',
    },
  },
  qrcode_gone: {
    status: 422,
    title: 'Charge gone',
    meaning: 'The location answers that there is no such charge, or none any more (404, 410).',
    remedy: 'Ask the receiver for a new code.',
    pt: {
      title: 'Cobrança inexistente',
      meaning: 'O endereço responde que não há tal cobrança, ou não há mais (404, 410).',
      remedy: 'Peça um código novo ao recebedor.',
    },
  },
  qrcode_not_payable: {
    status: 422,
    title: 'Code not payable',
    meaning:
      'There is nothing to pay by the code now; reason says why: untrusted, no_charge, status, expired or malformed. Nothing was paid.',
    remedy: 'Ask the receiver for a new code.',
    pt: {
      title: 'Código não pagável',
      meaning:
        'Não há o que pagar pelo código agora; reason diz por quê: untrusted, no_charge, status, expired ou malformed. Nada foi pago.',
      remedy: 'Peça um código novo ao recebedor.',
    },
  },
  qrcode_location_unavailable: {
    status: 502,
    title: 'Location unavailable',
    meaning:
      'The location gave no payload: no connection, no whole answer in time, too many bytes, a redirect, or another status; reason says which.',
    remedy: 'Try again; what stays so is a fault of the receiver\u2019s institution.',
    pt: {
      title: 'Endereço indisponível',
      meaning:
        'O endereço não deu conteúdo: sem conexão, sem resposta inteira a tempo, bytes demais, um redirecionamento ou outro status; reason diz qual.',
      remedy: 'Tente de novo; o que persiste é falha da instituição do recebedor.',
    },
    retryable: true,
  },
})
