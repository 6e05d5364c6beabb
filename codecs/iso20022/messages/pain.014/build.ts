import { type Builder, type Draft, groupHeader } from '../../building/builder.ts'
import { codeForm, type Form, forms, listForm } from '../../building/forms.ts'
import type { Params } from '../../building/params.ts'
import { type Piece, template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'

/** Answers of one PAIN014: as many as one PAIN013 has charges. */
const answersMax = 500

const statusForm = codeForm(codeLists.charge_status.keys())

const noOrganisation = template('<InitgPty/Id/OrgId/Othr/Id>00000000000000</>')({})
const message = template(`{header}
  <OrgnlGrpInfAndSts>
    <OrgnlMsgId>00000000000000000000000000000000</><OrgnlMsgNmId>00000000</>
  </>{answers}`)
const answer = template(`
  <OrgnlPmtInfAndSts>
    <OrgnlPmtInfId>{reconciliation}</>
    <TxInfAndSts>
      <OrgnlEndToEndId>{original}</><TxSts>{status}</><StsRsnInf/Rsn/Prtry>{reason}</>
      <DbtrDcsnDtTm>{decided}</>
      <OrgnlTxRef><CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>{ispb}</><Cdtr/Id/PrvtId/Othr/Id>{document}</></>
    </>
  </>`)

type Answer = { readonly xml: Piece; readonly original: string }

/** PAIN014 answers a charge of a PAIN013, or up to 500 of them in `transactions`: ACSP, or RJCT with a reason. */
export const builder: Builder = {
  root: 'CdtrPmtActvtnReqStsRpt',
  build: (params, draft) => {
    const reasons = listForm(codeLists.charge_refusal, draft.version)
    const answers = params.each('transactions', answersMax, (one) => answerOf(one, draft, reasons))
    const ids = answers.map(({ original }) => original)
    params.refuseRepeated('transactions', 'original_end_to_end_id', ids)
    params.done()
    const header = groupHeader(draft, noOrganisation)
    return { xml: message({ header, answers: answers.map(({ xml }) => xml) }), ids }
  },
}

const answerOf = (params: Params, draft: Draft, reasons: Form): Answer => {
  const reconciliation = params.text('reconciliation_id', forms.transactionId)
  const original = params.text('original_end_to_end_id', forms.endToEndId)
  const status = params.text('status', statusForm)
  const reason = params.optional('reason', reasons)
  if (status === 'RJCT' && !params.has('reason')) {
    params.refuse('reason', 'required', 'is needed with status RJCT')
  }
  if (status === 'ACSP' && params.has('reason')) {
    params.refuse('reason', 'forbidden', 'is not given with status ACSP')
  }
  const decided = params.optional('decision_date_time', forms.dateTime) ?? draft.created
  const creditor = params.object('creditor')
  const ispb = creditor.text('ispb', forms.ispb)
  const document = creditor.text('document', forms.cpfCnpj)
  creditor.done()
  const of = { reconciliation, original, status, reason, decided }
  return { xml: answer({ ...of, ispb, document }), original }
}
