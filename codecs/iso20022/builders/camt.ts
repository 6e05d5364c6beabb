import { type Builder, type Draft, groupHeader } from './context.ts'
import { codeForm, forms, type Params, textForm } from './params.ts'
import { agent, money, person, tag } from './write.ts'

const id29 = textForm(29, 29)

const assignment = ({ ispb, messageId, created }: Draft, other: string): string =>
  `<Assgnmt><Id>${messageId}</Id><Assgnr>${agent('Agt', ispb)}</Assgnr><Assgne>${agent('Agt', other)}</Assgne><CreDtTm>${created}</CreDtTm></Assgnmt>`

const processing = (type: string, dateTime: string): string =>
  `<SplmtryData><Envlp><CxlPrcgDtls><CxlPrcgTp>${type}</CxlPrcgTp><PrcgDtTm>${dateTime}</PrcgDtTm></CxlPrcgDtls></Envlp></SplmtryData>`

const cancellationReasons = ['SLBD', 'SLCR', 'ACCT', 'BLCK', 'CCLD', 'FAIL', 'OTHR']
const payersOnly = ['CCLD', 'FAIL']

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
  build: (params, draft) => {
    const cancellation = params.text('cancellation_id', id29)
    const reconciliation = params.text('reconciliation_id', textForm(35))
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const other = params.text('counterparty_ispb', forms.ispb)
    const requester = params.text('requester_document', forms.cpfCnpj)
    const reason = params.text('reason', codeForm(cancellationReasons))
    const type = params.text('processing_type', codeForm(['DHSR', 'DHIP']))
    const at = params.optional('processing_date_time', forms.dateTime) ?? draft.created
    if (payersOnly.includes(reason) && type === 'DHSR') {
      params.refuse('reason', 'consistency', `${reason} is given with processing_type DHIP only`)
    }
    params.done()
    const xml = `<CstmrPmtCxlReq>${assignment(draft, other)}<Undrlyg><OrgnlPmtInfAndCxl><PmtCxlId>${cancellation}</PmtCxlId><OrgnlPmtInfId>${reconciliation}</OrgnlPmtInfId><CxlRsnInf>${person('Orgtr', requester)}<Rsn><Prtry>${reason}</Prtry></Rsn></CxlRsnInf><TxInf><OrgnlEndToEndId>${original}</OrgnlEndToEndId>${processing(type, at)}</TxInf></OrgnlPmtInfAndCxl></Undrlyg></CstmrPmtCxlReq>`
    return { xml, endToEndIds: [original] }
  },
}

