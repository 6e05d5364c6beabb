import { statusReasons } from '../codes/reasons.ts'
import { type Builder, groupHeader } from './context.ts'
import { codeForm, forms, textForm } from './params.ts'
import { tag } from './write.ts'

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
  build: (params, draft) => {
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const instruction = params.optional('original_instruction_id', forms.instructionId) ?? original
    const status = params.text('status', codeForm(['ACSP', 'RJCT']))
    const reason = params.optional('reason', codeForm(reasonsOf(draft.version)))
    const information = params.optional('additional_information', textForm(105))
    if (status === 'RJCT' && !params.has('reason')) {
      params.refuse('reason', 'required', 'is needed with status RJCT')
    }
    if (status === 'ACSP' && (params.has('reason') || params.has('additional_information'))) {
      params.refuse('reason', 'forbidden', 'is not given with status ACSP')
    }
    params.done()
    const reasons =
      reason === undefined
        ? ''
        : `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn>${tag('AddtlInf', information)}</StsRsnInf>`
    const xml = `<FIToFIPmtStsRpt><GrpHdr>${groupHeader(draft)}</GrpHdr><TxInfAndSts><OrgnlInstrId>${instruction}</OrgnlInstrId><OrgnlEndToEndId>${original}</OrgnlEndToEndId><TxSts>${status}</TxSts>${reasons}</TxInfAndSts></FIToFIPmtStsRpt>`
    return { xml, endToEndIds: [original] }
  },
}
