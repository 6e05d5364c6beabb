import { cancellationReasons, cancellationRefusals } from '../codes/refusals.ts'
import { amountOf } from './amount.ts'
import type { Builder, Draft } from './context.ts'
import { codeForm, forms, textForm } from './forms.ts'
import type { XmlOutput } from './output.ts'
import type { Params } from './params.ts'

const id29 = textForm(29, 29)
const text35 = textForm(35)

const writeAssignment = (
  { ispb, messageId, created }: Draft,
  other: string,
  output: XmlOutput,
): void =>
  output.write`<Assgnmt><Id>${messageId}</><Assgnr/Agt/FinInstnId/ClrSysMmbId/MmbId>${ispb}</><Assgne/Agt/FinInstnId/ClrSysMmbId/MmbId>${other}</><CreDtTm>${created}</></>`

const reasonForm = codeForm([...cancellationReasons.keys()])
const processingTypes = codeForm(['DHSR', 'DHIP'])

/**
 * CAMT055: asks to cancel a scheduled charge (`DHSR`, by the receiver's participant), or says that it was
 * cancelled (`DHIP`, by the payer's).
 *
 * ```json
 * { "cancellation_id": "29 characters", "reconciliation_id": "…",
 *   "original_end_to_end_id": "E12345678202603021405…", "counterparty_ispb": "87654321",
 *   "requester_document": "98765432100", "reason": "SLBD", "processing_type": "DHSR" }
 * ```
 *
 * The reasons CCLD and FAIL are the payer's participant's. `processing_date_time` is now when absent.
 */
export const camt055: Builder = {
  type: 'camt.055',
  build: (params, draft, output) => {
    const cancellation = params.text('cancellation_id', id29)
    const reconciliation = params.text('reconciliation_id', text35)
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const other = params.text('counterparty_ispb', forms.ispb)
    const requester = params.text('requester_document', forms.cpfCnpj)
    const reason = params.text('reason', reasonForm)
    const type = params.text('processing_type', processingTypes)
    const at = params.optional('processing_date_time', forms.dateTime) ?? draft.created
    if (type === 'DHSR' && cancellationReasons.get(reason)?.raisedBy.includes('R') === false) {
      params.refuse('reason', 'consistency', `${reason} is given with processing_type DHIP only`)
    }
    params.done()
    output.write`<CstmrPmtCxlReq>`
    writeAssignment(draft, other, output)
    output.write`<Undrlyg/OrgnlPmtInfAndCxl><PmtCxlId>${cancellation}</><OrgnlPmtInfId>${reconciliation}</><CxlRsnInf><Orgtr/Id/PrvtId/Othr/Id>${requester}</><Rsn/Prtry>${reason}</></><TxInf><OrgnlEndToEndId>${original}</><SplmtryData/Envlp/CxlPrcgDtls><CxlPrcgTp>${type}</><PrcgDtTm>${at}</></></></></CstmrPmtCxlReq>`
    return [original]
  },
}

const answers = codeForm(['ACCR', 'RJCR'])
const refusals = codeForm([...cancellationRefusals.keys()])

/**
 * CAMT029: answers a CAMT055.
 *
 * ```json
 * { "cancellation_id": "that of the CAMT055", "reconciliation_id": "…",
 *   "original_end_to_end_id": "E12345678202603021405…", "counterparty_ispb": "12345678",
 *   "status": "RJCR", "reason": "DENC" }
 * ```
 *
 * `status` is ACCR or RJCR, RJCR with a reason. `processing_date_time` is now when absent.
 */
export const camt029: Builder = {
  type: 'camt.029',
  build: (params, draft, output) => {
    const cancellation = params.text('cancellation_id', id29)
    const reconciliation = params.text('reconciliation_id', text35)
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const other = params.text('counterparty_ispb', forms.ispb)
    const status = params.text('status', answers)
    const reason = params.optional('reason', refusals)
    if (status === 'RJCR' && !params.has('reason')) {
      params.refuse('reason', 'required', 'is needed with status RJCR')
    }
    if (status === 'ACCR' && params.has('reason')) {
      params.refuse('reason', 'forbidden', 'is not given with status ACCR')
    }
    const at = params.optional('processing_date_time', forms.dateTime) ?? draft.created
    params.done()
    const type = status === 'ACCR' ? 'DHAC' : 'DHRC'
    output.write`<RsltnOfInvstgtn>`
    writeAssignment(draft, other, output)
    output.write`<Sts/Conf>INFO</><CxlDtls/OrgnlPmtInfAndSts><OrgnlPmtInfCxlId>${cancellation}</><OrgnlPmtInfId>${reconciliation}</><PmtInfCxlSts>${status}</><CxlStsRsnInf/Rsn/Prtry>${reason}</><TxInfAndSts/OrgnlEndToEndId>${original}</></><SplmtryData/Envlp/CxlPrcgDtls><CxlPrcgTp>${type}</><PrcgDtTm>${at}</></></RsltnOfInvstgtn>`
    return [original]
  },
}