const refusals = ['AB09', 'AB10', 'CH16', 'CRNC', 'DENC', 'FBRD', 'FF08', 'PRJL']

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
  build: (params, draft) => {
    const cancellation = params.text('cancellation_id', id29)
    const reconciliation = params.text('reconciliation_id', textForm(35))
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const other = params.text('counterparty_ispb', forms.ispb)
    const status = params.text('status', codeForm(['ACCR', 'RJCR']))
    const reason = params.optional('reason', codeForm(refusals))
    if (status === 'RJCR' && !params.has('reason')) {
      params.refuse('reason', 'required', 'is needed with status RJCR')
    }
    if (status === 'ACCR' && params.has('reason')) {
      params.refuse('reason', 'forbidden', 'is not given with status ACCR')
    }
    const at = params.optional('processing_date_time', forms.dateTime) ?? draft.created
    params.done()
    const why =
      reason === undefined ? '' : `<CxlStsRsnInf><Rsn>${tag('Prtry', reason)}</Rsn></CxlStsRsnInf>`
    const xml = `<RsltnOfInvstgtn>${assignment(draft, other)}<Sts><Conf>INFO</Conf></Sts><CxlDtls><OrgnlPmtInfAndSts><OrgnlPmtInfCxlId>${cancellation}</OrgnlPmtInfCxlId><OrgnlPmtInfId>${reconciliation}</OrgnlPmtInfId><PmtInfCxlSts>${status}</PmtInfCxlSts>${why}<TxInfAndSts><OrgnlEndToEndId>${original}</OrgnlEndToEndId></TxInfAndSts></OrgnlPmtInfAndSts></CxlDtls>${processing(status === 'ACCR' ? 'DHAC' : 'DHRC', at)}</RsltnOfInvstgtn>`
    return { xml, endToEndIds: [original] }
  },
}

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
  build: (params, draft) => {
    const id = params.optional('notification_id', textForm(32)) ?? draft.messageId
    const owner = params.text('account_ispb', forms.ispb)
    const { text } = params.cents('amount')
    const direction = params.text('direction', codeForm(['CRDT', 'DBIT']))
    const status = params.text('status', codeForm(['BOOK', 'INFO']))
    const booked = params.optional('booking_date', forms.date)
    const valued = params.optional('value_date_time', forms.dateTime)
    const domain = params.text('domain', codeForm(['PMNT', 'CAMT']))
    const family = params.text('family', codeForm(['IRCT', 'RRCT', 'MCOP', 'MDOP']))
    const subFamily = params.text('sub_family', codeForm(['DMCT', 'RRTN', 'NTAV']))
    const origin = params.text('origin_message', textForm(35))
    const { xml: details, endToEndId } = detailsOf(params)
    params.done()
    const booking = booked === undefined ? '' : `<BookgDt><Dt>${booked}</Dt></BookgDt>`
    const value = valued === undefined ? '' : `<ValDt><DtTm>${valued}</DtTm></ValDt>`
    const xml = `<BkToCstmrDbtCdtNtfctn><GrpHdr>${groupHeader(draft)}</GrpHdr><Ntfctn><Id>${id}</Id><Acct><Id><Othr><Id>${owner}</Id></Othr></Id></Acct><Ntry>${money('Amt', text)}<CdtDbtInd>${direction}</CdtDbtInd><Sts><Cd>${status}</Cd></Sts>${booking}${value}<BkTxCd><Domn><Cd>${domain}</Cd><Fmly><Cd>${family}</Cd><SubFmlyCd>${subFamily}</SubFmlyCd></Fmly></Domn></BkTxCd><AddtlInfInd><MsgNmId>${origin}</MsgNmId></AddtlInfInd><NtryDtls><TxDtls>${details}</TxDtls></NtryDtls></Ntry></Ntfctn></BkToCstmrDbtCdtNtfctn>`
    return { xml, endToEndIds: [endToEndId] }
  },
}

const localInstruments = ['MANU', 'DICT', 'QRES', 'QRDN', 'APES', 'APDN', 'INIC', 'AUTO']
const purposes = ['IPAY', 'GSCB', 'OTHR', 'REFU', 'IPRT']

const detailsOf = (params: Params): { readonly xml: string; readonly endToEndId: string } => {
  const instructionId = params.optional('instruction_id', forms.instructionId)
  const endToEndId = params.text('end_to_end_id', forms.endToEndId)
  const level = params.optional('service_level', codeForm(['PAGPRI', 'PAGFRD', 'PAGAGD']))
  const debtor = params.optional('debtor_ispb', forms.ispb)
  const creditor = params.optional('creditor_ispb', forms.ispb)
  const instrument = params.optional('local_instrument', codeForm(localInstruments))
  const purpose = params.optional('purpose', codeForm(purposes))
  const remittance = params.optional('remittance_information', textForm(140))
  const wrapped = (outer: string, inner: string, value: string | undefined): string =>
    value === undefined ? '' : tag(outer, tag(inner, value))
  const levelXml =
    level === undefined ? '' : `<Prtry><Tp>ServiceLevel</Tp><Ref>${level}</Ref></Prtry>`
  const agents = `${debtor === undefined ? '' : agent('DbtrAgt', debtor)}${creditor === undefined ? '' : agent('CdtrAgt', creditor)}`
  const xml = `<Refs>${tag('InstrId', instructionId)}<EndToEndId>${endToEndId}</EndToEndId>${levelXml}</Refs><RltdAgts>${agents}</RltdAgts>${wrapped('LclInstrm', 'Prtry', instrument)}${wrapped('Purp', 'Cd', purpose)}${wrapped('RmtInf', 'Ustrd', remittance)}`
  return { xml, endToEndId }
}
