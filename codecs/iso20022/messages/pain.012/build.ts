import { type Builder, mandateHeader } from '../../building/builder.ts'
import { codeForm, forms, listForm } from '../../building/forms.ts'
import { mandateOf, processingSteps, townIn } from '../../building/mandate.ts'
import { template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'

const statuses = codeForm(codeLists.mandate_status.keys())

const report = template(`
  <UndrlygAccptncDtls>
    <AccptncRslt><Accptd>{accepted}</><RjctRsn/Prtry>{reason}</></>
    <OrgnlMndt/OrgnlMndt>{mandate}</><SplmtryData/Envlp>{steps}<MndtSts>{status}</></>
  </>`)

/** PAIN012 says that a mandate is pending, confirmed or cancelled, or refuses it with a reason. */
export const builder: Builder = {
  root: 'MndtAccptncRpt',
  build: (params, draft) => {
    const id = params.text('report_id', forms.mandateReportId)
    const status = params.optional('status', statuses)
    const reason = params.optional('reason', listForm(codeLists.mandate_refusal, draft.version))
    if (params.has('status') && params.has('reason')) {
      params.refuse('reason', 'forbidden', 'is not given with status')
    } else if (!params.has('status') && !params.has('reason')) {
      params.refuse('status', 'required', 'is missing')
    }
    const created = params.optional('created_at', forms.dateTime)
    const updated = params.optional('updated_at', forms.dateTime)
    const reference = params.optional('reference', forms.mandateReference)
    const mandate = mandateOf(params, draft, { request: id, reference, town: townIn(params) })
    params.done()
    const steps = processingSteps([
      ['CRTN', created],
      ['UPDT', updated],
    ])
    const accepted = String(reason === undefined)
    const xml = report({ accepted, reason, mandate, steps, status })
    return { xml: [mandateHeader(draft), xml], ids: [] }
  },
}
