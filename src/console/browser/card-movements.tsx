import type { ThingProps } from './api.ts'
import { minorOf } from './format.ts'
import { Back, ScreenHead } from './heads.tsx'
import { pageFrom } from './page-from.ts'
import { placeOfPayment } from './rails.ts'
import { railWords as w } from './rails-words.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, column, momentColumn, PagedTable } from './table.tsx'
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
  column(
    'RRN',
    ({ transaction_id: id, rrn }) => <Link to={placeOfPayment('cards', id)}>{rrn ?? id}</Link>,
    'wide mono',
  ),
  column(words.kind, ({ kind }) => <Badge status={kind} />),
  column(words.stan, ({ stan }) => stan, 'mono extra'),
  column(words.amount, ({ amount }) => minorOf(amount, currency), 'number'),
  momentColumn(({ at }) => at),
]

/** The movements that our totals of a business day sum up, in the order of booking. */
export const Movements = ({ id, query }: ThingProps) => {
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
