import { type CodeList, codeList } from './entry.ts'
import { returnReasons, statusReasons } from './reasons.ts'
import {
  cancellationReasons,
  cancellationRefusals,
  chargeRefusals,
  mandateCancellationReasons,
  mandateRefusals,
  partyStatusReasons,
  receiptRefusals,
} from './refusals.ts'

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

/** Every list of codes by name; see {@link CodeEntry} for what an entry tells. */
export const codeLists = {
  transaction_status: statuses,
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
  account_type: accountTypes,
  priority: priorities,
  service_level: serviceLevels,
  withdrawal_agent: withdrawalAgents,
  adjustment_reason: adjustmentReasons,
} as const satisfies Readonly<Record<string, CodeList>>
