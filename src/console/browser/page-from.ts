import { getJson } from './api.ts'

const pageSize = 50

/** A page of a list of the API. */
export const pageFrom =
  <T>(path: string, member: string) =>
  async (cursor: string | undefined) => {
    const query = new URLSearchParams({ limit: String(pageSize), ...(cursor && { cursor }) })
    const answer = await getJson<
      Readonly<Record<string, readonly T[]>> & { readonly next_cursor: string | null }
    >(`${path}?${query}`)
    return { rows: answer[member] ?? [], next: answer.next_cursor }
  }
