import { cancellationReasons, cancellationRefusals, chargeRefusals } from './charges.ts'
import { type CodeList, codeList } from './entry.ts'
import { mandateCancellationReasons, mandateRefusals } from './mandates.ts'
import { returnReasons, statusReasons } from './reasons.ts'
import { partyStatusReasons, receiptRefusals } from './refusals.ts'

const statuses = codeList([
  ['ACSP', 'R', 'Accepted by the receiving participant', 'Aceita pelo participante do recebedor'],
  ['ACSC', 'S', 'Settled; told to the paying participant', 'Liquidada; notificação ao pagador'],
  [
    'ACCC',
    'S',
    'Settled; told to the receiving participant',
    'Liquidada; notificação ao recebedor',
  ],
  ['RJCT', 'RS', 'Rejected', 'Rejeitada'],
])

const localInstruments = codeList([
  ['MANU', '', 'Account data typed in', 'Inserção manual dos dados da conta'],
  ['DICT', '', 'Pix key typed in', 'Inserção manual de chave Pix'],
  ['QRES', '', 'Static QR code', 'QR Code estático'],
  ['QRDN', '', 'Dynamic QR code', 'QR Code dinâmico'],
  [
    'APES',
    '',
    'Contactless, static',
    'Pix por aproximação estático',
    { certainty: 'reported', since: '1.15' },
  ],
  ['APDN', '', 'Contactless, dynamic', 'Pix por aproximação dinâmico'],
  ['INIC', '', 'Payment initiation service', 'Serviço de iniciação de pagamento'],
  ['AUTO', '', 'Pix Automático', 'Pix Automático'],
])

const purposes = codeList([
  ['IPAY', '', 'Purchase or transfer', 'Compra ou transferência'],
  ['GSCB', '', 'Pix Troco: purchase with cash back', 'Pix Troco'],
  ['OTHR', '', 'Pix Saque: cash withdrawal', 'Pix Saque'],
  [
    'REFU',
    '',
    'Refund by the special return mechanism for Pix Automático',
    'Reembolso no âmbito do MED para o Pix Automático',
  ],
  [
    'IPRT',
    '',
    'Return by the special return mechanism 2.0',
    'Devolução no âmbito do MED 2.0',
    { certainty: 'reported', since: '1.15' },
  ],
])

const accountTypes = codeList([
  ['CACC', '', 'Current account', 'Conta corrente'],
  ['SVGS', '', 'Savings account', 'Conta de poupança'],
  ['TRAN', '', 'Payment account', 'Conta de pagamento'],
  [
    'SLRY',
    '',
    'Salary account; for the National Treasury only',
    'Conta-salário; uso exclusivo da STN',
  ],
  ['OTHR', '', 'PI account', 'Conta PI', { certainty: 'reported', since: '1.15' }],
])

const priorities = codeList([
  ['HIGH', '', 'Priority settlement', 'Liquidação prioritária'],
  ['NORM', '', 'Settlement without priority', 'Liquidação não prioritária'],
])

const serviceLevels = codeList([
  ['PAGPRI', '', 'Priority payment', 'Pagamento prioritário'],
  ['PAGFRD', '', 'Payment under fraud analysis', 'Pagamento sob análise antifraude'],
  ['PAGAGD', '', 'Scheduled payment', 'Pagamento agendado'],
])

const withdrawalAgents = codeList([
  ['AGFSS', '', 'Withdrawal facilitator', 'Facilitador de serviço de saque'],
  ['AGTEC', '', 'Shop', 'Estabelecimento comercial'],
  ['AGTOT', '', 'Another company, or a correspondent', 'Outra pessoa jurídica ou correspondente'],
])

const adjustmentReasons = codeList([
  ['VLCP', '', 'Amount of the purchase', 'Valor da compra'],
  ['VLDN', '', 'Cash handed out', 'Valor do recurso em espécie'],
])

const mandateStatuses = codeList(
  [
    ['PDNG', 'P', 'Waiting for the payer', 'Pendente de confirmação do pagador'],
    ['CFDB', 'P', 'Confirmed by the payer', 'Confirmada pelo pagador'],
    ['CCLD', 'P', 'Cancelled', 'Cancelada'],
  ],
  'inferred',
)

const chargeStatuses = codeList(
  [
    ['ACSP', 'P', 'Scheduled by the paying participant', 'Agendada pelo participante do pagador'],
    ['RJCT', 'P', 'Refused by the paying participant', 'Rejeitada pelo participante do pagador'],
  ],
  'inferred',
)

const chargePurposes = codeList(
  [
    ['AGND', 'R', 'Schedules a charge', 'Agendamento da cobrança'],
    ['NTAG', 'R', 'A further attempt after the due date', 'Nova tentativa após o vencimento'],
    ['RIFL', 'R', 'Sent again after a failure', 'Reenvio após falha'],
  ],
  'inferred',
)

const cancellationStatuses = codeList(
  [
    ['ACCR', '', 'The cancellation is accepted', 'Cancelamento aceito'],
    ['RJCR', '', 'The cancellation is refused', 'Cancelamento rejeitado'],
  ],
  'inferred',
)

const cancellationProcessing = codeList(
  [
    [
      'DHSR',
      'R',
      'When the receiver’s participant asked',
      'Data e hora da solicitação do recebedor',
    ],
    ['DHIP', 'P', 'When the payer’s participant cancelled', 'Data e hora informada pelo pagador'],
    ['DHAC', '', 'When it was accepted', 'Data e hora da aceitação'],
    ['DHRC', '', 'When it was refused', 'Data e hora da rejeição'],
  ],
  'reported',
)

const receiptStatuses = codeList(
  [
    ['ACPT', 'S', 'The book transfer is accepted', 'Transferência informada aceita'],
    ['RJCT', 'S', 'The book transfer is refused', 'Transferência informada rejeitada'],
  ],
  'inferred',
)

const partyStatuses = codeList(
  [
    ['COMP', 'S', 'Done', 'Concluída'],
    ['QUED', 'S', 'Waits for a condition', 'Pendente'],
    ['REJT', 'S', 'Refused', 'Rejeitada'],
  ],
  'inferred',
)

const entryStatuses = codeList(
  [
    ['BOOK', 'S', 'Booked on the PI account', 'Lançamento efetivado na conta PI'],
    ['INFO', 'S', 'For information', 'Informativo'],
  ],
  'inferred',
)

/**
 * Every list of codes by name; see {@link CodeEntry} for what an entry tells.
 *
 * @example codeLists.purpose.get('GSCB')?.meaning?.en // 'Pix Troco: purchase with cash back'
 */
export const codeLists = {
  transaction_status: statuses,
  mandate_status: mandateStatuses,
  charge_status: chargeStatuses,
  cancellation_status: cancellationStatuses,
  cancellation_processing: cancellationProcessing,
  receipt_status: receiptStatuses,
  party_status: partyStatuses,
  entry_status: entryStatuses,
  status_reason: statusReasons,
  return_reason: returnReasons,
  mandate_cancellation_reason: mandateCancellationReasons,
  mandate_refusal: mandateRefusals,
  charge_refusal: chargeRefusals,
  receipt_refusal: receiptRefusals,
  cancellation_refusal: cancellationRefusals,
  cancellation_reason: cancellationReasons,
  party_status_reason: partyStatusReasons,
  local_instrument: localInstruments,
  purpose: purposes,
  charge_purpose: chargePurposes,
  account_type: accountTypes,
  priority: priorities,
  service_level: serviceLevels,
  withdrawal_agent: withdrawalAgents,
  adjustment_reason: adjustmentReasons,
} as const satisfies Readonly<Record<string, CodeList>>
