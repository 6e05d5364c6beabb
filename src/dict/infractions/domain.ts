import type { Contact, InfractionReport, InfractionResult } from '#codecs/dict'
import { dayMs } from '#src/platform/runtime/days.ts'
import {
  type Dispute,
  isUnanswered,
  type Kind,
  type Seen,
  type Wanted,
} from '../disputes/domain.ts'

/** What a report holds beside what all disputes have. */
export type ReportContent = {
  readonly situation: string
  readonly details: string | null
  readonly contact: Contact | null
  readonly result: InfractionResult | null
  readonly analysis: string | null
  readonly fraudType: string | null
  readonly fraudMarkerId: string | null
}

/** Nobody has judged the report. */
export const noFindings = {
  result: null,
  analysis: null,
  fraudType: null,
  fraudMarkerId: null,
} as const

/** What was found of a report. */
type Closing = {
  readonly result: InfractionResult
  readonly fraudType: string | undefined
  readonly analysis: string | undefined
}

export type ReportWanted = Wanted &
  (
    | { readonly act: 'acknowledge' | 'cancel' }
    | { readonly act: 'close'; readonly closing: Closing }
  )

export type Report = Dispute<ReportContent, ReportWanted>

/** Source: DICT API, InfractionReportStatus. A report may be cancelled even after it was closed. */
export const reports: Kind<ReportContent> = {
  kind: 'infraction',
  machine: {
    requested: ['open', 'refused'],
    open: ['acknowledged', 'cancelled'],
    acknowledged: ['closed', 'cancelled'],
    closed: ['cancelled'],
  },
  acts: {
    acknowledge: { by: 'asked', from: ['open'], to: 'acknowledged' },
    close: { by: 'asked', from: ['acknowledged'], to: 'closed' },
    cancel: { by: 'asking', from: ['open', 'acknowledged', 'closed'], to: 'cancelled' },
  },
  refusalOfLost: 'InfractionReportOperationInvalid',
  outcomeOf: ({ result, fraudType }) => ({ result, fraudType }),
  outcomeWanted: (wanted: ReportWanted) =>
    wanted.act === 'close'
      ? { result: wanted.closing.result, fraudType: wanted.closing.fraudType ?? null }
      : undefined,
  // Situation, details and contact may be changed by whoever made the report.
  isSameMatter: () => true,
}

const answerDays = 7

/** Until when a report is to be closed by who was asked. */
export const answerUntil = ({ status, createdAt }: Report): Date | null =>
  isUnanswered(status) ? new Date(createdAt.getTime() + answerDays * dayMs) : null

const statuses = {
  OPEN: 'open',
  ACKNOWLEDGED: 'acknowledged',
  CLOSED: 'closed',
  CANCELLED: 'cancelled',
} as const

/** Undefined: this institution is no party of it. */
export const seenReport = (
  report: InfractionReport,
  ispb: string,
): Seen<ReportContent> | undefined => {
  const { reporter, counterparty } = report
  if ((reporter === ispb) === (counterparty === ispb)) return undefined
  return {
    directoryId: report.id,
    ...(reporter === ispb
      ? ({ role: 'asking', other: counterparty } as const)
      : ({ role: 'asked', other: reporter } as const)),
    status: statuses[report.status],
    transactionId: report.transactionId,
    reason: report.reason,
    returnId: null,
    createdAt: new Date(report.createdMs),
    modifiedAt: new Date(report.modifiedMs),
    content: {
      situation: report.situation,
      details: report.details ?? null,
      contact: report.contact ?? null,
      result: report.result ?? null,
      analysis: report.analysis ?? null,
      fraudType: report.fraudType ?? null,
      fraudMarkerId: report.fraudMarkerId ?? null,
    },
  }
}
