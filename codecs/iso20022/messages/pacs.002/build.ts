import { type Builder, groupHeader } from '../../building/builder.ts'
import { codeForm, type Form, forms, listForm, textForm } from '../../building/forms.ts'
import type { Params } from '../../building/params.ts'
import { type Piece, template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'

const statusForm = codeForm(['ACSP', 'RJCT'])
const informationForm = textForm(105)

/** Operations that one PACS002 answers: as many as one PACS008 holds. */
export const statusesMax = 500
/** Reasons of one refusal, and texts with one reason; the schema has no limit. */
export const statusReasonsMax = 10

const report = template(`
  <TxInfAndSts>
    <OrgnlInstrId>{instructionId}</><OrgnlEndToEndId>{endToEndId}</><TxSts>{status}</>{reasons}
  </>`)
const reasonTemplate = template('<StsRsnInf><Rsn/Cd>{reason}</>{texts}</>')
const informationTemplate = template('<AddtlInf>{text}</>')

type Status = { readonly xml: Piece; readonly instructionId: string; readonly endToEndId: string }

/**
 * PACS002 answers a payment (or, with `original_instruction_id` its RtrId, a return): ACSP or RJCT, the two that
 * participants give. The answers to up to 500 operations go into `transactions`.
 */
export const builder: Builder = {
  root: 'FIToFIPmtStsRpt',
  build: (params, draft) => {
    // A receiving participant may give these reasons.
    const reasons = listForm(
      codeLists.status_reason,
      draft.version,
      ({ raisedBy }) => raisedBy.includes('R') || raisedBy.length === 0,
    )
    const statuses = params.each('transactions', statusesMax, (one) => statusOf(one, reasons))
    const instructions = statuses.map(({ instructionId }) => instructionId)
    params.refuseRepeated('transactions', 'original_end_to_end_id', instructions)
    params.done()
    return {
      xml: [groupHeader(draft), ...statuses.map(({ xml }) => xml)],
      ids: statuses.map(({ endToEndId }) => endToEndId),
    }
  },
}

const statusOf = (params: Params, reasonForms: Form): Status => {
  const endToEndId = params.text('original_end_to_end_id', forms.endToEndId)
  const instructionId =
    params.optional('original_instruction_id', forms.instructionId) ?? endToEndId
  const status = params.text('status', statusForm)
  const several = params.optionalList('reasons', statusReasonsMax)
  const reasons: Piece[] = []
  if (several !== undefined) {
    for (const item of several) {
      reasons.push(...reasonOf(item, item.text('reason', reasonForms)))
      item.done()
    }
    if (params.has('reason') || params.has('additional_information')) {
      params.refuse('reasons', 'consistency', 'is not given together with a single reason')
    }
  }
  reasons.push(...reasonOf(params, params.optional('reason', reasonForms)))
  if (status === 'RJCT' && several === undefined && !params.has('reason')) {
    params.refuse('reason', 'required', 'is needed with status RJCT')
  }
  if (status === 'ACSP' && (params.has('reason') || params.has('additional_information'))) {
    params.refuse('reason', 'forbidden', 'is not given with status ACSP')
  }
  if (status === 'ACSP' && several !== undefined) {
    params.refuse('reasons', 'forbidden', 'is not given with status ACSP')
  }
  const xml = report({ instructionId, endToEndId, status, reasons })
  return { xml, instructionId, endToEndId }
}

/** A reason with its texts; nothing without a reason. */
const reasonOf = (params: Params, reason: string | undefined): readonly Piece[] => {
  const texts = params.texts('additional_information', informationForm, statusReasonsMax)
  if (reason === undefined) return []
  return [reasonTemplate({ reason, texts: texts.map((text) => informationTemplate({ text })) })]
}
