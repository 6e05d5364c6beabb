import { returnReasons } from '../codes/reasons.ts'
import { amountOf } from './amount.ts'
import { type Cash, reportedCashOf, writeCash } from './cash.ts'
import type { Builder, Draft } from './context.ts'
import { codeForm, forms, textForm } from './forms.ts'
import { messageId } from './identifiers.ts'
import type { XmlOutput } from './output.ts'
import type { Params } from './params.ts'
import { reportedTaxOf, writeTax } from './tax.ts'
import type { Content, Value } from './values.ts'

/** Notifications of one CAMT054: as many as one payment message has transactions; the schema has no limit. */
export const notificationsMax = 500

const directions = codeForm(['CRDT', 'DBIT'])
const entryStatuses = codeForm(['BOOK', 'INFO'])
const domains = codeForm(['PMNT', 'CAMT'])
const families = codeForm(['IRCT', 'RRCT', 'MCOP', 'MDOP'])
const returnTemplate = 'RRTN'
const subFamilies = codeForm(['DMCT', returnTemplate, 'NTAV'])
const serviceLevels = codeForm(['PAGPRI', 'PAGFRD', 'PAGAGD'])
const priorities = codeForm(['HIGH', 'NORM'])
const instruments = codeForm(['MANU', 'DICT', 'QRES', 'QRDN', 'APES', 'APDN', 'INIC', 'AUTO'])
const purposes = codeForm(['IPAY', 'GSCB', 'OTHR', 'REFU', 'IPRT'])
const accountTypes = codeForm(['CACC', 'SVGS', 'TRAN', 'SLRY', 'OTHR'])
const reasons = codeForm([...returnReasons.keys()])
const text4 = textForm(4)
const text20 = textForm(20)
const text32 = textForm(32)
const text35 = textForm(35)
const text77 = textForm(77)
const text105 = textForm(105)
const text140 = textForm(140)

/**
 * CAMT054: notifies of an entry on a PI account.
 *
 * ```json
 * { "account_ispb": "12345678", "amount": 12345, "direction": "CRDT", "status": "BOOK",
 *   "domain": "PMNT", "family": "RRCT", "sub_family": "DMCT", "origin_message": "pacs.008",
 *   "end_to_end_id": "E12345678202603021405…", "debtor_ispb": "87654321", "creditor_ispb": "12345678" }
 * ```
 *
 * Further: `notification_id` (of the query that it answers; the message's own id when absent), `booking_date`,
 * `value_date_time`, `error_code` and `error_description` of a query that failed; of the payment `instruction_id`,
 * `transaction_id`, `clearing_system_reference`, `service_level`, `priority`, `local_instrument`, `purpose`,
 * `remittance_information`, `acceptance_date_time`, `withdrawal` and `tax` as of PACS008; and who pays and is paid:
 *
 * ```json
 * { "initiator_document": "12345678000195",
 *   "debtor": { "name": "…", "document": "12345678909", "account_num": "500100", "branch": "0001",
 *               "account_type": "CACC" },
 *   "creditor": { "document": "98765432100", "account_num": "600200", "account_type": "TRAN",
 *                 "proxy": "key@example.com" } }
 * ```
 *
 * Of a return (`sub_family` RRTN): `return_reason` and `additional_information`. Up to 500 entries go into
 * `notifications`, each with the same parameters.
 */
export const camt054: Builder = {
  type: 'camt.054',
  root: 'BkToCstmrDbtCdtNtfctn',
  isGroup: true,
  build: (params, draft, output) => {
    output.write`</GrpHdr>`
    const items = params.optionalList('notifications', notificationsMax)
    const ids =
      items === undefined
        ? [writeNotification(params, draft.messageId, output)]
        : items.map((item) => writeItem(item, draft, output))
    params.done()
    return ids
  },
}

const writeItem = (item: Params, { ispb, random }: Draft, output: XmlOutput): string => {
  const id = writeNotification(item, messageId(ispb, random), output)
  item.done()
  return id
}

const writeNotification = (params: Params, ownId: Value, output: XmlOutput): string => {
  const id = params.optional('notification_id', text32) ?? ownId
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
  output.write`<Ntfctn><Id>${id}</><Acct/Id/Othr/Id>${owner}</><Ntry><Amt Ccy="BRL">${amountOf(cents)}</><CdtDbtInd>${direction}</><Sts/Cd>${status}</><BookgDt/Dt>${booked}</><ValDt/DtTm>${valued}</><BkTxCd/Domn><Cd>${domain}</><Fmly><Cd>${family}</><SubFmlyCd>${subFamily}</></></><AddtlInfInd/MsgNmId>${origin}</><NtryDtls/TxDtls>`
  const { endToEndId, serviceLevel } = writeReferences(params, output)
  const documents = writeParties(params, output)
  writePayment(params, { cents, ...documents }, output)
  writeReturn(params, subFamily, output)
  writePriority(params, serviceLevel, output)
  output.write`</TxDtls></NtryDtls><AddtlNtryInf>${error}</></Ntry><AddtlNtfctnInf>${description}</></Ntfctn>`
  return endToEndId
}

type References = { readonly endToEndId: string; readonly serviceLevel: string | undefined }

