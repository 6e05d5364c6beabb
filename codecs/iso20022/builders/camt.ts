import { cancellationReasons, cancellationRefusals } from '../codes/refusals.ts'
import type { Builder, Draft } from './context.ts'
import { codeForm, forms, textForm } from './forms.ts'
import type { XmlOutput } from './output.ts'
import type { Content } from './values.ts'

const id29 = textForm(29, 29)
const text35 = textForm(35)

const writeAssignment = (
  { ispb, messageId, created }: Draft,
  other: Content,
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
  root: 'CstmrPmtCxlReq',
  isGroup: false,
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
    writeAssignment(draft, other, output)
    output.write`<Undrlyg/OrgnlPmtInfAndCxl><PmtCxlId>${cancellation}</><OrgnlPmtInfId>${reconciliation}</><CxlRsnInf><Orgtr/Id/PrvtId/Othr/Id>${requester}</><Rsn/Prtry>${reason}</></><TxInf><OrgnlEndToEndId>${original}</><SplmtryData/Envlp/CxlPrcgDtls><CxlPrcgTp>${type}</><PrcgDtTm>${at}</></></></>`
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
  root: 'RsltnOfInvstgtn',
  isGroup: false,
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
    writeAssignment(draft, other, output)
    output.write`<Sts/Conf>INFO</><CxlDtls/OrgnlPmtInfAndSts><OrgnlPmtInfCxlId>${cancellation}</><OrgnlPmtInfId>${reconciliation}</><PmtInfCxlSts>${status}</><CxlStsRsnInf/Rsn/Prtry>${reason}</><TxInfAndSts/OrgnlEndToEndId>${original}</></><SplmtryData/Envlp/CxlPrcgDtls><CxlPrcgTp>${type}</><PrcgDtTm>${at}</></>`
    return [original]
  },
}