const directions = codeForm(['CRDT', 'DBIT'])
const entryStatuses = codeForm(['BOOK', 'INFO'])
const domains = codeForm(['PMNT', 'CAMT'])
const families = codeForm(['IRCT', 'RRCT', 'MCOP', 'MDOP'])
const subFamilies = codeForm(['DMCT', 'RRTN', 'NTAV'])
const serviceLevels = codeForm(['PAGPRI', 'PAGFRD', 'PAGAGD'])
const instruments = codeForm(['MANU', 'DICT', 'QRES', 'QRDN', 'APES', 'APDN', 'INIC', 'AUTO'])
const purposes = codeForm(['IPAY', 'GSCB', 'OTHR', 'REFU', 'IPRT'])
const notificationIdForm = textForm(32)
const remittanceForm = textForm(140)

/**
 * CAMT054: notifies of one entry on a PI account.
 *
 * ```json
 * { "account_ispb": "12345678", "amount": 12345, "direction": "CRDT", "status": "BOOK",
 *   "domain": "PMNT", "family": "IRCT", "sub_family": "DMCT", "origin_message": "pacs.008",
 *   "end_to_end_id": "E12345678202603021405…", "debtor_ispb": "12345678", "creditor_ispb": "87654321" }
 * ```
 *
 * Further: `notification_id` (the message's own id when absent), `instruction_id`, `booking_date`,
 * `value_date_time`, `service_level`, `local_instrument`, `purpose`, `remittance_information`.
 */
export const camt054: Builder = {
  type: 'camt.054',
  build: (params, draft, output) => {
    const id = params.optional('notification_id', notificationIdForm) ?? draft.messageId
    const owner = params.text('account_ispb', forms.ispb)
    const amount = amountOf(params.cents('amount'))
    const direction = params.text('direction', directions)
    const status = params.text('status', entryStatuses)
    const booked = params.optional('booking_date', forms.date)
    const valued = params.optional('value_date_time', forms.dateTime)
    const domain = params.text('domain', domains)
    const family = params.text('family', families)
    const subFamily = params.text('sub_family', subFamilies)
    const origin = params.text('origin_message', text35)
    output.write`<BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>${draft.messageId}</><CreDtTm>${draft.created}</></><Ntfctn><Id>${id}</><Acct/Id/Othr/Id>${owner}</><Ntry><Amt Ccy="BRL">${amount}</><CdtDbtInd>${direction}</><Sts/Cd>${status}</><BookgDt/Dt>${booked}</><ValDt/DtTm>${valued}</><BkTxCd/Domn><Cd>${domain}</><Fmly><Cd>${family}</><SubFmlyCd>${subFamily}</></></><AddtlInfInd/MsgNmId>${origin}</><NtryDtls/TxDtls>`
    const endToEndId = writeDetails(params, output)
    params.done()
    output.write`</TxDtls></NtryDtls></Ntry></Ntfctn></BkToCstmrDbtCdtNtfctn>`
    return [endToEndId]
  },
}

const writeDetails = (params: Params, output: XmlOutput): string => {
  const instructionId = params.optional('instruction_id', forms.instructionId)
  const endToEndId = params.text('end_to_end_id', forms.endToEndId)
  const level = params.optional('service_level', serviceLevels)
  const debtor = params.optional('debtor_ispb', forms.ispb)
  const creditor = params.optional('creditor_ispb', forms.ispb)
  const instrument = params.optional('local_instrument', instruments)
  const purpose = params.optional('purpose', purposes)
  const remittance = params.optional('remittance_information', remittanceForm)
  output.write`<Refs><InstrId>${instructionId}</><EndToEndId>${endToEndId}</>`
  if (level !== undefined) output.write`<Prtry><Tp>ServiceLevel</><Ref>${level}</></>`
  output.write`</Refs><RltdAgts><DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>${debtor}</><CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>${creditor}</></><LclInstrm/Prtry>${instrument}</><Purp/Cd>${purpose}</><RmtInf/Ustrd>${remittance}</>`
  return endToEndId
}
