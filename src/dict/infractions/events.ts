import type { AppEvent } from '#src/events/index.ts'
import type { Dispute } from '../disputes/domain.ts'
import type { ReportContent } from './domain.ts'

export const reportEvent = (report: Dispute<ReportContent>, isNew: boolean): AppEvent => ({
  type: isNew ? 'dict.infraction.received' : 'dict.infraction.changed',
  subject: report.id,
  data: {
    ...{ infraction_report_id: report.id, role: report.role, status: report.status },
    ...{ transaction_id: report.transactionId, reason: report.reason },
    result: report.content.result,
  },
})