const writeReferences = (params: Params, output: XmlOutput): References => {
  const instructionId = params.optional('instruction_id', forms.instructionId)
  const endToEndId = params.text('end_to_end_id', forms.endToEndId)
  const transactionId = params.optional('transaction_id', forms.transactionId)
  const clearing = params.optional('clearing_system_reference', text20)
  const serviceLevel = params.optional('service_level', serviceLevels)
  output.write`<Refs><InstrId>${instructionId}</><EndToEndId>${endToEndId}</><TxId>${transactionId}</><ClrSysRef>${clearing}</>`
  if (serviceLevel !== undefined) {
    output.write`<Prtry><Tp>ServiceLevel</><Ref>${serviceLevel}</></>`
  }
  output.write`</Refs>`
  return { endToEndId, serviceLevel }
}

/** Empty where they are not told. */
type Documents = { readonly debtorDocument: Content; readonly creditorDocument: Content }

/** Who pays and who is paid are told together, or neither. */
const writeParties = (params: Params, output: XmlOutput): Documents => {
  const initiator = params.optional('initiator_document', forms.cnpj)
  const debtor = params.optionalObject('debtor')
  const creditor = params.optionalObject('creditor')
  if (debtor !== undefined || creditor !== undefined || params.has('initiator_document')) {
    for (const name of ['debtor', 'creditor']) {
      if (!params.has(name)) params.refuse(name, 'required', 'is told together with the other')
    }
  }
  const payer = debtor && { name: debtor.text('name', text140), ...partyOf(debtor) }
  const payee = creditor && { ...partyOf(creditor), proxy: creditor.optional('proxy', text77) }
  debtor?.done()
  creditor?.done()
  if (payer !== undefined && payee !== undefined) {
    output.write`<RltdPties><InitgPty/Pty/Id/OrgId/Othr/Id>${initiator}</><Dbtr/Pty><Nm>${payer.name}</><Id/PrvtId/Othr/Id>${payer.document}</></><DbtrAcct><Id/Othr><Id>${payer.account}</><Issr>${payer.branch}</></><Tp/Cd>${payer.type}</></><Cdtr/Pty/Id/PrvtId/Othr/Id>${payee.document}</><CdtrAcct><Id/Othr><Id>${payee.account}</><Issr>${payee.branch}</></><Tp/Cd>${payee.type}</><Prxy/Id>${payee.proxy}</></></>`
  }
  return { debtorDocument: payer?.document ?? '', creditorDocument: payee?.document ?? '' }
}

const partyOf = (party: Params) => ({
  document: party.text('document', forms.cpfCnpj),
  account: party.text('account_num', forms.accountNumber),
  branch: party.optional('branch', forms.branch),
  type: party.text('account_type', accountTypes),
})

const writePayment = (
  params: Params,
  { cents, ...documents }: Documents & { readonly cents: number },
  output: XmlOutput,
): void => {
  const debtor = params.optional('debtor_ispb', forms.ispb)
  const creditor = params.optional('creditor_ispb', forms.ispb)
  const instrument = params.optional('local_instrument', instruments)
  const purpose = params.optional('purpose', purposes)
  const text = params.optional('remittance_information', text140)
  const accepted = params.optional('acceptance_date_time', forms.dateTime)
  const cash = reportedCashOf(params, purpose, cents)
  const taxParams = params.optionalObject('tax')
  const tax =
    taxParams &&
    reportedTaxOf(taxParams, { amountCents: cents, instrument: instrument ?? '', ...documents })
  output.write`<RltdAgts><DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>${debtor}</><CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>${creditor}</></><LclInstrm/Prtry>${instrument}</><Purp/Cd>${purpose}</>`
  writeRemittance(text, cash, output)
  output.write`<RltdDts/AccptncDtTm>${accepted}</>`
  if (tax !== undefined) writeTax(tax, output)
}

const writeRemittance = (
  text: Content | undefined,
  cash: Cash | undefined,
  output: XmlOutput,
): void => {
  if (cash === undefined) {
    output.write`<RmtInf/Ustrd>${text}</>`
    return
  }
  output.write`<RmtInf><Ustrd>${text}</>`
  writeCash(cash, output)
  output.write`</RmtInf>`
}

const writeReturn = (params: Params, subFamily: string, output: XmlOutput): void => {
  const reason = params.optional('return_reason', reasons)
  const information = params.optional('additional_information', text105)
  if (params.has('return_reason') && subFamily !== '' && subFamily !== returnTemplate) {
    params.refuse('return_reason', 'forbidden', `is given with sub_family ${returnTemplate} only`)
  }
  if (params.has('additional_information') && !params.has('return_reason')) {
    params.refuse('return_reason', 'required', 'is needed with additional_information')
  }
  if (reason === undefined) return
  output.write`<RtrInf><Rsn/Cd>${reason}</><AddtlInf>${information}</></>`
}

/** HIGH is the priority of PAGPRI and of no other service level. */
const writePriority = (
  params: Params,
  serviceLevel: string | undefined,
  output: XmlOutput,
): void => {
  const priority = params.optional('priority', priorities)
  if (priority === undefined) return
  if (serviceLevel !== undefined && (priority === 'HIGH') !== (serviceLevel === 'PAGPRI')) {
    params.refuse('priority', 'consistency', 'must be HIGH with PAGPRI, NORM with any other')
  }
  output.write`<AddtlTxInf>${priority}</>`
}
