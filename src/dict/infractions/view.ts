import type { AppEvent } from '#src/events/index.ts'
import type { Dispute } from '../disputes/domain.ts'
import { sharedView } from '../disputes/view.ts'
import { answerUntil, type Report, type ReportContent } from './domain.ts'

export const reportView = ({ content, ...report }: Report) => ({
  ...sharedView({ ...report, content }),
  situation: content.situation,
  details: content.details,
  contact: content.contact,
  result: content.result,
  analysis: content.analysis,
  fraud_type: content.fraudType,
  fraud_marker_id: content.fraudMarkerId,
  answer_until: answerUntil({ ...report, content })?.toISOString() ?? null,
})

export const reportEvent = (report: Dispute<ReportContent>, isNew: boolean): AppEvent => ({
  type: isNew ? 'dict.infraction.received' : 'dict.infraction.changed',
  subject: report.id,
  data: {
    infraction_report_id: report.id,
    role: report.role,
    status: report.status,
    transaction_id: report.transactionId,
    reason: report.reason,
    result: report.content.result,
  },
})
