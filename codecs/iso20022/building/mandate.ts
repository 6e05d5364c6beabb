import { formatCents } from '../amount.ts'
import type { Draft } from './builder.ts'
import { codeForm, forms, patternForm, textForm } from './forms.ts'
import type { Params } from './params.ts'
import { type Piece, template } from './template.ts'

const frequencies = codeForm(['WEEK', 'MNTH', 'QURT', 'MIAN', 'YEAR'])
const flags = codeForm(['true', 'false'])
const name140 = textForm(140)
const text35 = textForm(35)
const town = patternForm(/^\d{7}$/, '7 digits')

const ultimateDebtor = template('<UltmtDbtr><Nm>{name}</><Id/PrvtId/Othr/Id>{document}</></>')
const amountOf = template('<ColltnAmt Ccy="BRL">{amount}</>')
const floorOf = template('<Adjstmnt><DtAdjstmntRuleInd>true</><Amt Ccy="BRL">{floor}</></>')
const located = template('<PstlAdr/TwnNm>{town}</>')
const mandate = template(`
  <MndtId>{id}</><MndtReqId>{request}</>
  <Ocrncs><SeqTp>RCUR</><Frqcy/Tp>{frequency}</><FrstColltnDt>{first}</><FnlColltnDt>{final}</></>
  <TrckgInd>{tracking}</>{amount}{floor}
  <Cdtr><Nm>{creditorName}</><Id/PrvtId/Othr/Id>{creditorDocument}</></>
  <CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>{creditorIspb}</>
  <Dbtr>{town}<Id/PrvtId/Othr/Id>{debtorDocument}</></>
  <DbtrAcct/Id/Othr><Id>{account}</><Issr>{branch}</></>
  <DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>{debtorIspb}</>{ultimate}
  <MndtRef>{reference}</><RfrdDoc><Nb>{contract}</><CdtrRef>{description}</></>`)
const step = template('<MndtPrcgDtls><MndtPrcgTp>{type}</><PrcgDtTm>{at}</></>')

/** The parts in which the messages about mandates differ; all of them repeat the terms. */
type MandateParts = {
  readonly request: string
  /** The least that a payer's own limit may be; pain.009 alone has it. */
  readonly floor?: Piece | undefined
  /** This and the next are in pain.012 alone. */
  readonly town?: Piece | undefined
  readonly reference?: string | undefined
}

/** The content of `Mndt` and `OrgnlMndt`. Leaves reading to the end, `done`, to the caller. */
export const mandateOf = (params: Params, draft: Draft, parts: MandateParts): Piece => {
  const creditor = params.object('creditor')
  const debtor = params.object('debtor')
  const ultimate = params.optionalObject('ultimate_debtor')
  const amount = params.optionalCents('amount')
  const piece = mandate({
    id: params.text('mandate_id', forms.mandateId),
    request: parts.request,
    frequency: params.text('frequency', frequencies),
    first: params.text('first_collection_date', forms.date),
    final: params.optional('final_collection_date', forms.date),
    tracking: params.optional('tracking', flags) ?? 'false',
    amount: amount === undefined ? undefined : amountOf({ amount: formatCents(amount) }),
    floor: parts.floor,
    town: parts.town,
    reference: parts.reference,
    creditorName: creditor.text('name', name140),
    creditorDocument: creditor.text('document', forms.cpfCnpj),
    creditorIspb: creditor.optional('ispb', forms.ispb) ?? draft.ispb,
    debtorDocument: debtor.text('document', forms.cpfCnpj),
    account: debtor.text('account_num', forms.numericAccount),
    branch: debtor.optional('branch', forms.branch),
    debtorIspb: debtor.text('ispb', forms.ispb),
    ultimate: ultimate && ultimateDebtorOf(ultimate),
    contract: params.text('contract_number', text35),
    description: params.optional('contract_description', text35),
  })
  creditor.done()
  debtor.done()
  return piece
}

const ultimateDebtorOf = (party: Params): Piece => {
  const name = party.text('name', name140)
  const document = party.text('document', forms.cpfCnpj)
  party.done()
  return ultimateDebtor({ name, document })
}

/** `Adjstmnt` of pain.009. */
export const floorIn = (params: Params): Piece | undefined => {
  const cents = params.optionalCents('minimum_amount')
  return cents === undefined ? undefined : floorOf({ floor: formatCents(cents) })
}

/** The payer's town, which decides on his working days. */
export const townIn = (params: Params): Piece | undefined => {
  const code = params.optional('debtor_town', town)
  return code === undefined ? undefined : located({ town: code })
}

/** Steps of a mandate and when each was taken. */
export const processingSteps = (
  steps: readonly (readonly [type: string, at: string | undefined])[],
): readonly Piece[] => steps.flatMap(([type, at]) => (at === undefined ? [] : [step({ type, at })]))
