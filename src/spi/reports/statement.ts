import type { Queryable } from '#src/platform/database/index.ts'
import { refusedValue } from '#src/platform/http/index.ts'
import { dayAt } from '#src/platform/runtime/index.ts'
import { unreadable } from '../api/message-body.ts'
import { momentIn } from '../messages/domain.ts'
import { isAhead } from './days.ts'
import type { ReportedFile } from './file.ts'
import type { FigureQuery } from './periods.ts'
import { bookedIn, daysOf, type Statement, statementOfFile } from './reconcile.ts'
import type { Reported, ReportedAccount, ReportedEntry } from './reported.ts'

/** @throws ApiError 400 for a document that cannot be read, or tells of no booked entry */
export const statementOf = (file: ReportedFile): Statement => {
  const statement = statementOfFile(entriesIn(reportedIn(file)))
  if (statement === undefined) throw refused('is no camt.054 with an entry that is booked on a day')
  demandBegun(statement.days[1])
  return statement
}

/** Whether the document tells of the account as a whole: it is a camt.052 or camt.053. */
export const isOfAccount = (file: ReportedFile): boolean =>
  file.kind === 'read' && file.reported.some(({ kind }) => kind === 'account')

/**
 * What figures the document has, and for which days.
 *
 * @throws ApiError 400 for a document that cannot be read, or has none
 */
export const figureQueryOf = async (
  sql: Queryable,
  file: ReportedFile,
): Promise<Omit<FigureQuery, 'bounds'>> => {
  const reported = reportedIn(file)
  const entries = bookedIn(entriesIn(reported))
  const bookedDays = daysOf(entries)
  if (bookedDays !== undefined) {
    demandBegun(bookedDays[1])
    const byReference = new Map(entries.map((entry) => [entry.reference, entry]))
    return { days: bookedDays, told: { entries: [...byReference.values()] } }
  }
  const accounts = reported.filter((one): one is ReportedAccount => one.kind === 'account')
  const balances = accounts.flatMap(({ balances: told }) => (told === null ? [] : [told]))
  const days = balances
    .flat()
    .flatMap(({ at }) => momentIn(at) ?? [])
    .map(dayAt)
    .sort()
  const [from] = days
  const to = days.at(-1)
  if (from !== undefined && to !== undefined) {
    demandBegun(to)
    return { days: [from, to], told: { balances } }
  }
  for (const { requestId, declaredEntries } of accounts) {
    const day = declaredEntries === null ? undefined : await dayAsked(sql, requestId)
    if (day !== undefined) {
      return { days: [day, day], told: { declaredEntries: Number(declaredEntries) } }
    }
  }
  throw refused(
    'is no camt.054 with an entry that is booked on a day, no camt.053, and no camt.052 that was asked for here',
  )
}

const reportedIn = (file: ReportedFile): readonly Reported[] => {
  if (file.kind === 'malformed') throw unreadable(file.explanation)
  return file.reported
}

const entriesIn = (reported: readonly Reported[]): readonly ReportedEntry[] =>
  reported.filter((one): one is ReportedEntry => one.kind === 'entry')

/** @throws ApiError 400 when the last day that a document tells of has yet to begin */
const demandBegun = (day: string): void => {
  if (isAhead(day)) throw refused('tells of a day that has not begun in Brazil')
}

const refused = (message: string) => refusedValue([{ pointer: '', rule: 'statement', message }])

/** The day of which a report of entries was asked for. */
const dayAsked = async (sql: Queryable, requestId: string): Promise<string | undefined> => {
  const [row] = await sql<{ day: string | null }[]>`
    select day from spi_reports where request_id = ${requestId}`
  return row?.day ?? undefined
}
