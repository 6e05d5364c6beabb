import { returnReasons } from '../codes/reasons.ts'
import { amountOf } from './amount.ts'
import type { Builder, Draft } from './context.ts'
import { codeForm, forms, textForm } from './forms.ts'
import { returnId } from './identifiers.ts'
import type { XmlOutput } from './output.ts'
import { type Params, refuseRepeated } from './params.ts'
import { textOf } from './values.ts'

/**
 * Returns of one PACS004. The central bank's sheet leaves the number open; it is that of the other message that is
 * settled with priority, and of its own example.
 */
export const returnsMax = 10

const priorityForm = codeForm(['HIGH', 'NORM'])
const reasonForm = codeForm([...returnReasons.keys()])
const informationForm = textForm(105)
const remittanceForm = textForm(140)

/**
 * PACS004: gives a payment back, whole or in part.
 *
 * ```json
 * { "original_end_to_end_id": "E12345678202603021405…", "amount": 12345, "return_reason": "MD06" }
 * ```
 *
 * Further: `receiving_ispb`, who gets the money back (when absent, the ISPB in the original id);
 * `returning_ispb` (the sender when absent); `return_id` (made when absent); `priority` HIGH or NORM;
 * `additional_information`; `remittance_information`.
 *
 * Up to ten returns, also of one payment, go into `transactions`, each with the same parameters:
 *
 * ```json
 * { "transactions": [
 *     { "original_end_to_end_id": "E12345678202603021405…", "amount": 12345, "return_reason": "MD06" },
 *     { "original_end_to_end_id": "E12345678202603021406…", "amount": 500, "return_reason": "BE08" } ] }
 * ```
 */
export const pacs004: Builder = {
  type: 'pacs.004',
  root: 'PmtRtr',
  isGroup: true,
  build: (params, draft, output) => {
    const items = params.optionalList('transactions', returnsMax)
    const count = String(items?.length ?? 1)
    output.write`<NbOfTxs>${count}</><SttlmInf/SttlmMtd>CLRG</></GrpHdr>`
    const originals =
      items === undefined
        ? [writeReturn(params, draft, output).original]
        : writeReturns(items, draft, output)
    params.done()
    return originals
  },
}

const writeReturns = (
  items: readonly Params[],
  draft: Draft,
  output: XmlOutput,
): readonly string[] => {
  const written = items.map((item) => {
    const one = writeReturn(item, draft, output)
    item.done()
    return one
  })
  refuseRepeated(
    items,
    'return_id',
    written.map(({ id }) => id),
  )
  return written.map(({ original }) => original)
}

type Written = { readonly id: string; readonly original: string }

const writeReturn = (
  params: Params,
  { ispb, nowMs, random }: Draft,
  output: XmlOutput,
): Written => {
  const original = params.text('original_end_to_end_id', forms.endToEndId)
  const id = params.optional('return_id', forms.returnId) ?? returnId(ispb, nowMs, random)
  const amount = amountOf(params.cents('amount'))
  const priority = params.optional('priority', priorityForm) ?? 'HIGH'
  const reason = params.text('return_reason', reasonForm)
  const information = params.optional('additional_information', informationForm)
  const remittance = params.optional('remittance_information', remittanceForm)
  const returning = params.optional('returning_ispb', forms.ispb) ?? ispb
  const receiving = params.optional('receiving_ispb', forms.ispb) ?? original.slice(1, 9)
  output.write`<TxInf><RtrId>${id}</><OrgnlEndToEndId>${original}</><RtrdIntrBkSttlmAmt Ccy="BRL">${amount}</><SttlmPrty>${priority}</><ChrgBr>SLEV</><RtrRsnInf><Rsn/Cd>${reason}</><AddtlInf>${information}</></><OrgnlTxRef><RmtInf/Ustrd>${remittance}</><DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>${returning}</><CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>${receiving}</></></>`
  return { id: textOf(id), original }
}
