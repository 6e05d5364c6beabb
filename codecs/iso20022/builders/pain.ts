import { type Builder, type Content, type Draft, groupHeader } from './context.ts'
import { endToEndId } from './identifiers.ts'
import { codeForm, forms, type Params, textForm } from './params.ts'
import { account, agent, money, person, tag } from './write.ts'

/** Charges of one PAIN013. */
export const chargesMax = 500

const noOrganisation =
  '<InitgPty><Id><OrgId><Othr><Id>00000000000000</Id></Othr></OrgId></Id></InitgPty>'

/**
 * PAIN013: schedules charges of Pix Automático; each becomes a payment with the same `end_to_end_id`.
 *
 * ```json
 * { "charges": [{ "reconciliation_id": "26 to 35 letters or digits", "mandate_id": "RR12345678…",
 *     "amount": 4990, "purpose": "AGND", "execution_date_time": "2026-03-05T12:00:00.000Z",
 *     "due_date": "2026-03-05",
 *     "debtor": { "ispb": "87654321", "document": "98765432100" },
 *     "creditor": { "document": "12345678000195", "account_num": "500100", "account_type": "CACC" } }] }
 * ```
 *
 * `purpose`: AGND schedules and needs `execution_date_time`; NTAG and RIFL try again and have none. Further:
 * `end_to_end_id`, `creditor.ispb` (the sender when absent), `creditor.branch`,
 * `ultimate_debtor` with `name` and `document`, `remittance_information`.
 */
export const pain013: Builder = {
  type: 'pain.013',
  build: (params, draft) => {
    const charges = params.list('charges', chargesMax).map((item) => charge(item, draft))
    params.done()
    const xml = `<CdtrPmtActvtnReq><GrpHdr>${groupHeader(draft)}<NbOfTxs>${charges.length}</NbOfTxs>${noOrganisation}</GrpHdr>${charges.map(({ xml }) => xml).join('')}</CdtrPmtActvtnReq>`
    return { xml, endToEndIds: charges.flatMap(({ endToEndIds }) => endToEndIds) }
  },
}

const charge = (params: Params, draft: Draft): Content => {
  const reconciliationId = params.text('reconciliation_id', forms.reconciliationId)
  const execution = params.optional('execution_date_time', forms.dateTime)
  const due = params.text('due_date', forms.date)
  const debtor = params.object('debtor')
  const debtorDocument = debtor.text('document', forms.cpfCnpj)
  const debtorIspb = debtor.text('ispb', forms.ispb)
  debtor.done()
  const ultimate = ultimateDebtor(params)
  const id =
    params.optional('end_to_end_id', forms.endToEndId) ??
    endToEndId(draft.ispb, draft.nowMs, draft.random)
  const { text } = params.cents('amount')
  const mandateId = params.text('mandate_id', forms.mandateId)
  const creditor = creditorOf(params.object('creditor'), draft)
  const purpose = params.text('purpose', codeForm(['AGND', 'NTAG', 'RIFL']))
  if (purpose === 'AGND' && !params.has('execution_date_time')) {
    params.refuse('execution_date_time', 'required', 'is needed with purpose AGND')
  }
  if (purpose !== 'AGND' && params.has('execution_date_time')) {
    params.refuse('execution_date_time', 'forbidden', 'is given with purpose AGND only')
  }
  const remittance = params.optional('remittance_information', textForm(140))
  params.done()
  const when = execution === undefined ? '' : `<ReqdExctnDt><DtTm>${execution}</DtTm></ReqdExctnDt>`
  const note = remittance === undefined ? '' : `<RmtInf><Ustrd>${remittance}</Ustrd></RmtInf>`
  const xml = `<PmtInf><PmtInfId>${reconciliationId}</PmtInfId><PmtMtd>TRF</PmtMtd>${when}<XpryDt><Dt>${due}</Dt></XpryDt>${person('Dbtr', debtorDocument)}${agent('DbtrAgt', debtorIspb)}${ultimate}<CdtTrfTx><PmtId><EndToEndId>${id}</EndToEndId></PmtId><PmtTpInf><InstrPrty>NORM</InstrPrty><SvcLvl><Prtry>PAGAGD</Prtry></SvcLvl><LclInstrm><Prtry>AUTO</Prtry></LclInstrm></PmtTpInf><Amt>${money('InstdAmt', text)}</Amt><ChrgBr>SLEV</ChrgBr><MndtRltdInf><MndtId>${mandateId}</MndtId></MndtRltdInf>${creditor}<Purp><Prtry>${purpose}</Prtry></Purp>${note}</CdtTrfTx></PmtInf>`
  return { xml, endToEndIds: [id] }
}

