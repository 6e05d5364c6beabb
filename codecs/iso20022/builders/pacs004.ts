import { returnReasons } from '../codes/reasons.ts'
import { type Builder, groupHeader } from './context.ts'
import { returnId } from './identifiers.ts'
import { codeForm, forms, textForm } from './params.ts'
import { agent, money, tag } from './write.ts'

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
  build: (params, draft) => {
    const original = params.text('original_end_to_end_id', forms.endToEndId)
    const id =
      params.optional('return_id', forms.returnId) ??
      returnId(draft.ispb, draft.nowMs, draft.random)
    const { text } = params.cents('amount')
    const priority = params.optional('priority', codeForm(['HIGH', 'NORM'])) ?? 'HIGH'
    const reason = params.text('return_reason', codeForm([...returnReasons.keys()]))
    const information = params.optional('additional_information', textForm(105))
    const remittance = params.optional('remittance_information', textForm(140))
    const returning = params.optional('returning_ispb', forms.ispb) ?? draft.ispb
    const receiving = params.optional('receiving_ispb', forms.ispb) ?? original.slice(1, 9)
    params.done()
    const xml = `<PmtRtr><GrpHdr>${groupHeader(draft)}<NbOfTxs>1</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf></GrpHdr><TxInf><RtrId>${id}</RtrId><OrgnlEndToEndId>${original}</OrgnlEndToEndId>${money('RtrdIntrBkSttlmAmt', text)}<SttlmPrty>${priority}</SttlmPrty><ChrgBr>SLEV</ChrgBr><RtrRsnInf><Rsn><Cd>${reason}</Cd></Rsn>${tag('AddtlInf', information)}</RtrRsnInf><OrgnlTxRef>${remittance === undefined ? '' : `<RmtInf><Ustrd>${remittance}</Ustrd></RmtInf>`}${agent('DbtrAgt', returning)}${agent('CdtrAgt', receiving)}</OrgnlTxRef></TxInf></PmtRtr>`
    return { xml, endToEndIds: [original] }
  },
}
