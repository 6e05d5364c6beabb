import { getJson } from './api.ts'
import type { Page } from './table.tsx'

/** Rows of a page; the lists of the API have bounds of their own. */
export const pageSize = 50

export type Answer<T> = Readonly<Record<string, readonly T[]>> & {
  readonly next_cursor: string | null
}

/**
 * Reads a list of the API page by page.
 *
 * @param member of the answer that holds the rows
 * @param filter what is asked for; an empty text is nothing
 */
export const pageFrom =
  <T>(path: string, member: string, filter: Readonly<Record<string, string | undefined>> = {}) =>
  async (cursor: string | undefined, purpose?: 'user' | 'background'): Promise<Page<T>> => {
    const asked = Object.entries({ limit: String(pageSize), ...filter, cursor })
    const query = new URLSearchParams(
      asked.filter((one): one is [string, string] => (one[1] ?? '') !== ''),
    )
    const answer = await getJson<Answer<T>>(`${path}?${query}`, purpose)
    return { rows: answer[member] ?? [], next: answer.next_cursor }
  }
