import type { CodeList } from './entry.ts'

type Remedy = readonly [code: string, en: string, pt: string]

/**
 * What the institution whose payment or return was refused does about it. Our own advice, drawn from the meaning of
 * each code: no source has it.
 */
const rows: readonly Remedy[] = [
  [
    'AB03',
    'Nothing was settled: tell the payer, and pay anew with a new EndToEndId if wanted.',
    'Nada foi liquidado: avise o pagador e, se for o caso, pague de novo com outro EndToEndId.',
  ],
  [
    'AB09',
    'Try again later with a new EndToEndId; if it lasts, ask the other institution.',
    'Tente mais tarde com outro EndToEndId; se persistir, contate a outra instituição.',
  ],
  [
    'AB11',
    'See why the message left late: clock, queue, or link; then pay anew.',
    'Verifique por que a mensagem saiu tarde: relógio, fila ou enlace; depois pague de novo.',
  ],
  [
    'AC03',
    'Have the payer check branch and account, or use the Pix key.',
    'Peça ao pagador que confira agência e conta, ou use a chave Pix.',
  ],
  [
    'AC06',
    'Do not repeat: the payer asks the receiver for another account.',
    'Não repita: o pagador pede outra conta ao recebedor.',
  ],
  [
    'AC07',
    'Do not repeat; drop the key from caches, ask DICT again.',
    'Não repita; descarte a chave em cache e consulte o DICT de novo.',
  ],
  [
    'AC14',
    'Correct the account type, as DICT or the QR code has it.',
    'Corrija o tipo da conta, conforme o DICT ou o QR Code.',
  ],
  [
    'AG03',
    'Use another account or another kind of payment.',
    'Use outra conta ou outro tipo de pagamento.',
  ],
  [
    'AG12',
    'Settle it in your own books and report it in a trck.002.',
    'Liquide nos próprios livros e informe em uma trck.002.',
  ],
  [
    'AG13',
    'Return the payment, never a return; a mistaken return is a new payment.',
    'Devolva o pagamento, nunca uma devolução; devolução errada é novo pagamento.',
  ],
  [
    'AGNT',
    'Send through the participant that settles for the payer.',
    'Envie pelo participante que liquida pelo pagador.',
  ],
  [
    'AM01',
    'Correct the amount: it must be over zero.',
    'Corrija o valor: deve ser maior que zero.',
  ],
  [
    'AM02',
    'Pay less, or to another account of the receiver.',
    'Pague menos, ou em outra conta do recebedor.',
  ],
  [
    'AM04',
    'Raise the balance of the PI account, then pay anew.',
    'Reforce o saldo da conta PI e pague de novo.',
  ],
  [
    'AM09',
    'Add up what was returned before; return no more than the rest.',
    'Some o que já foi devolvido; devolva no máximo o restante.',
  ],
  [
    'AM12',
    'Make cash and purchase add up to the amount.',
    'Faça dinheiro e compra somarem o valor.',
  ],
  [
    'AM18',
    'Count the transactions: NbOfTxs, and the limit of the service level.',
    'Conte as transações: NbOfTxs e o limite do nível de serviço.',
  ],
  [
    'AM23',
    'Correct the split: its sum may not exceed the payment.',
    'Corrija a divisão: a soma não pode exceder o pagamento.',
  ],
  [
    'BE01',
    'Check the tax id against DICT or the QR code.',
    'Confira o CPF/CNPJ no DICT ou no QR Code.',
  ],
  [
    'BE05',
    'Name an initiator that is registered in Pix, or none.',
    'Informe um iniciador cadastrado no Pix, ou nenhum.',
  ],
  ['BE15', 'Take the id as the QR code has it.', 'Use o identificador como está no QR Code.'],
  [
    'BE17',
    'Do not repeat: the payer needs a new QR code.',
    'Não repita: o pagador precisa de novo QR Code.',
  ],
  ['CH11', 'Correct the tax id of the receiver.', 'Corrija o CPF/CNPJ do recebedor.'],
  [
    'CH16',
    'Compare the message with the rules of the catalogue; a repetition is refused again.',
    'Compare a mensagem com as regras do catálogo; repetir será rejeitado de novo.',
  ],
  [
    'CN01',
    'Do not pay: the schedule was cancelled. Tell the payer.',
    'Não pague: o agendamento foi cancelado. Avise o pagador.',
  ],
  [
    'DS02',
    'See the settings of your institution in the SPI’s web interface.',
    'Veja as configurações da instituição no SPI-Web.',
  ],
  [
    'DS04',
    'Do not repeat unchanged; ask the other institution for the cause.',
    'Não repita sem mudança; pergunte o motivo à outra instituição.',
  ],
  [
    'DS0G',
    'Sign with the certificate of the institution whose PI account is debited.',
    'Assine com o certificado da instituição cuja conta PI é debitada.',
  ],
  [
    'DS27',
    'Look in the list of participants whether and since when it operates.',
    'Veja na lista de participantes se e desde quando ela opera.',
  ],
  [
    'DT02',
    'Set the clock (NTP) and use the present time in UTC.',
    'Acerte o relógio (NTP) e use a hora atual em UTC.',
  ],
  [
    'DT05',
    'A return is no longer possible: agree on a new payment.',
    'Não cabe mais devolução: combine novo pagamento.',
  ],
  [
    'DU03',
    'Do not pay again: it was paid by other means.',
    'Não pague de novo: já foi pago por outro meio.',
  ],
  [
    'DUPL',
    'Do not pay again before you know what became of the first.',
    'Não pague de novo antes de saber o que houve com o primeiro.',
  ],
  [
    'ED05',
    'Try again later with a new id; if it lasts, ask the support of the SPI.',
    'Tente mais tarde com outro identificador; se persistir, acione o suporte do SPI.',
  ],
  [
    'FF07',
    'Give the withdrawal with GSCB and OTHR only, and there always.',
    'Informe o bloco de saque só com GSCB e OTHR, e sempre com eles.',
  ],
  [
    'FF08',
    'Form the id anew: letter, ISPB, minute in UTC, 11 characters.',
    'Forme o identificador de novo: letra, ISPB, minuto em UTC, 11 caracteres.',
  ],
  [
    'FRAD',
    'Do not repeat; look at the payer’s account for fraud.',
    'Não repita; investigue fraude na conta do pagador.',
  ],
  [
    'INDT',
    'Read the QR code or schedule again and pay as it says.',
    'Leia o QR Code ou agendamento de novo e pague como ele diz.',
  ],
  [
    'MD01',
    'Name the withdrawal facilitator as the QR code does.',
    'Informe o facilitador de saque como no QR Code.',
  ],
  [
    'RC09',
    'Correct the ISPB of the paying institution.',
    'Corrija o ISPB da instituição pagadora.',
  ],
  [
    'RC10',
    'Correct the ISPB of the receiving institution.',
    'Corrija o ISPB da instituição recebedora.',
  ],
  [
    'RR04',
    'Do not repeat; follow your rules on sanctions.',
    'Não repita; siga suas regras sobre sanções.',
  ],
  [
    'RR06',
    'Leave the tax split out unless both are companies.',
    'Retire o bloco de tributos se não houver dois CNPJ.',
  ],
  [
    'SL02',
    'Give another reason: the payment was no Pix Saque or Pix Troco.',
    'Use outro motivo: o pagamento não era Pix Saque nem Pix Troco.',
  ],
  [
    'UPAY',
    'Do not pay; see whether the recurrence is still active.',
    'Não pague; veja se a recorrência ainda está ativa.',
  ],
]

const remedies = new Map(rows.map(([code, en, pt]) => [code, { en, pt }]))

/** The same list with our advice for each code that has one. */
export const withRemedies = (list: CodeList): CodeList =>
  new Map([...list].map(([code, entry]) => [code, { ...entry, remedy: remedies.get(code) }]))