const ultimateDebtor = (params: Params): string => {
  const party = params.optionalObject('ultimate_debtor')
  if (party === undefined) return ''
  const name = party.text('name', textForm(140))
  const document = party.text('document', forms.cpfCnpj)
  party.done()
  return person('UltmtDbtr', document, name)
}

const creditorOf = (params: Params, draft: Draft): string => {
  const ispb = params.optional('ispb', forms.ispb) ?? draft.ispb
  const document = params.text('document', forms.cnpj)
  const target = {
    number: params.text('account_num', forms.accountNumber),
    branch: params.optional('branch', forms.branch),
    type: params.text('account_type', codeForm(['CACC', 'SVGS', 'TRAN'])),
    proxy: undefined,
  }
  params.done()
  return agent('CdtrAgt', ispb) + person('Cdtr', document) + account('CdtrAcct', target)
}

const refusals =
  'AB10 AC05 AC06 AM02 AM09 CRNC DENC DTED DTNT FCD1 FCD2 GRER IRNT MIDI MSUC NIEC NIPA NITX QUNT UDEI'.split(
    ' ',
  )
/** Dropped with 2.4. */
const olderRefusals = ['AG12', 'AM23', 'DS27', 'RR06']

/**
 * PAIN014: answers one charge of a PAIN013.
 *
 * ```json
 * { "reconciliation_id": "…", "original_end_to_end_id": "E12345678202603021405…", "status": "RJCT",
 *   "reason": "AC06", "creditor": { "ispb": "12345678", "document": "12345678000195" } }
 * ```
 *
 * `status` is ACSP or RJCT, RJCT with a reason. `decision_date_time` is now when absent.
 */
export const pain014: Builder = {
  type: 'pain.014',
  build: (params, draft) => {
    const reconciliationId = params.text('reconciliation_id', textForm(35))
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const status = params.text('status', codeForm(['ACSP', 'RJCT']))
    const codes = draft.version === '2.3' ? [...refusals, ...olderRefusals] : refusals
    const reason = params.optional('reason', codeForm(codes))
    if (status === 'RJCT' && !params.has('reason')) {
      params.refuse('reason', 'required', 'is needed with status RJCT')
    }
    if (status === 'ACSP' && params.has('reason')) {
      params.refuse('reason', 'forbidden', 'is not given with status ACSP')
    }
    const decided = params.optional('decision_date_time', forms.dateTime) ?? draft.created
    const creditor = params.object('creditor')
    const ispb = creditor.text('ispb', forms.ispb)
    const document = creditor.text('document', forms.cpfCnpj)
    creditor.done()
    params.done()
    const why =
      reason === undefined ? '' : `<StsRsnInf><Rsn>${tag('Prtry', reason)}</Rsn></StsRsnInf>`
    const xml = `<CdtrPmtActvtnReqStsRpt><GrpHdr>${groupHeader(draft)}${noOrganisation}</GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>${'0'.repeat(32)}</OrgnlMsgId><OrgnlMsgNmId>00000000</OrgnlMsgNmId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>${reconciliationId}</OrgnlPmtInfId><TxInfAndSts><OrgnlEndToEndId>${original}</OrgnlEndToEndId><TxSts>${status}</TxSts>${why}<DbtrDcsnDtTm>${decided}</DbtrDcsnDtTm><OrgnlTxRef>${agent('CdtrAgt', ispb)}${person('Cdtr', document)}</OrgnlTxRef></TxInfAndSts></OrgnlPmtInfAndSts></CdtrPmtActvtnReqStsRpt>`
    return { xml, endToEndIds: [original] }
  },
}
