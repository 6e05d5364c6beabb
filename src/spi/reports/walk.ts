import { createMessageScanner } from '#codecs/iso20022'
import type { Client } from '#src/platform/database/index.ts'
import { nativeText } from '#src/platform/runtime/index.ts'
import { readReported } from './file.ts'
import { differencesOf, statementOfDay } from './reconcile.ts'
import { statementOf } from './statement.ts'
import { differenceView } from './views.ts'

export type BookDifference = ReturnType<typeof differenceView>

const pageMax = 500

/**
 * All differences between our book and the entries of a day, or of a camt.054.
 *
 * @throws ApiError for a document that tells of no booked entry
 */
export const reconcile = async (
  sql: Client,
  source: { readonly day: string } | { readonly document: Uint8Array },
): Promise<readonly BookDifference[]> => {
  const statement =
    'day' in source
      ? statementOfDay(source.day)
      : statementOf(readReported(createMessageScanner(nativeText), source.document))
  const all: BookDifference[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await differencesOf(sql, statement, { limit: pageMax, cursor })
    all.push(...page.differences.map(differenceView))
    if (page.next === null) return all
    cursor = page.next
  }
}
