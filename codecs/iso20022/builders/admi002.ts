import type { Builder } from './context.ts'
import { forms, textForm } from './forms.ts'

const referenceForm = textForm(33)
const reasonForm = textForm(35)
const longForm = textForm(350)
const dataForm = textForm(1000)

/**
 * ADMI002: refuses a message.
 *
 * ```json
 * { "reference": "MsgId of the refused message, or its PI-ResourceId", "reason": "schema",
 *   "location": "/Envelope/Document", "description": "…", "additional_data": "…" }
 * ```
 *
 * `rejected_at` is now when absent.
 */
export const admi002: Builder = {
  type: 'admi.002',
  root: 'admi.002.001.01',
  isGroup: false,
  build: (params, draft, output) => {
    const reference = params.text('reference', referenceForm)
    const reason = params.text('reason', reasonForm)
    const rejected = params.optional('rejected_at', forms.dateTime) ?? draft.created
    const location = params.optional('location', longForm)
    const description = params.optional('description', longForm)
    const data = params.optional('additional_data', dataForm)
    params.done()
    output.write`<RltdRef/Ref>${reference}</><Rsn><RjctgPtyRsn>${reason}</><RjctnDtTm>${rejected}</><ErrLctn>${location}</><RsnDesc>${description}</><AddtlData>${data}</></>`
    return []
  },
}
