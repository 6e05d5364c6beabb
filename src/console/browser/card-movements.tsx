import { minorOf } from './format.ts'
import { Back, ScreenHead } from './heads.tsx'
import { pageFrom } from './page-from.ts'
import { railWords as w } from './rails-words.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, momentColumn, PagedTable } from './table.tsx'
import { fill, words } from './words.ts'

type Movement = {
  readonly id: string
  readonly transaction_id: string
  readonly kind: string
  readonly amount: number
  readonly stan: string
  readonly rrn: string | null
  readonly at: string
}

const columnsIn = (currency: string): readonly Column<Movement>[] => [
  {
    head: 'RRN',
    classes: ['wide', 'mono'],
    cell: ({ transaction_id: id, rrn }) => (
      <Link to={`/payments/cards/${encodeURIComponent(id)}`}>{rrn ?? id}</Link>
    ),
  },
  { head: words.kind, cell: ({ kind }) => <Badge status={kind} /> },
  { head: words.stan, cell: ({ stan }) => stan, classes: ['mono', 'extra'] },
  {
    head: words.amount,
    cell: ({ amount }) => minorOf(amount, currency),
    classes: ['number'],
  },
  momentColumn(({ at }) => at),
]

/** What our totals of a business day are the sum of, in the order of booking. */
export const Movements = ({
  id,
  query,
}: {
  readonly id: string
  readonly query: URLSearchParams
}) => {
  const [day, network, currency] = ['day', 'network', 'currency'].map(
    (name) => query.get(name) ?? '',
  )
  return (
    <>
      <Back to="/cards" text={w.days} />
      <ScreenHead
        title={fill(w.movementsOf, { day: day ?? '', network: network ?? '' })}
        intro={w.movementsNote}
      />
      <PagedTable
        name={`movements ${id}`}
        load={pageFrom<Movement>(
          `/v1/transactions/reconciliations/${encodeURIComponent(id)}/movements`,
          'movements',
        )}
        columns={columnsIn(currency ?? '')}
        empty={w.noMovements}
        keyOf={(one) => one.id}
      />
    </>
  )
}
