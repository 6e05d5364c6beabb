import { formatCents } from '../../amount.ts'
import { type Builder, type Draft, groupHeader } from '../../building/builder.ts'
import { remittanceOf, reportedCashOf } from '../../building/cash.ts'
import { codeForm, forms, textForm } from '../../building/forms.ts'
import { messageId } from '../../building/identifiers.ts'
import type { Params } from '../../building/params.ts'
import { reportedTaxOf } from '../../building/tax.ts'
import { type Piece, template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'

/** Notifications of one CAMT054: as many as one payment message has transactions; the schema has no limit. */
export const notificationsMax = 500

const directions = codeForm(['CRDT', 'DBIT'])
const entryStatuses = codeForm(codeLists.entry_status.keys())
const domains = codeForm(['PMNT', 'CAMT'])
const families = codeForm(['IRCT', 'RRCT', 'MCOP', 'MDOP'])
const returnSubFamily = 'RRTN'
const subFamilies = codeForm(['DMCT', returnSubFamily, 'NTAV'])
const serviceLevels = codeForm(codeLists.service_level.keys())
const priorities = codeForm(codeLists.priority.keys())
const instruments = codeForm(codeLists.local_instrument.keys())
const purposes = codeForm(codeLists.purpose.keys())
const accountTypes = codeForm(codeLists.account_type.keys())
const counterpartyTypes = codeForm(['ContraparteSTR', 'ContraparteSelic'])
const reasons = codeForm(codeLists.return_reason.keys())
const text4 = textForm(4)
const text35 = textForm(35)
const text77 = textForm(77)
const text105 = textForm(105)
const text140 = textForm(140)

const notification = template(`
  <Ntfctn>
    <Id>{id}</><Acct/Id/Othr/Id>{owner}</>
    <Ntry>
      <Amt Ccy="BRL">{amount}</><CdtDbtInd>{direction}</><Sts/Cd>{status}</>
      <BookgDt/Dt>{booked}</><ValDt/DtTm>{valued}</>
      <BkTxCd/Domn><Cd>{domain}</><Fmly><Cd>{family}</><SubFmlyCd>{subFamily}</></></>
      <AddtlInfInd/MsgNmId>{origin}</>
      <NtryDtls/TxDtls>{transaction}</><AddtlNtryInf>{error}</>
    </>
    <AddtlNtfctnInf>{description}</>
  </>`)
const transactionTemplate = template(`
  <Refs>
    <InstrId>{instructionId}</><EndToEndId>{endToEndId}</><TxId>{transactionId}</>
    <ClrSysRef>{clearing}</>{level}
  </>{parties}
  <RltdAgts>
    <DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>{debtorIspb}</>
    <CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>{creditorIspb}</>{counterparty}
  </>
  <LclInstrm/Prtry>{instrument}</><Purp/Cd>{purpose}</>{remittance}
  <RltdDts/AccptncDtTm>{accepted}</>{tax}{returned}<AddtlTxInf>{priority}</>`)
const counterpartyTemplate = template(
  '<Prtry><Tp>{type}</><Agt/FinInstnId/ClrSysMmbId/MmbId>{ispb}</></>',
)
const levelTemplate = template('<Prtry><Tp>ServiceLevel</><Ref>{serviceLevel}</></>')
const partiesTemplate = template(`
  <RltdPties>
    <InitgPty/Pty/Id/OrgId/Othr/Id>{initiator}</>
    <Dbtr/Pty><Nm>{name}</><Id/PrvtId/Othr/Id>{debtorDocument}</></>
    <DbtrAcct>
      <Id/Othr><Id>{debtorAccount}</><Issr>{debtorBranch}</></><Tp/Cd>{debtorAccountType}</>
    </>
    <Cdtr/Pty/Id/PrvtId/Othr/Id>{creditorDocument}</>
    <CdtrAcct>
      <Id/Othr><Id>{creditorAccount}</><Issr>{creditorBranch}</></><Tp/Cd>{creditorAccountType}</>
      <Prxy/Id>{proxy}</>
    </>
  </>`)
const returnTemplate = template('<RtrInf><Rsn/Cd>{reason}</><AddtlInf>{information}</></>')

type Notification = { readonly xml: Piece; readonly endToEndId: string }

/** CAMT054 notifies of an entry on a PI account, or of up to 500 in `notifications`. */
export const builder: Builder = {
  root: 'BkToCstmrDbtCdtNtfctn',
  build: (params, draft) => {
    const notifications = params.each('notifications', notificationsMax, (one) =>
      notificationOf(one, draft, one === params ? draft.messageId : messageId(draft)),
    )
    params.done()
    return {
      xml: [groupHeader(draft), ...notifications.map(({ xml }) => xml)],
      ids: notifications.map(({ endToEndId }) => endToEndId),
    }
  },
}

const notificationOf = (params: Params, draft: Draft, ownId: string): Notification => {
  const id = params.optional('notification_id', forms.messageId) ?? ownId
  const owner = params.text('account_ispb', forms.ispb)
  const cents = params.cents('amount')
  const direction = params.text('direction', directions)
  const status = params.text('status', entryStatuses)
  const booked = params.optional('booking_date', forms.date)
  const valued = params.optional('value_date_time', forms.dateTime)
  const domain = params.text('domain', domains)
  const family = params.text('family', families)
  const subFamily = params.text('sub_family', subFamilies)
  const origin = params.text('origin_message', text35)
  const error = params.optional('error_code', text4)
  const description = params.optional('error_description', text105)
  const instructionId = params.optional('instruction_id', instructionForm(draft))
  const endToEndId = params.text('end_to_end_id', forms.bookedId)
  const transactionId = params.optional('transaction_id', text35)
  const clearing = params.optional('clearing_system_reference', forms.controlNumber)
  const serviceLevel = params.optional('service_level', serviceLevels)
  const transaction = transactionTemplate({
    instructionId,
    endToEndId,
    transactionId,
    clearing,
    level: serviceLevel && levelTemplate({ serviceLevel }),
    ...paymentOf(params, cents),
    counterparty: counterpartyOf(params),
    returned: returnOf(params, subFamily),
    priority: priorityOf(params, serviceLevel),
  })
  const entry = { amount: formatCents(cents), direction, status, booked, valued, domain, family }
  const rest = { subFamily, origin, transaction, error, description }
  return { xml: notification({ id, owner, ...entry, ...rest }), endToEndId }
}

/** Since 1.16 an entry of a return may name the payment here. */
const instructionForm = ({ version }: Draft) =>
  version === '1.15' ? forms.returnId : forms.instructionId

const counterpartyOf = (params: Params): Piece | undefined => {
  const counterparty = params.optionalObject('counterparty')
  if (counterparty === undefined) return undefined
  const type = counterparty.text('type', counterpartyTypes)
  const ispb = counterparty.text('ispb', forms.ispb)
  counterparty.done()
  return counterpartyTemplate({ type, ispb })
}

const paymentOf = (params: Params, cents: number) => {
  const { parties, ...documents } = partiesOf(params)
  const debtorIspb = params.optional('debtor_ispb', forms.ispb)
  const creditorIspb = params.optional('creditor_ispb', forms.ispb)
  const instrument = params.optional('local_instrument', instruments)
  const purpose = params.optional('purpose', purposes)
  const text = params.optional('remittance_information', text140)
  const accepted = params.optional('acceptance_date_time', forms.dateTime)
  const remittance = remittanceOf(text, reportedCashOf(params, purpose, cents))
  const taxParams = params.optionalObject('tax')
  const tax =
    taxParams &&
    reportedTaxOf(taxParams, { amountCents: cents, instrument: instrument ?? '', ...documents })
  return { parties, debtorIspb, creditorIspb, instrument, purpose, remittance, accepted, tax }
}

/** Payer and payee are given together or not at all; without them the documents are empty. */
const partiesOf = (params: Params) => {
  const initiator = params.optional('initiator_document', forms.cnpj)
  const debtor = params.optionalObject('debtor')
  const creditor = params.optionalObject('creditor')
  if (debtor !== undefined || creditor !== undefined || params.has('initiator_document')) {
    for (const name of ['debtor', 'creditor']) {
      if (!params.has(name)) params.refuse(name, 'required', 'is told together with the other')
    }
  }
  const payer = debtor && {
    name: debtor.text('name', text140),
    debtorDocument: debtor.text('document', forms.cpfCnpj),
    debtorAccount: debtor.text('account_num', forms.accountNumber),
    debtorBranch: debtor.optional('branch', forms.branch),
    debtorAccountType: debtor.text('account_type', accountTypes),
  }
  const payee = creditor && {
    creditorDocument: creditor.text('document', forms.cpfCnpj),
    creditorAccount: creditor.text('account_num', forms.accountNumber),
    creditorBranch: creditor.optional('branch', forms.branch),
    creditorAccountType: creditor.text('account_type', accountTypes),
    proxy: creditor.optional('proxy', text77),
  }
  debtor?.done()
  creditor?.done()
  return {
    parties: payer && payee && partiesTemplate({ initiator, ...payer, ...payee }),
    debtorDocument: payer?.debtorDocument ?? '',
    creditorDocument: payee?.creditorDocument ?? '',
  }
}

const returnOf = (params: Params, subFamily: string): Piece | undefined => {
  const reason = params.optional('return_reason', reasons)
  const information = params.optional('additional_information', text105)
  if (params.has('return_reason') && subFamily !== '' && subFamily !== returnSubFamily) {
    params.refuse('return_reason', 'forbidden', `is given with sub_family ${returnSubFamily} only`)
  }
  if (params.has('additional_information') && !params.has('return_reason')) {
    params.refuse('return_reason', 'required', 'is needed with additional_information')
  }
  return reason === undefined ? undefined : returnTemplate({ reason, information })
}

/** Only the service level PAGPRI has the priority HIGH. */
const priorityOf = (params: Params, serviceLevel: string | undefined): string | undefined => {
  const priority = params.optional('priority', priorities)
  if (priority === undefined) return undefined
  if (serviceLevel !== undefined && (priority === 'HIGH') !== (serviceLevel === 'PAGPRI')) {
    params.refuse('priority', 'consistency', 'must be HIGH with PAGPRI, NORM with any other')
  }
  return priority
}
