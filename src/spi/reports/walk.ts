import { createMessageScanner } from '#codecs/iso20022'
import type { Client } from '#src/platform/database/index.ts'
import { nativeText } from '#src/platform/runtime/index.ts'
import { readReported } from './file.ts'
import { figuresOf } from './periods.ts'
import { differencesOf, type Statement, statementOfDay } from './reconcile.ts'
import { figureQueryOf, isOfAccount, statementOf } from './statement.ts'
import { differenceView, figuresView } from './views.ts'

export type BookDifference = ReturnType<typeof differenceView>
export type BookFigures = ReturnType<typeof figuresView>

const pageMax = 500
const bounds = { balancesMax: 1_000_000, countedMax: Number.MAX_SAFE_INTEGER }

/**
 * All differences between our book and the entries of a day, or of a camt.054, and between their figures and those of a
 * camt.052 or camt.053.
 *
 * @throws ApiError for a document that tells nothing of that
 */
export const reconcile = async (
  sql: Client,
  source: { readonly day: string } | { readonly document: Uint8Array },
): Promise<{
  readonly differences: readonly BookDifference[]
  readonly figures: readonly BookFigures[]
}> => {
  if ('day' in source) {
    const { day } = source
    return {
      differences: await all(sql, statementOfDay(day)),
      figures: (await figuresOf(sql, { days: [day, day], bounds })).map(figuresView),
    }
  }
  const file = readReported(createMessageScanner(nativeText), source.document)
  const query = await figureQueryOf(sql, file)
  return {
    differences: isOfAccount(file) ? [] : await all(sql, statementOf(file)),
    figures: (await figuresOf(sql, { ...query, bounds })).map(figuresView),
  }
}

const all = async (sql: Client, statement: Statement): Promise<readonly BookDifference[]> => {
  const found: BookDifference[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await differencesOf(sql, statement, { limit: pageMax, cursor })
    found.push(...page.differences.map(differenceView))
    if (page.next === null) return found
    cursor = page.next
  }
}
