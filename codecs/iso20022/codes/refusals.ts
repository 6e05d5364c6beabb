import { advised, bareCodes, joined } from './entry.ts'
import { wrongPayerIspb, wrongReceiverIspb } from './shared-rows.ts'

/** `StsRsn/Rsn/Prtry` of camt.025: why a reported book transfer is refused. */
export const receiptRefusals = advised(
  [
    [
      'AG01',
      'S',
      'Not allowed on this account',
      'Transação não permitida na conta',
      'Report the transfer of another account, or none.',
      'Informe a transferência de outra conta, ou nenhuma.',
    ],
    [
      'AM01',
      'S',
      'The amount is zero',
      'Valor zero',
      'Correct the amount: it must be over zero.',
      'Corrija o valor: deve ser maior que zero.',
    ],
    [
      'AM18',
      'S',
      'Invalid number of transactions',
      'Quantidade de transações inválida',
      'Count the transactions of the trck.002, and repeat it.',
      'Conte as transações da trck.002 e repita o informe.',
    ],
    [
      'DT02',
      'S',
      'Invalid creation date-time',
      'Data e hora de criação inválidas',
      'Check the clock, and report it again.',
      'Confira o relógio e informe de novo.',
    ],
    [
      'ED05',
      'S',
      'Generic failure of settlement',
      'Erro genérico na liquidação',
      'Report it again later; if it lasts, ask the central bank.',
      'Informe de novo mais tarde; se persistir, contate o Banco Central.',
    ],
    [
      'FF08',
      'S',
      'Malformed operation id',
      'Identificador da operação mal formado',
      'Correct the id of the transfer.',
      'Corrija o identificador da transferência.',
    ],
    wrongPayerIspb,
    wrongReceiverIspb,
  ],
  'inferred',
)

/** `StsRsn/Rsn/Prtry` of reda.016: why a change of participants is refused, or has to wait. */
export const partyStatusReasons = joined(
  advised(
    [
      [
        'DIR2',
        'S',
        'The ISPB of who asks is not that of the sender',
        'ISPB do solicitante diferente do remetente da mensagem',
        'Ask in your own name: requester and sender are one.',
        'Solicite em nome próprio: solicitante e remetente são o mesmo.',
      ],
      [
        'ATC7',
        'S',
        'The participant to be changed is not the sender',
        'Participante a alterar diferente do remetente da mensagem',
        'Change your own data only.',
        'Altere apenas os próprios dados.',
      ],
    ],
    'reported',
  ),
  bareCodes('CAI4 CP10 CTT9 DI11 DIR1 EXP5 IND2 IND3 IND4 IND5 ITC6 PCH8 RP13', 'S', {
    en: 'Ask the central bank’s support, with the id of the message that it answers.',
    pt: 'Consulte o suporte do Banco Central, com o identificador da mensagem respondida.',
  }),
)
