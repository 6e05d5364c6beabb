import type { Session } from './api.ts'
import { Days, UnmatchedAdvices } from './card-days.tsx'
import { detailsOf, type Network, useHealth } from './counterparties.ts'
import { count, minorOf } from './format.ts'
import { pageFrom } from './page-from.ts'
import { Card, orNone, Shown } from './parts.tsx'
import { placeOfPayment } from './rails.ts'
import { railWords as w } from './rails-words.ts'
import { Link } from './router.tsx'
import { Badge, statusText } from './state.tsx'
import { type Column, column, ListTable, linkColumn, momentColumn, PagedTable } from './table.tsx'
import { words } from './words.ts'

type Connection = Network & { readonly name: string }

const connectionColumns: readonly Column<Connection>[] = [
  column(w.network, ({ name }) => name, 'mono'),
  column(words.status, ({ connections_up: up = 0 }) =>
    up > 0 ? <Badge status="up" label={words.up} /> : <Badge status="down" label={words.down} />,
  ),
  column(
    w.openOf,
    ({ connections_up: up = 0, connections_max: max = 0 }) => `${count(up)}/${count(max)}`,
    'number extra',
  ),
  column(w.inFlight, ({ in_flight: open = 0 }) => count(open), 'number extra'),
  momentColumn(({ last_echo_at: at }) => at, w.lastEcho),
]

/** A reversal or an advice. */
type Waiting = {
  readonly id: string
  readonly transaction_id: string
  readonly network: string
  readonly reverses?: string
  readonly advises?: string
  readonly amount: number
  readonly currency: string
  readonly attempts: number
  readonly next_attempt_at: string
  readonly response_code: string | null
  readonly created_at: string
}

const waitingColumns = (what: string): readonly Column<Waiting>[] => [
  linkColumn(
    ({ transaction_id: id }) => placeOfPayment('cards', id),
    ({ transaction_id: id }) => id,
  ),
  column(w.network, ({ network }) => network, 'mono extra'),
  column(what, ({ reverses, advises = '' }) => statusText(reverses ?? advises)),
  column(words.amount, ({ amount, currency }) => minorOf(amount, currency), 'number'),
  column(w.attempts, ({ attempts }) => count(attempts), 'number extra'),
  column(w.answer, ({ response_code: code }) => code ?? '–', 'mono extra'),
  momentColumn(({ next_attempt_at: at }) => at, w.nextAttempt, 'number extra'),
  momentColumn(({ created_at: at }) => at),
]

const waitingLists = [
  {
    member: 'reversals',
    what: w.takesBack,
    title: w.reversals,
    note: w.reversalsNote,
    empty: w.noReversals,
  },
  {
    member: 'advices',
    what: w.tellsOf,
    title: w.advices,
    note: w.advicesNote,
    empty: w.noAdvices,
  },
]

/** The connections of each card network, waiting reversals and advices, and business days. */
export const Cards = ({ session }: { readonly session: Session }) => (
  <>
    <header class="head">
      <h1>{words.cards}</h1>
      <Link to="/payments?rail=cards">{w.transactions}</Link>
    </header>
    {session.scopes.includes('ops:read') && <Connections />}
    {session.scopes.includes('cards:read') &&
      waitingLists.map(({ member, what, ...texts }) => (
        <PagedTable
          key={member}
          {...texts}
          name={member}
          load={pageFrom<Waiting>(`/v1/transactions/${member}`, member)}
          columns={waitingColumns(what)}
          keyOf={({ id }) => id}
        />
      ))}
    {session.scopes.includes('ops:read') && (
      <>
        <Days session={session} />
        <UnmatchedAdvices session={session} />
      </>
    )}
  </>
)

const Connections = () => {
  const loaded = useHealth()
  return (
    <Card title={w.connections}>
      <Shown loaded={loaded}>
        {({ checks }) => {
          const rows = detailsOf<Network>(checks['card_networks']).map(([name, one]) => ({
            ...one,
            name,
          }))
          return orNone(
            rows,
            w.noNetworks,
            <>
              <p class="quiet">{w.connectionsNote}</p>
              <ListTable columns={connectionColumns} rows={rows} keyOf={({ name }) => name} />
            </>,
          )
        }}
      </Shown>
    </Card>
  )
}
