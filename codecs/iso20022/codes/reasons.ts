import { advised, type CodeEntry, codeList } from './entry.ts'
import { withRemedies } from './remedies.ts'

const since117 = { certainty: 'reported', since: '1.17' } as const

/** `StsRsnInf/Rsn/Cd` of pacs.002: why a payment or a return was refused (catalogues up to pacs.002 1.17). */
export const statusReasons = withRemedies(
  codeList([
    ['AB03', 'S', 'Settlement timed out in the SPI', 'Liquidação interrompida por timeout no SPI'],
    ['AB09', 'R', 'Error at the receiving participant', 'Erro no participante do recebedor'],
    ['AB11', 'S', 'The paying participant timed out', 'Timeout do participante emissor da ordem'],
    [
      'AC03',
      'R',
      'Branch or account missing or invalid',
      'Agência ou conta inexistente ou inválida',
    ],
    ['AC06', 'R', 'The account is blocked', 'Conta bloqueada'],
    ['AC07', 'R', 'The account is closed', 'Conta encerrada'],
    ['AC14', 'R', 'Wrong account type', 'Tipo de conta incorreto'],
    ['AG03', 'R', 'The account does not take this transaction', 'Transação não suportada na conta'],
    [
      'AG12',
      'S',
      'A transfer within one institution is not allowed',
      'Transferência na mesma instituição não permitida',
    ],
    ['AG13', 'S', 'A return cannot be returned', 'Não se devolve uma devolução'],
    [
      'AGNT',
      'S',
      'The direct participant does not settle for the payer',
      'Participante direto não é liquidante do pagador',
    ],
    ['AM01', 'S', 'The amount is zero', 'Valor zero'],
    [
      'AM02',
      'R',
      'The amount is over what the credited account may hold',
      'Valor supera o limite da conta creditada',
    ],
    [
      'AM04',
      'S',
      'The PI account of the payer lacks balance',
      'Saldo insuficiente na conta PI do pagador',
    ],
    ['AM09', 'R', 'The return exceeds the payment', 'Devolução maior que o pagamento'],
    [
      'AM12',
      'S',
      'Cash and purchase amounts do not add up',
      'Soma de dinheiro e compra diverge do valor',
    ],
    ['AM18', 'S', 'Invalid number of transactions', 'Quantidade de transações inválida'],
    [
      'AM23',
      '',
      'The tax amounts exceed the payment',
      'Tributos maiores que o pagamento',
      { certainty: 'reported', since: '1.16' },
    ],
    ['BE01', 'R', 'The tax id is not the account holder’s', 'CPF/CNPJ não é do titular da conta'],
    ['BE05', 'S', 'The initiator is not registered in Pix', 'Iniciador não cadastrado no Pix'],
    ['BE15', 'R', 'Wrong reconciliation id of the receiver', 'idConciliacaoRecebedor incorreto'],
    ['BE17', 'R', 'The QR code was refused', 'QR Code rejeitado pelo recebedor'],
    ['CH11', 'R', 'The tax id of the receiver is wrong', 'CPF/CNPJ do recebedor incorreto'],
    [
      'CH16',
      'S',
      'An element breaks a rule of content or business',
      'Conteúdo ou regra de negócio incorretos',
    ],
    ['CN01', 'R', 'The scheduled recurrence was cancelled', 'Agendamento recorrente cancelado'],
    [
      'DS02',
      '',
      'Blocked by the institution’s own setting',
      'Bloqueado por configuração da própria instituição',
      since117,
    ],
    [
      'DS04',
      'R',
      'The receiving participant refused the order',
      'Ordem rejeitada pelo participante do recebedor',
    ],
    [
      'DS0G',
      'S',
      'The signer may not debit this PI account',
      'Assinante sem permissão na conta PI debitada',
    ],
    [
      'DS27',
      'S',
      'The participant is unknown or not operating',
      'Participante não cadastrado ou sem operar',
    ],
    ['DT02', 'S', 'Invalid creation date-time', 'Data e hora de criação inválidas'],
    ['DT05', 'S', 'The time for returns is over', 'Prazo de devolução excedido'],
    ['DU03', '', 'Already paid by other means', 'Já pago por outro meio', since117],
    [
      'DUPL',
      'R',
      'Duplicate reconciliation id for this receiver',
      'idConciliacaoRecebedor duplicado',
    ],
    ['ED05', 'RS', 'Generic failure of settlement', 'Erro genérico na liquidação'],
    [
      'FF07',
      'S',
      'Purpose and structured remittance disagree',
      'Finalidade incoerente com o bloco estruturado',
    ],
    ['FF08', 'S', 'Malformed operation id', 'Identificador da operação mal formado'],
    ['FRAD', 'R', 'Well-founded suspicion of fraud', 'Fundada suspeita de fraude'],
    [
      'INDT',
      '',
      'The payment differs from its QR code or schedule',
      'Pagamento difere do QR Code ou agendamento',
      { certainty: 'reported', since: '1.16' },
    ],
    ['MD01', 'S', 'Unknown withdrawal facilitator', 'Facilitador de saque desconhecido'],
    ['RC09', 'S', 'Invalid ISPB of the payer', 'ISPB do pagador inválido'],
    ['RC10', 'S', 'Invalid ISPB of the receiver', 'ISPB do recebedor inválido'],
    [
      'RR04',
      'R',
      'The payer is under United Nations sanctions',
      'Pagador sancionado pelas Nações Unidas',
    ],
    [
      'RR06',
      '',
      'The tax block needs two companies',
      'Bloco de tributos exige dois CNPJ',
      { certainty: 'reported', since: '1.16' },
    ],
    [
      'SL02',
      'R',
      'The return is not about Saque or Troco',
      'Devolução não relativa a Saque ou Troco',
    ],
    ['UPAY', 'R', 'No valid and active recurrence', 'Sem recorrência válida e ativa'],
  ]),
)

/** `RtrRsnInf/Rsn/Cd` of pacs.004: why money is given back. */
export const returnReasons = advised(
  [
    [
      'BE08',
      'R',
      'Bank error (special return mechanism)',
      'Falha operacional (Mecanismo Especial de Devolução)',
      'Credit the payer, and say that the bank of the receiver erred.',
      'Credite o pagador e informe a falha operacional do recebedor.',
    ],
    [
      'FR01',
      'R',
      'Fraud (special return mechanism)',
      'Fraude (Mecanismo Especial de Devolução)',
      'Credit the payer; the case of fraud may still have a remainder.',
      'Credite o pagador; o caso de fraude pode ter saldo a devolver.',
    ],
    [
      'MD06',
      'R',
      'Asked for by the receiving user',
      'Solicitada pelo usuário recebedor',
      'Credit the payer, and show it beside the payment.',
      'Credite o pagador e mostre junto ao pagamento.',
    ],
    [
      'SL02',
      'R',
      'Error or dispute over Pix Saque or Pix Troco',
      'Erro ou desacordo no Pix Saque ou Pix Troco',
      'Credit the payer: the cash was not handed out, or disputed.',
      'Credite o pagador: o saque não ocorreu ou foi contestado.',
    ],
  ],
  'official',
)

/**
 * The reason of a refusal, with its meaning; undefined for an unknown code.
 *
 * @example statusReason('AC03')?.meaning?.en
 */
export const statusReason = (code: string): CodeEntry | undefined => statusReasons.get(code)

/**
 * The reason of a return, with its meaning; undefined for an unknown code.
 *
 * @example returnReason('MD06')?.meaning?.en
 */
export const returnReason = (code: string): CodeEntry | undefined => returnReasons.get(code)
