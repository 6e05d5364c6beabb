import { assignment, type Builder } from '../../building/builder.ts'
import { codeForm, forms, listForm } from '../../building/forms.ts'
import { template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'

const answers = codeForm(codeLists.cancellation_status.keys())

const answer = template(`{assignment}
  <Sts/Conf>INFO</>
  <CxlDtls/OrgnlPmtInfAndSts>
    <OrgnlPmtInfCxlId>{cancellation}</><OrgnlPmtInfId>{reconciliation}</><PmtInfCxlSts>{status}</>
    <CxlStsRsnInf/Rsn/Prtry>{reason}</><TxInfAndSts/OrgnlEndToEndId>{original}</>
  </>
  <SplmtryData/Envlp/CxlPrcgDtls><CxlPrcgTp>{type}</><PrcgDtTm>{at}</></>`)

/** CAMT029 answers a CAMT055: ACCR, or RJCR with a reason. */
export const builder: Builder = {
  root: 'RsltnOfInvstgtn',
  build: (params, draft) => {
    const cancellation = params.text('cancellation_id', forms.cancellationId)
    const reconciliation = params.text('reconciliation_id', forms.transactionId)
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const other = params.text('counterparty_ispb', forms.ispb)
    const status = params.text('status', answers)
    const reason = params.optional(
      'reason',
      listForm(codeLists.cancellation_refusal, draft.version),
    )
    if (status === 'RJCR' && !params.has('reason')) {
      params.refuse('reason', 'required', 'is needed with status RJCR')
    }
    if (status === 'ACCR' && params.has('reason')) {
      params.refuse('reason', 'forbidden', 'is not given with status ACCR')
    }
    const at = params.optional('processing_date_time', forms.dateTime) ?? draft.created
    params.done()
    const type = status === 'ACCR' ? 'DHAC' : 'DHRC'
    const ids = { cancellation, reconciliation, original }
    const values = { ...ids, status, reason, type, at, assignment: assignment(draft, other) }
    return { xml: answer(values), ids: [original] }
  },
}
