import { statusReasons } from '../codes/reasons.ts'
import type { Builder } from './context.ts'
import { codeForm, type Form, forms, textForm } from './forms.ts'

/** The reasons that a receiving participant may give, of the version sent. */
const newReasons: Readonly<Record<string, number>> = {
  AM23: 16,
  RR06: 16,
  DS02: 17,
  DU03: 17,
  INDT: 17,
}

const reasonsOf = (version: string): readonly string[] =>
  [...statusReasons.values()]
    .filter(({ raisedBy }) => raisedBy.includes('R') || raisedBy.length === 0)
    .map(({ code }) => code)
    .filter((code) => Number(version.split('.')[1]) >= (newReasons[code] ?? 0))

/** By version. */
const reasonForms = new Map<string, Form>()

const reasonForm = (version: string): Form => {
  const known = reasonForms.get(version)
  if (known !== undefined) return known
  const fresh = codeForm(reasonsOf(version))
  reasonForms.set(version, fresh)
  return fresh
}

const statusForm = codeForm(['ACSP', 'RJCT'])
const informationForm = textForm(105)

/**
 * PACS002: the answer to a payment (or, with `original_instruction_id` its RtrId, to a return).
 *
 * ```json
 * { "original_end_to_end_id": "E12345678202603021405…", "status": "RJCT", "reason": "AC03",
 *   "additional_information": "no such account" }
 * ```
 *
 * `status` is ACSP or RJCT, the two that participants give; RJCT needs a reason, ACSP has none.
 */
export const pacs002: Builder = {
  type: 'pacs.002',
  build: (params, { version, messageId, created }, output) => {
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const instruction = params.optional('original_instruction_id', forms.instructionId) ?? original
    const status = params.text('status', statusForm)
    const reason = params.optional('reason', reasonForm(version))
    const information = params.optional('additional_information', informationForm)
    if (status === 'RJCT' && !params.has('reason')) {
      params.refuse('reason', 'required', 'is needed with status RJCT')
    }
    if (status === 'ACSP' && (params.has('reason') || params.has('additional_information'))) {
      params.refuse('reason', 'forbidden', 'is not given with status ACSP')
    }
    params.done()
    output.write`<FIToFIPmtStsRpt><GrpHdr><MsgId>${messageId}</><CreDtTm>${created}</></><TxInfAndSts><OrgnlInstrId>${instruction}</><OrgnlEndToEndId>${original}</><TxSts>${status}</>`
    if (reason !== undefined) {
      output.write`<StsRsnInf><Rsn/Cd>${reason}</><AddtlInf>${information}</></>`
    }
    output.write`</TxInfAndSts></FIToFIPmtStsRpt>`
    return [original]
  },
}
