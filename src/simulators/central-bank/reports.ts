/** The bank's pacs.002, which tells participants of operations that are over. */
import { type Report, statusReport } from './drafts.ts'
import type { Origin, PostOffice } from './post-office.ts'
import type { Operation } from './settlement.ts'

/** An operation with the message that brought it, if one did. */
export type Entry = Operation & { readonly origin: Origin | undefined }

export type Addressed = { readonly to: string; readonly entry: Entry; readonly report: Report }

/** Operations that one pacs.002 tells of. */
const reportsMax = 10

/** To the payer ACSC, to the receiver ACCC. */
export const settledReport = (entry: Entry, status: 'ACSC' | 'ACCC'): Addressed => {
  const { id, endToEndId, settledAtMs } = entry
  const to = status === 'ACSC' ? entry.payer : entry.receiver
  return { to, entry, report: { id, endToEndId, status, settledAtMs } }
}

export const rejection = (to: string, entry: Entry, information?: readonly string[]): Addressed => {
  const { id, endToEndId, code } = entry
  return { to, entry, report: { id, endToEndId, status: 'RJCT', code, information } }
}

/** Sends each participant its reports, on each channel, in as many messages as they need. */
export const sendReports = (
  post: PostOffice,
  all: readonly Addressed[],
  cause: Origin | undefined,
): void => {
  const groups = Map.groupBy(all, ({ to, entry }) => `${to} ${entry.channel}`)
  for (const group of groups.values()) {
    for (let from = 0; from < group.length; from += reportsMax) {
      sendPart(post, group.slice(from, from + reportsMax), cause)
    }
  }
}

const sendPart = (
  post: PostOffice,
  part: readonly Addressed[],
  cause: Origin | undefined,
): void => {
  const [first] = part
  if (first === undefined) return
  const origins = new Set<Origin>(cause === undefined ? [] : [cause])
  for (const { entry } of part) if (entry.origin !== undefined) origins.add(entry.origin)
  const draft = statusReport(part.map(({ report }) => report))
  post.send(first.to, first.entry.channel, draft, [...origins])
}
