import { type InfractionReport, infractionElement, readInfractionReport } from '#codecs/dict'
import type { DisputeForm } from '../disputes/calls.ts'
import { type ReportContent, type ReportWanted, seenReport } from './domain.ts'

/** Source: DICT API 2.12.1, /infraction-reports/. */
export const reportForm: DisputeForm<InfractionReport, ReportContent, ReportWanted> = {
  ...{ kind: 'infraction', base: '/infraction-reports/', noun: 'InfractionReport' },
  ...{ read: readInfractionReport, seenIn: seenReport },
  newElement: ({ transactionId, reason, content: { situation, details, contact } }) =>
    infractionElement({
      ...{ transactionId, reason, situation },
      ...{ details: details ?? undefined, contact: contact ?? undefined },
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
  ...{ lists: { infractions: {} }, askedIn: 'infractions' },
}
