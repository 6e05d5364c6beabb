import { refusedValue } from '#src/platform/http/index.ts'
import { unreadable } from '../api/message-body.ts'
import type { ReportedFile } from './file.ts'
import { type Statement, statementOfFile } from './reconcile.ts'

/** @throws ApiError 400 for a document that cannot be read, or tells of no booked entry */
export const statementOf = (file: ReportedFile): Statement => {
  if (file.kind === 'malformed') throw unreadable(file.explanation)
  const statement = statementOfFile(file.reported.filter((one) => one.kind === 'entry'))
  if (statement !== undefined) return statement
  const message = 'is no camt.054 with an entry that is booked on a day'
  throw refusedValue([{ pointer: '', rule: 'statement', message }])
}
