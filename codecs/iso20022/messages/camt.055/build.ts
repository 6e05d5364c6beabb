import { assignment, type Builder } from '../../building/builder.ts'
import { codeForm, forms } from '../../building/forms.ts'
import { template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'

const reasonForm = codeForm(codeLists.cancellation_reason.keys())
const processingTypes = codeForm(['DHSR', 'DHIP'])

const request = template(`{assignment}
  <Undrlyg/OrgnlPmtInfAndCxl>
    <PmtCxlId>{cancellation}</><OrgnlPmtInfId>{reconciliation}</>
    <CxlRsnInf><Orgtr/Id/PrvtId/Othr/Id>{requester}</><Rsn/Prtry>{reason}</></>
    <TxInf>
      <OrgnlEndToEndId>{original}</>
      <SplmtryData/Envlp/CxlPrcgDtls><CxlPrcgTp>{type}</><PrcgDtTm>{at}</></>
    </>
  </>`)

/**
 * CAMT055 asks to cancel a scheduled charge (`DHSR`, by the receiver's participant), or says that it was cancelled
 * (`DHIP`, by the payer's). The reasons CCLD and FAIL are the payer's participant's.
 */
export const builder: Builder = {
  root: 'CstmrPmtCxlReq',
  build: (params, draft) => {
    const cancellation = params.text('cancellation_id', forms.cancellationId)
    const reconciliation = params.text('reconciliation_id', forms.transactionId)
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const other = params.text('counterparty_ispb', forms.ispb)
    const requester = params.text('requester_document', forms.cpfCnpj)
    const reason = params.text('reason', reasonForm)
    const type = params.text('processing_type', processingTypes)
    const at = params.optional('processing_date_time', forms.dateTime) ?? draft.created
    if (
      type === 'DHSR' &&
      codeLists.cancellation_reason.get(reason)?.raisedBy.includes('R') === false
    ) {
      params.refuse('reason', 'consistency', `${reason} is given with processing_type DHIP only`)
    }
    params.done()
    const ids = { cancellation, reconciliation, original }
    const values = { ...ids, requester, reason, type, at, assignment: assignment(draft, other) }
    return { xml: request(values), ids: [original] }
  },
}
