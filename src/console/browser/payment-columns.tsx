import type { Row } from './rails.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, momentColumn } from './table.tsx'
import { words } from './words.ts'

/** Payments of any rail, one a row. */
export const paymentColumns: readonly Column<Row>[] = [
  {
    head: words.identifier,
    classes: ['wide'],
    cell: ({ to, id }) => (
      <Link to={to} class="mono">
        {id}
      </Link>
    ),
  },
  { head: words.kind, cell: ({ kind }) => kind },
  { head: words.party, cell: ({ party }) => party, classes: ['mono', 'extra'] },
  { head: words.status, cell: ({ status }) => <Badge status={status} /> },
  { head: words.amount, cell: ({ amount }) => amount, classes: ['number'] },
  momentColumn(({ at }) => at),
]
