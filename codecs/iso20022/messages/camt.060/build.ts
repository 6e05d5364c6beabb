import { type Builder, groupHeader } from '../../building/builder.ts'
import { codeForm, forms, patternForm } from '../../building/forms.ts'
import { template } from '../../building/template.ts'

const reports = codeForm(['camt.052', 'camt.053', 'camt.054'])
const entryForm = patternForm(
  /^(?:[ED][0-9A-Z]{8}\d{4}[0-1]\d[0-3]\d[0-2]\d[0-5]\d[a-zA-Z0-9]{11}|[A-Z]{3}\d{4}[0-1]\d[0-3]\d[a-zA-Z0-9]{9})$/,
  'an EndToEndId, a RtrId, or the control number of another system',
)

const request = template(`
  <RptgReq>
    <Id>{entry}</><ReqdMsgNmId>{report}</>
    <AcctOwnr/Agt/FinInstnId/ClrSysMmbId/MmbId>{ispb}</>{period}
  </>`)
const periodTemplate = template('<RptgPrd><FrToDt/FrDt>{day}</><Tp>ALLL</></>')

/** Asks for the file of a day's entries (camt.052), for balances (camt.053), or for one entry (camt.054). */
export const builder: Builder = {
  root: 'AcctRptgReq',
  build: (params, draft) => {
    const report = params.text('report', reports)
    const entry = params.optional('entry_id', entryForm)
    const day = params.optional('day', forms.date)
    params.done()
    const period = day === undefined ? undefined : periodTemplate({ day })
    const xml = request({ entry, report, ispb: draft.ispb, period })
    return { xml: [groupHeader(draft), xml], ids: [] }
  },
}
