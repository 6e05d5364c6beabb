import { type Builder, type Draft, groupHeader } from '../../building/builder.ts'
import { forms } from '../../building/forms.ts'
import { floorIn, mandateOf, processingSteps } from '../../building/mandate.ts'
import type { Params } from '../../building/params.ts'
import { type Piece, template } from '../../building/template.ts'

/** Mandates of one PAIN009. */
const mandatesMax = 500

const request = template('<Mndt>{mandate}<SplmtryData/Envlp>{steps}</></>')

/** PAIN009 asks payers to authorise recurring charges, each until a moment. */
export const builder: Builder = {
  root: 'MndtInitnReq',
  build: (params, draft) => {
    const items = params.list('mandates', mandatesMax)
    const mandates = items.map((item) => requestOf(item, draft))
    params.done()
    return { xml: [groupHeader(draft), ...mandates], ids: [] }
  },
}

const requestOf = (params: Params, draft: Draft): Piece => {
  const id = params.text('request_id', forms.mandateRequestId)
  const created = params.optional('created_at', forms.dateTime) ?? draft.created
  const expires = params.text('expires_at', forms.dateTime)
  const mandate = mandateOf(params, draft, { request: id, floor: floorIn(params) })
  params.done()
  const steps = processingSteps([
    ['CRTN', created],
    ['CRAT', draft.created],
    ['EXPR', expires],
  ])
  return request({ mandate, steps })
}
