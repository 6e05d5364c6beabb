import { type Builder, mandateHeader } from '../../building/builder.ts'
import { forms, listForm } from '../../building/forms.ts'
import { mandateOf, processingSteps } from '../../building/mandate.ts'
import { template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'

const cancellation = template(`
  <UndrlygCxlDtls>
    <CxlRsn><Orgtr/Id/PrvtId/Othr/Id>{requester}</><Rsn/Prtry>{reason}</></>
    <OrgnlMndt/OrgnlMndt>{mandate}</><SplmtryData/Envlp>{steps}</>
  </>`)

/** PAIN011 ends a mandate, or takes back a request for one. */
export const builder: Builder = {
  root: 'MndtCxlReq',
  build: (params, draft) => {
    const id = params.text('cancellation_id', forms.mandateCancellationId)
    const requester = params.text('requester_document', forms.cpfCnpj)
    const reason = params.text(
      'reason',
      listForm(codeLists.mandate_cancellation_reason, draft.version),
    )
    const created = params.text('created_at', forms.dateTime)
    const mandate = mandateOf(params, draft, { request: id })
    params.done()
    const steps = processingSteps([
      ['CRTN', created],
      ['CLTN', draft.created],
    ])
    const xml = cancellation({ requester, reason, mandate, steps })
    return { xml: [mandateHeader(draft), xml], ids: [] }
  },
}
