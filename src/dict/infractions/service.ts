import { createDisputeCalls } from '../disputes/calls.ts'
import { createDisputeService, type DisputeService } from '../disputes/service.ts'
import type { DisputingDeps } from '../disputing.ts'
import { type ReportContent, type ReportWanted, reports } from './domain.ts'
import { reportForm } from './form.ts'
import { reportEvent, reportView } from './view.ts'

export type InfractionService = DisputeService<ReportContent, ReportWanted>

/** Infraction reports that this institution makes, and those about payments of its customers. */
export const createInfractionService = (deps: DisputingDeps): InfractionService => {
  const { sql, ispb, emit, logger, now } = deps
  return createDisputeService({
    ...{ sql, kind: reports, view: reportView, logger, now },
    calls: createDisputeCalls(reportForm, { lane: deps.wire.lane(), ispb, logger, now }),
    telling: { emit, eventOf: reportEvent },
  })
}
