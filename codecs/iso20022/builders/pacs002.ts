import { codesOf } from '../codes/entry.ts'
import { statusReasons } from '../codes/reasons.ts'
import type { Builder } from './context.ts'
import { codeForm, type Form, forms, textForm } from './forms.ts'
import type { XmlOutput } from './output.ts'
import { type Params, refuseRepeated } from './params.ts'
import { perVersion } from './versions.ts'

/** The reasons that a receiving participant may give, of the version sent. */
const reasonForm = perVersion('pacs.002', (version) =>
  codeForm(
    codesOf(statusReasons, version)
      .filter(({ raisedBy }) => raisedBy.includes('R') || raisedBy.length === 0)
      .map(({ code }) => code),
  ),
)

const statusForm = codeForm(['ACSP', 'RJCT'])
const informationForm = textForm(105)

/** Operations that one PACS002 answers: as many as one PACS008 holds. */
export const statusesMax = 500
/** Reasons of one refusal, and texts with one reason; the schema has no limit. */
export const statusReasonsMax = 10

/**
 * PACS002: the answer to a payment (or, with `original_instruction_id` its RtrId, to a return).
 *
 * ```json
 * { "original_end_to_end_id": "E12345678202603021405…", "status": "RJCT", "reason": "AC03",
 *   "additional_information": "no such account" }
 * ```
 *
 * `status` is ACSP or RJCT, the two that participants give; RJCT needs a reason, ACSP has none.
 * `additional_information` is a text, or an array of up to ten. Several reasons go into `reasons`, and the answers
 * to up to 500 operations into `transactions`:
 *
 * ```json
 * { "transactions": [
 *     { "original_end_to_end_id": "E12345678202603021405…", "status": "ACSP" },
 *     { "original_end_to_end_id": "E12345678202603021406…", "status": "RJCT",
 *       "reasons": [ { "reason": "AC03" },
 *                    { "reason": "BE01", "additional_information": ["…", "…"] } ] } ] }
 * ```
 */
export const pacs002: Builder = {
  type: 'pacs.002',
  root: 'FIToFIPmtStsRpt',
  isGroup: true,
  build: (params, { version }, output) => {
    const reasons = reasonForm(version)
    output.write`</GrpHdr>`
    const items = params.optionalList('transactions', statusesMax)
    const ids =
      items === undefined
        ? [writeStatus(params, reasons, output).endToEndId]
        : writeStatuses(items, reasons, output)
    params.done()
    return ids
  },
}

const writeStatuses = (
  items: readonly Params[],
  reasons: Form<string>,
  output: XmlOutput,
): readonly string[] => {
  const written = items.map((item) => {
    const status = writeStatus(item, reasons, output)
    item.done()
    return status
  })
  const instructions = written.map(({ instructionId }) => instructionId)
  refuseRepeated(items, 'original_end_to_end_id', instructions)
  return written.map(({ endToEndId }) => endToEndId)
}

type Written = { readonly endToEndId: string; readonly instructionId: string }

const writeStatus = (params: Params, reasons: Form<string>, output: XmlOutput): Written => {
  const endToEndId = params.text('original_end_to_end_id', forms.endToEndId)
  const instructionId =
    params.optional('original_instruction_id', forms.instructionId) ?? endToEndId
  const status = params.text('status', statusForm)
  output.write`<TxInfAndSts><OrgnlInstrId>${instructionId}</><OrgnlEndToEndId>${endToEndId}</><TxSts>${status}</>`
  const several = params.optionalList('reasons', statusReasonsMax)
  if (several !== undefined) {
    for (const item of several) {
      writeReason(item, item.text('reason', reasons), output)
      item.done()
    }
    if (params.has('reason') || params.has('additional_information')) {
      params.refuse('reasons', 'consistency', 'is not given together with a single reason')
    }
  }
  writeReason(params, params.optional('reason', reasons), output)
  if (status === 'RJCT' && several === undefined && !params.has('reason')) {
    params.refuse('reason', 'required', 'is needed with status RJCT')
  }
  if (status === 'ACSP' && (params.has('reason') || params.has('additional_information'))) {
    params.refuse('reason', 'forbidden', 'is not given with status ACSP')
  }
  if (status === 'ACSP' && several !== undefined) {
    params.refuse('reasons', 'forbidden', 'is not given with status ACSP')
  }
  output.write`</TxInfAndSts>`
  return { endToEndId, instructionId }
}

/** Writes a reason with what is said about it; nothing without a reason. */
const writeReason = (params: Params, reason: string | undefined, output: XmlOutput): void => {
  const texts = params.texts('additional_information', informationForm, statusReasonsMax)
  if (reason === undefined) return
  output.write`<StsRsnInf><Rsn/Cd>${reason}</>`
  for (const text of texts) output.write`<AddtlInf>${text}</>`
  output.write`</StsRsnInf>`
}
