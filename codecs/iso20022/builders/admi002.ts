import type { Builder } from './context.ts'
import { forms, textForm } from './params.ts'
import { tag } from './write.ts'

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
  build: (params, draft) => {
    const reference = params.text('reference', textForm(33))
    const reason = params.text('reason', textForm(35))
    const rejected = params.optional('rejected_at', forms.dateTime) ?? draft.created
    const location = params.optional('location', textForm(350))
    const description = params.optional('description', textForm(350))
    const data = params.optional('additional_data', textForm(1000))
    params.done()
    const xml = `<admi.002.001.01><RltdRef><Ref>${reference}</Ref></RltdRef><Rsn><RjctgPtyRsn>${reason}</RjctgPtyRsn><RjctnDtTm>${rejected}</RjctnDtTm>${tag('ErrLctn', location)}${tag('RsnDesc', description)}${tag('AddtlData', data)}</Rsn></admi.002.001.01>`
    return { xml, endToEndIds: [] }
  },
}
