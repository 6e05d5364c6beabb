import { randomUUID } from 'node:crypto'
import type { Emit } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { Caller } from '#src/platform/http/index.ts'
import type { Job } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { createDisputeRetries, createPoll, type PolledList, pollList } from '../disputes/poll.ts'
import {
  createDisputeService,
  type DisputeCalls,
  type DisputeService,
} from '../disputes/service.ts'
import { createShow } from '../disputes/show.ts'
import { DirectoryAwayError } from '../exchange.ts'
import { readChanges } from '../lists.ts'
import type { Refused } from '../wire.ts'
import type { InfractionCalls, ReportAnswer } from './calls.ts'
import {
  type Report,
  type ReportContent,
  type ReportWanted,
  reports,
  seenReport,
} from './domain.ts'
import { reportEvent } from './events.ts'

type NewReport = Pick<Report, 'transactionId' | 'reason'> &
  Pick<ReportContent, 'situation' | 'details' | 'contact'>

export type InfractionService = Omit<DisputeService<ReportContent, ReportWanted>, 'ask'> & {
  /** @throws ApiError if one goes on already, or the directory refuses */
  readonly report: (
    asked: NewReport,
    caller: Caller,
  ) => ReturnType<DisputeService<ReportContent, ReportWanted>['ask']>
  /** Finds what is reported, and what has become of it. */
  readonly poll: (signal?: AbortSignal) => Promise<void>
}

export type InfractionDeps = {
  readonly sql: Client
  readonly ispb: string
  readonly calls: InfractionCalls
  readonly emit: Emit
  readonly logger: Logger
  readonly now: () => Date
}

const noFindings = { result: null, analysis: null, fraudType: null, fraudMarkerId: null }

/** Infraction reports that this institution makes, and those about payments of its customers. */
export const createInfractionService = (deps: InfractionDeps): InfractionService => {
  const { sql, emit, logger, now } = deps
  const telling = { emit, eventOf: reportEvent }
  const show = createShow({ kind: reports, ...telling, logger })
  const { ask, ...service } = createDisputeService<ReportContent, ReportWanted>({
    ...{ sql, kind: reports, calls: callsOf(deps), show, telling, logger },
    readiness: async () => 'ready',
  })
  const list = listOf(deps)
  return {
    ...service,
    report: ({ transactionId, reason, ...content }, caller) =>
      ask(
        {
          ...{ id: randomUUID(), directoryId: null, role: 'asking', status: 'requested' },
          ...{ transactionId, reason, content: { ...content, ...noFindings }, other: null },
          ...{ wanted: null, refusal: null, returnId: null, returnedAt: null },
          ...{ createdBy: caller.keyId, createdAt: now(), modifiedAt: null },
        },
        caller,
      ),
    poll: (signal) => pollList(list, { sql, show, logger, now }, signal),
  }
}

export const infractionJobs = (
  { retry, poll }: InfractionService,
  [pollMs, quietMs]: readonly [pollMs: number, quietMs: number],
  { sql, logger }: InfractionDeps,
): readonly Job[] => [
  createPoll('infraction', poll, pollMs, { sql, logger }),
  createDisputeRetries(sql, 'infraction', retry, quietMs, logger),
]

const listOf = ({ calls, ispb }: InfractionDeps): PolledList<ReportContent, SeenItem> => ({
  name: 'infractions',
  ask: calls.list,
  seenOf: (report) => seenReport(report, ispb),
})

type SeenItem = Parameters<typeof seenReport>[0]

const callsOf = ({
  calls,
  ispb,
  now,
  logger,
}: InfractionDeps): DisputeCalls<ReportContent, ReportWanted> => {
  const seen = async (answer: Promise<ReportAnswer | Refused>) => {
    const said = await answer
    if (said.kind === 'refused') return said
    const shown = seenReport(said.report, ispb)
    if (shown !== undefined) return { kind: 'seen', seen: shown } as const
    throw new DirectoryAwayError('document', 'the answer is about others’ report')
  }
  return {
    create: ({ transactionId, reason, content: { situation, details, contact } }) =>
      seen(
        calls.create({
          ...{ transactionId, reason, situation },
          ...{ details: details ?? undefined, contact: contact ?? undefined },
        }),
      ),
    act: ({ directoryId }, wanted) => {
      const id = directoryId ?? ''
      switch (wanted.act) {
        case 'acknowledge':
          return seen(calls.acknowledge(id))
        case 'close':
          return seen(calls.close(id, wanted.closing))
        case 'cancel':
          return seen(calls.cancel(id))
      }
    },
    find: (id) => seen(calls.find(id)),
    asked: async (since) => {
      const found: NonNullable<ReturnType<typeof seenReport>>[] = []
      await readChanges(calls.list, since, {
        ...{ nowMs: now().getTime(), logger },
        take: async (items) => {
          const shown = items.map((item) => seenReport(item, ispb))
          found.push(...shown.flatMap((one) => (one?.role === 'asking' ? [one] : [])))
        },
      })
      return found
    },
  }
}
