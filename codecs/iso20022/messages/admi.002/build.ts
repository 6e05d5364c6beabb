import type { Builder } from '../../building/builder.ts'
import { forms, textForm } from '../../building/forms.ts'
import { template } from '../../building/template.ts'

const referenceForm = textForm(33)
const reasonForm = textForm(35)
const longForm = textForm(350)
const dataForm = textForm(1000)

const refusal = template(`
  <RltdRef/Ref>{reference}</>
  <Rsn>
    <RjctgPtyRsn>{reason}</><RjctnDtTm>{rejected}</><ErrLctn>{location}</><RsnDesc>{description}</>
    <AddtlData>{data}</>
  </>`)

/** ADMI002 refuses a message. */
export const builder: Builder = {
  root: 'admi.002.001.01',
  build: (params, draft) => {
    const reference = params.text('reference', referenceForm)
    const reason = params.text('reason', reasonForm)
    const rejected = params.optional('rejected_at', forms.dateTime) ?? draft.created
    const location = params.optional('location', longForm)
    const description = params.optional('description', longForm)
    const data = params.optional('additional_data', dataForm)
    params.done()
    return { xml: refusal({ reference, reason, rejected, location, description, data }), ids: [] }
  },
}
