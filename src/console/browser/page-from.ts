import { getJson } from './api.ts'
import { type Asked, asking } from './asking.ts'
import type { Page } from './table.tsx'

/** Rows of a page; each list of the API has a maximum of its own. */
export const pageSize = 50

export type Answer<T> = Readonly<Record<string, readonly T[]>> & {
  readonly next_cursor: string | null
}

/**
 * Reads a list of the API page by page.
 *
 * @param member the member of the answer that holds the rows
 */
export const pageFrom =
  <T>(path: string, member: string, filter: Asked = {}) =>
  async (cursor: string | undefined, purpose?: 'user' | 'background'): Promise<Page<T>> => {
    const asked = { limit: String(pageSize), ...filter, cursor }
    const answer = await getJson<Answer<T>>(asking(path, asked), purpose)
    return { rows: answer[member] ?? [], next: answer.next_cursor }
  }
