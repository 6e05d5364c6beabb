import { codesOf } from '../codes/entry.ts'
import { chargeRefusals } from '../codes/refusals.ts'
import { amountOf } from './amount.ts'
import type { Builder, Draft } from './context.ts'
import { codeForm, forms, textForm } from './forms.ts'
import { endToEndId } from './identifiers.ts'
import type { XmlOutput } from './output.ts'
import { type Params, refuseRepeated } from './params.ts'
import { chargeTaxOf, writeChargeTax } from './tax.ts'
import { textOf } from './values.ts'
import { perVersion } from './versions.ts'

/** Charges of one PAIN013. */
export const chargesMax = 500

const accountTypes = codeForm(['CACC', 'SVGS', 'TRAN'])
const purposes = codeForm(['AGND', 'NTAG', 'RIFL'])
const name140 = textForm(140)

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
 * `ultimate_debtor` with `name` and `document`, `remittance_information`, and of a company `tax` with `cbs_amount`,
 * `ibs_amount` (cents), `reference`, and `corrected_cbs_amount` and `corrected_ibs_amount`, which count instead.
 */
export const pain013: Builder = {
  type: 'pain.013',
  root: 'CdtrPmtActvtnReq',
  isGroup: true,
  build: (params, draft, output) => {
    const charges = params.list('charges', chargesMax)
    output.write`<NbOfTxs>${String(charges.length)}</><InitgPty/Id/OrgId/Othr/Id>00000000000000</></GrpHdr>`
    const ids = charges.map((item) => writeCharge(item, draft, output))
    refuseRepeated(charges, 'end_to_end_id', ids)
    params.done()
    return ids
  },
}

const writeCharge = (params: Params, draft: Draft, output: XmlOutput): string => {
  const reconciliationId = params.text('reconciliation_id', forms.reconciliationId)
  const execution = params.optional('execution_date_time', forms.dateTime)
  const due = params.text('due_date', forms.date)
  const debtor = params.object('debtor')
  const debtorDocument = debtor.text('document', forms.cpfCnpj)
  const debtorIspb = debtor.text('ispb', forms.ispb)
  debtor.done()
  const ultimate = ultimateDebtorOf(params)
  const id =
    params.optional('end_to_end_id', forms.endToEndId) ??
    endToEndId(draft.ispb, draft.nowMs, draft.random)
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
  output.write`<PmtInf><PmtInfId>${reconciliationId}</><PmtMtd>TRF</><ReqdExctnDt/DtTm>${execution}</><XpryDt/Dt>${due}</><Dbtr/Id/PrvtId/Othr/Id>${debtorDocument}</><DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>${debtorIspb}</>`
  if (ultimate !== undefined) {
    output.write`<UltmtDbtr><Nm>${ultimate.name}</><Id/PrvtId/Othr/Id>${ultimate.document}</></>`
  }
  output.write`<CdtTrfTx><PmtId/EndToEndId>${id}</><PmtTpInf><InstrPrty>NORM</><SvcLvl/Prtry>PAGAGD</><LclInstrm/Prtry>AUTO</></><Amt/InstdAmt Ccy="BRL">${amountOf(cents)}</><ChrgBr>SLEV</><MndtRltdInf/MndtId>${mandateId}</><CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>${creditor.ispb}</><Cdtr/Id/PrvtId/Othr/Id>${creditor.document}</><CdtrAcct><Id/Othr><Id>${creditor.account}</><Issr>${creditor.branch}</></><Tp/Cd>${creditor.type}</></><Purp/Prtry>${purpose}</>`
  if (tax !== undefined) writeChargeTax(tax, output)
  output.write`<RmtInf/Ustrd>${remittance}</></CdtTrfTx></PmtInf>`
  return textOf(id)
}

const ultimateDebtorOf = (params: Params) => {
  const party = params.optionalObject('ultimate_debtor')
  if (party === undefined) return undefined
  const name = party.text('name', name140)
  const document = party.text('document', forms.cpfCnpj)
  party.done()
  return { name, document }
}

const creditorOf = (params: Params, draft: Draft) => {
  const party = {
    ispb: params.optional('ispb', forms.ispb) ?? draft.ispb,
    document: params.text('document', forms.cnpj),
    account: params.text('account_num', forms.accountNumber),
    branch: params.optional('branch', forms.branch),
    type: params.text('account_type', accountTypes),
  }
  params.done()
  return party
}

const reasonForm = perVersion('pain.014', (version) =>
  codeForm(codesOf(chargeRefusals, version).map(({ code }) => code)),
)
const statusForm = codeForm(['ACSP', 'RJCT'])
const text35 = textForm(35)

/**
 * PAIN014: answers a charge of a PAIN013.
 *
 * ```json
 * { "reconciliation_id": "…", "original_end_to_end_id": "E12345678202603021405…", "status": "RJCT",
 *   "reason": "AC06", "creditor": { "ispb": "12345678", "document": "12345678000195" } }
 * ```
 *
 * `status` is ACSP or RJCT, RJCT with a reason. `decision_date_time` is now when absent. The answers to up to 500
 * charges go into `transactions`, each with the same parameters.
 */
export const pain014: Builder = {
  type: 'pain.014',
  root: 'CdtrPmtActvtnReqStsRpt',
  isGroup: true,
  build: (params, draft, output) => {
    output.write`<InitgPty/Id/OrgId/Othr/Id>00000000000000</></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>00000000000000000000000000000000</><OrgnlMsgNmId>00000000</></>`
    const items = params.optionalList('transactions', chargesMax)
    const ids =
      items === undefined
        ? [writeAnswer(params, draft, output)]
        : items.map((item) => writeAnswerOf(item, draft, output))
    if (items !== undefined) refuseRepeated(items, 'original_end_to_end_id', ids)
    params.done()
    return ids
  },
}

const writeAnswerOf = (item: Params, draft: Draft, output: XmlOutput): string => {
  const id = writeAnswer(item, draft, output)
  item.done()
  return textOf(id)
}

const writeAnswer = (params: Params, draft: Draft, output: XmlOutput): string => {
  const reconciliationId = params.text('reconciliation_id', text35)
  const original = params.text('original_end_to_end_id', forms.endToEndId)
  const status = params.text('status', statusForm)
  const reason = params.optional('reason', reasonForm(draft.version))
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
  output.write`<OrgnlPmtInfAndSts><OrgnlPmtInfId>${reconciliationId}</><TxInfAndSts><OrgnlEndToEndId>${original}</><TxSts>${status}</><StsRsnInf/Rsn/Prtry>${reason}</><DbtrDcsnDtTm>${decided}</><OrgnlTxRef><CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>${ispb}</><Cdtr/Id/PrvtId/Othr/Id>${document}</></></></>`
  return original
}
