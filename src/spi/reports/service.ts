import { buildReportRequest } from '#codecs/iso20022'
import {
  actorOf,
  type Caller,
  invalid,
  refusedValue,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import { enqueueMessages } from '../messages/index.ts'
import { outboundOf } from '../out/send/outbound.ts'
import { brokenRules } from '../out/send/rules.ts'
import { random } from '../random.ts'
import type { Sending } from '../sending.ts'
import type { ReportRequest } from './documents.ts'
import type { ReportedFile } from './file.ts'
import { figuresOf } from './periods.ts'
import { differencesOf, type Statement } from './reconcile.ts'
import type { ReportedAccount } from './reported.ts'
import { figureQueryOf, statementOf } from './statement.ts'
import { type EntryFilter, findReport, insertReport, listEntries, listReports } from './store.ts'
import { reportView } from './views.ts'

export type ReportRow = Omit<ReportedAccount, 'kind'> & {
  readonly id: string
  readonly report: string
  readonly entryId: string | null
  readonly day: string | null
  readonly answeredBy: string | null
  /** The status of the camt.060; null when it is not kept any more. */
  readonly messageStatus: string | null
}

export type EntryRow = {
  readonly messageId: string
  readonly position: number
  readonly requestId: string
  readonly reference: string
  readonly endToEndId: string | null
  readonly amountCents: bigint | null
  readonly direction: string | null
  readonly status: string | null
  readonly bookedOn: string | null
  readonly ourCents: bigint | null
  readonly outcome: string
}

export type ReportService = ReturnType<typeof createReportService>

export type ReportDeps = Sending & {
  readonly readFile: (document: Uint8Array) => Promise<ReportedFile>
}

/** How much one answer counts at most: some seconds of the database's time. */
const bounds = { balancesMax: 1_000, countedMax: 200_000 }

const messageNames = { entries: 'camt.052', balances: 'camt.053', entry: 'camt.054' } as const

/** Reports on our own account: asked for by camt.060, and what camt.052, camt.053 and camt.054 have told. */
export const createReportService = (deps: ReportDeps) => {
  const { sql, broker, ispb, revision, readFile } = deps
  return {
    request: async (request: ReportRequest, caller: Caller) => {
      const { report, ...more } = request
      const build = buildReportRequest(
        { report: messageNames[report], ...more },
        { ispb, nowMs: Date.now(), random, revision },
      )
      if (!build.ok) throw invalid(build.problems)
      const problems = brokenRules('CAMT060', more, { ispb, nowMs: Date.now() })
      if (problems.length > 0) throw refusedValue(problems)
      const message = outboundOf(build.message, { ispb, channel: 'PRIMARY' })
      const row: ReportRow = {
        id: message.id,
        requestId: message.bizMsgIdr,
        report,
        messageStatus: 'QUEUED',
        entryId: request.report === 'entry' ? request.entry_id : null,
        day: request.report === 'entries' ? request.day : null,
        declaredEntries: null,
        fileHash: null,
        balances: null,
        answeredBy: null,
      }
      return runOnce(sql, caller.idempotencyKey, async (tx) => {
        await insertReport(tx, row)
        await enqueueMessages(tx, broker, [message])
        const actor = actorOf(caller)
        await writeAudit(tx, { actor, action: 'spi.report', object: row.id, outcome: 'queued' })
        return { status: 202, body: JSON.stringify(reportView(row)) }
      })
    },
    find: (id: string) => findReport(sql, id),
    /** Newest first. */
    list: (limit: number, before: string | undefined) => listReports(sql, limit, before),
    /** Compares the book with what was reported of a day, or with a document's entries. */
    differences: (statement: Statement, page: Parameters<typeof differencesOf>[2]) =>
      differencesOf(sql, statement, page),
    /** @throws ApiError 400 for a document that tells of no booked entry, 503 when too many wait */
    statementIn: async (document: Uint8Array) => statementOf(await readFile(document)),
    /** The figures of a day in Brazil. */
    figures: (day: string) => figuresOf(sql, { days: [day, day], bounds }),
    /** @throws ApiError 400 for a document that tells none, 503 when too many wait */
    figuresIn: async (document: Uint8Array) => {
      const query = await figureQueryOf(sql, await readFile(document))
      return figuresOf(sql, { ...query, bounds })
    },
    entries: (filter: EntryFilter, limit: number, before?: Parameters<typeof listEntries>[3]) =>
      listEntries(sql, filter, limit, before),
  }
}
