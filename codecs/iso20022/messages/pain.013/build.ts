import { formatCents } from '../../amount.ts'
import { type Builder, type Draft, groupHeader } from '../../building/builder.ts'
import { codeForm, forms, textForm } from '../../building/forms.ts'
import { endToEndId } from '../../building/identifiers.ts'
import type { Params } from '../../building/params.ts'
import { chargeTaxOf } from '../../building/tax.ts'
import { type Piece, template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'

/** Charges of one PAIN013. */
export const chargesMax = 500

const accountTypes = codeForm(['CACC', 'SVGS', 'TRAN'])
const purposes = codeForm(codeLists.charge_purpose.keys())
const name140 = textForm(140)

const header = template('<NbOfTxs>{count}</><InitgPty/Id/OrgId/Othr/Id>00000000000000</>')
const ultimateDebtor = template('<UltmtDbtr><Nm>{name}</><Id/PrvtId/Othr/Id>{document}</></>')
const payment = template(`
  <PmtInf>
    <PmtInfId>{reconciliation}</><PmtMtd>TRF</><ReqdExctnDt/DtTm>{execution}</><XpryDt/Dt>{due}</>
    <Dbtr/Id/PrvtId/Othr/Id>{debtorDocument}</>
    <DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>{debtorIspb}</>{ultimate}
    <CdtTrfTx>
      <PmtId/EndToEndId>{id}</>
      <PmtTpInf><InstrPrty>NORM</><SvcLvl/Prtry>PAGAGD</><LclInstrm/Prtry>AUTO</></>
      <Amt/InstdAmt Ccy="BRL">{amount}</><ChrgBr>SLEV</><MndtRltdInf/MndtId>{mandateId}</>
      <CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>{ispb}</><Cdtr/Id/PrvtId/Othr/Id>{document}</>
      <CdtrAcct><Id/Othr><Id>{account}</><Issr>{branch}</></><Tp/Cd>{accountType}</></>
      <Purp/Prtry>{purpose}</>{tax}<RmtInf/Ustrd>{remittance}</>
    </>
  </>`)

type Charge = { readonly xml: Piece; readonly id: string }

/**
 * PAIN013 schedules charges of Pix Automático; each becomes a payment with the same `end_to_end_id`. The purpose
 * AGND schedules; NTAG and RIFL try again.
 */
export const builder: Builder = {
  root: 'CdtrPmtActvtnReq',
  build: (params, draft) => {
    const items = params.list('charges', chargesMax)
    const charges = items.map((item) => chargeOf(item, draft))
    const ids = charges.map(({ id }) => id)
    params.refuseRepeated('charges', 'end_to_end_id', ids)
    params.done()
    const count = String(items.length)
    const xml = [groupHeader(draft, header({ count })), ...charges.map((one) => one.xml)]
    return { xml, ids }
  },
}

const chargeOf = (params: Params, draft: Draft): Charge => {
  const reconciliation = params.text('reconciliation_id', forms.reconciliationId)
  const execution = params.optional('execution_date_time', forms.dateTime)
  const due = params.text('due_date', forms.date)
  const debtor = params.object('debtor')
  const debtorDocument = debtor.text('document', forms.cpfCnpj)
  const debtorIspb = debtor.text('ispb', forms.ispb)
  debtor.done()
  const ultimate = ultimateDebtorOf(params)
  const id = params.optional('end_to_end_id', forms.endToEndId) ?? endToEndId(draft)
  const cents = params.cents('amount')
  const mandateId = params.text('mandate_id', forms.mandateId)
  const creditor = creditorOf(params.object('creditor'), draft)
  const purpose = params.text('purpose', purposes)
  if (purpose === 'AGND' && !params.has('execution_date_time')) {
    params.refuse('execution_date_time', 'required', 'is needed with purpose AGND')
  }
  if (purpose !== 'AGND' && params.has('execution_date_time')) {
    params.refuse('execution_date_time', 'forbidden', 'is given with purpose AGND only')
  }
  const taxParams = params.optionalObject('tax')
  const tax = taxParams && chargeTaxOf(taxParams, cents, debtorDocument)
  const remittance = params.optional('remittance_information', name140)
  params.done()
  const schedule = { reconciliation, execution, due, debtorDocument, debtorIspb, ultimate }
  const transfer = { id, amount: formatCents(cents), mandateId, purpose, tax, remittance }
  return { xml: payment({ ...schedule, ...transfer, ...creditor }), id }
}

const ultimateDebtorOf = (params: Params): Piece | undefined => {
  const party = params.optionalObject('ultimate_debtor')
  if (party === undefined) return undefined
  const name = party.text('name', name140)
  const document = party.text('document', forms.cpfCnpj)
  party.done()
  return ultimateDebtor({ name, document })
}

const creditorOf = (params: Params, draft: Draft) => {
  const party = {
    ispb: params.optional('ispb', forms.ispb) ?? draft.ispb,
    document: params.text('document', forms.cpfCnpj),
    account: params.text('account_num', forms.numericAccount),
    branch: params.optional('branch', forms.branch),
    accountType: params.text('account_type', accountTypes),
  }
  params.done()
  return party
}
