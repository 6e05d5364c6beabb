import { formatCents } from '../../amount.ts'
import { type Builder, type Draft, groupHeader } from '../../building/builder.ts'
import { codeForm, forms, textForm } from '../../building/forms.ts'
import { returnId } from '../../building/identifiers.ts'
import type { Params } from '../../building/params.ts'
import { type Piece, template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'

/**
 * Returns of one PACS004. The central bank's sheet leaves the number open; ten is the limit of the other message that
 * is settled with priority, and that of the sheet's own example.
 */
export const returnsMax = 10

const priorityForm = codeForm(codeLists.priority.keys())
const reasonForm = codeForm(codeLists.return_reason.keys())
const informationForm = textForm(105)
const remittanceForm = textForm(140)

const header = template('<NbOfTxs>{count}</><SttlmInf/SttlmMtd>CLRG</>')
const transaction = template(`
  <TxInf>
    <RtrId>{id}</><OrgnlEndToEndId>{original}</><RtrdIntrBkSttlmAmt Ccy="BRL">{amount}</>
    <SttlmPrty>{priority}</><ChrgBr>SLEV</>
    <RtrRsnInf><Rsn/Cd>{reason}</><AddtlInf>{information}</></>
    <OrgnlTxRef>
      <RmtInf/Ustrd>{remittance}</>
      <DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>{returning}</>
      <CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>{receiving}</>
    </>
  </>`)

type Return = { readonly xml: Piece; readonly id: string; readonly original: string }

/** PACS004 returns a payment, whole or in part. `transactions` holds up to ten returns, which may be of one payment. */
export const builder: Builder = {
  root: 'PmtRtr',
  build: (params, draft) => {
    const returns = params.each('transactions', returnsMax, (one) => returnOf(one, draft))
    const ids = returns.map(({ id }) => id)
    params.refuseRepeated('transactions', 'return_id', ids)
    params.done()
    const count = String(returns.length)
    return {
      xml: [groupHeader(draft, header({ count })), ...returns.map(({ xml }) => xml)],
      ids: returns.map(({ original }) => original),
    }
  },
}

const returnOf = (params: Params, draft: Draft): Return => {
  const original = params.text('original_end_to_end_id', forms.endToEndId)
  const id = params.optional('return_id', forms.returnId) ?? returnId(draft)
  const amount = formatCents(params.cents('amount'))
  const priority = params.optional('priority', priorityForm) ?? 'HIGH'
  const reason = params.text('return_reason', reasonForm)
  const information = params.optional('additional_information', informationForm)
  const remittance = params.optional('remittance_information', remittanceForm)
  const returning = params.optional('returning_ispb', forms.ispb) ?? draft.ispb
  const receiving = params.optional('receiving_ispb', forms.ispb) ?? original.slice(1, 9)
  const of = { id, original, amount, priority, reason, information, remittance }
  return { xml: transaction({ ...of, returning, receiving }), id, original }
}
