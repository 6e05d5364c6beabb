import { type InfractionReport, infractionElement, readInfractionReport } from '#codecs/dict'
import type { DisputeForm } from '../disputes/calls.ts'
import { createDisputeService, type DisputeService } from '../disputes/service.ts'
import type { DisputingDeps } from '../disputing.ts'
import { type ReportContent, type ReportWanted, reports, seenReport } from './domain.ts'
import { reportEvent, reportView } from './view.ts'

export type InfractionService = DisputeService<ReportContent, ReportWanted>

/** Infraction reports that this institution makes, and those about payments of its customers. */
export const createInfractionService = (deps: DisputingDeps): InfractionService =>
  createDisputeService(reportForm, deps)

/** Source: DICT API 2.12.1, /infraction-reports/. */
const reportForm: DisputeForm<InfractionReport, ReportContent, ReportWanted> = {
  kind: reports,
  view: reportView,
  eventOf: reportEvent,
  base: '/infraction-reports/',
  noun: 'InfractionReport',
  read: readInfractionReport,
  seenIn: seenReport,
  newElement: ({ transactionId, reason, content: { situation, details, contact } }) =>
    infractionElement({
      transactionId,
      reason,
      situation,
      details: details ?? undefined,
      contact: contact ?? undefined,
    }),
  actElements: (_, wanted) => {
    if (wanted.act !== 'close') return []
    const { result, fraudType, analysis } = wanted.closing
    return [
      ['FraudType', fraudType],
      ['AnalysisResult', result],
      ['AnalysisDetails', analysis],
    ]
  },
  lists: { infractions: {} },
  askedIn: 'infractions',
  // Four times as often as the list of both sides.
  askedBy: { IsReporter: 'true' },
}
