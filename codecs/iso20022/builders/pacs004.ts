import { returnReasons } from '../codes/reasons.ts'
import { amountOf } from './amount.ts'
import type { Builder } from './context.ts'
import { codeForm, forms, textForm } from './forms.ts'
import { returnId } from './identifiers.ts'

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
 */
export const pacs004: Builder = {
  type: 'pacs.004',
  build: (params, { ispb, nowMs, random, messageId, created }, output) => {
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const id = params.optional('return_id', forms.returnId) ?? returnId(ispb, nowMs, random)
    const amount = amountOf(params.cents('amount'))
    const priority = params.optional('priority', priorityForm) ?? 'HIGH'
    const reason = params.text('return_reason', reasonForm)
    const information = params.optional('additional_information', informationForm)
    const remittance = params.optional('remittance_information', remittanceForm)
    const returning = params.optional('returning_ispb', forms.ispb) ?? ispb
    const receiving = params.optional('receiving_ispb', forms.ispb) ?? original.slice(1, 9)
    params.done()
    output.write`<PmtRtr><GrpHdr><MsgId>${messageId}</><CreDtTm>${created}</><NbOfTxs>1</><SttlmInf/SttlmMtd>CLRG</></><TxInf><RtrId>${id}</><OrgnlEndToEndId>${original}</><RtrdIntrBkSttlmAmt Ccy="BRL">${amount}</><SttlmPrty>${priority}</><ChrgBr>SLEV</><RtrRsnInf><Rsn/Cd>${reason}</><AddtlInf>${information}</></><OrgnlTxRef><RmtInf/Ustrd>${remittance}</><DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>${returning}</><CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>${receiving}</></></></>`
    return [original]
  },
}
