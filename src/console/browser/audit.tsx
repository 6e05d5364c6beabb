import { getJson } from './api.ts'
import { Badge } from './state.tsx'
import { type Column, momentColumn, PagedTable } from './table.tsx'
import { words } from './words.ts'

type Entry = {
  readonly id: string
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly object: string
  readonly outcome: string
}

type Entries = { readonly entries: readonly Entry[]; readonly next_cursor: string | null }

const pageSize = 100

const columns: readonly Column<Entry>[] = [
  { head: words.object, cell: ({ object }) => object, classes: ['wide', 'mono'] },
  { head: words.action, cell: ({ action }) => action },
  { head: words.actor, cell: ({ actor }) => actor, classes: ['mono', 'extra'] },
  { head: words.outcome, cell: ({ outcome }) => <Badge status={outcome} /> },
  momentColumn(({ at }) => at),
]

const load = async (cursor: string | undefined) => {
  const query = new URLSearchParams({ limit: String(pageSize), ...(cursor && { cursor }) })
  const { entries, next_cursor } = await getJson<Entries>(`/v1/audit?${query}`)
  return { rows: entries, next: next_cursor }
}

/** Who did what, the latest first. */
export const Audit = () => (
  <>
    <header class="head">
      <h1>{words.audit}</h1>
    </header>
    <PagedTable
      {...{ name: 'audit', load, columns, empty: words.none }}
      keyOf={({ id }: Entry) => id}
    />
  </>
)
