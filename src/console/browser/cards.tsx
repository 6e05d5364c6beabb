import { getJson, type Session, useLoaded } from './api.ts'
import { Days, UnmatchedAdvices } from './card-days.tsx'
import { detailsOf, type Health, type Network } from './counterparties.ts'
import { count, minorOf } from './format.ts'
import { whenChanged } from './live.ts'
import { pageFrom } from './page-from.ts'
import { Card, Shown } from './parts.tsx'
import { railWords as w } from './rails-words.ts'
import { Link } from './router.tsx'
import { Badge, statusText } from './state.tsx'
import { type Column, Moment, momentColumn, PagedTable, Table } from './table.tsx'
import { words } from './words.ts'

const everyMs = 30_000

type Connection = Network & { readonly name: string }

const connectionColumns: readonly Column<Connection>[] = [
  { head: w.network, cell: ({ name }) => name, classes: ['mono'] },
  {
    head: words.status,
    cell: ({ connections_up: up = 0 }) =>
      up > 0 ? <Badge status="up" label={words.up} /> : <Badge status="down" label={words.down} />,
  },
  {
    head: w.openOf,
    cell: ({ connections_up: up = 0, connections_max: max = 0 }) => `${count(up)}/${count(max)}`,
    classes: ['number', 'extra'],
  },
  {
    head: w.inFlight,
    cell: ({ in_flight: open = 0 }) => count(open),
    classes: ['number', 'extra'],
  },
  {
    head: w.lastEcho,
    cell: ({ last_echo_at: at }) => (at ? <Moment at={at} /> : '–'),
    classes: ['number', 'quiet'],
  },
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
  {
    head: words.identifier,
    classes: ['wide'],
    cell: ({ transaction_id: id }) => (
      <Link to={`/payments/cards/${encodeURIComponent(id)}`} class="mono">
        {id}
      </Link>
    ),
  },
  { head: w.network, cell: ({ network }) => network, classes: ['mono', 'extra'] },
  { head: what, cell: ({ reverses, advises = '' }) => statusText(reverses ?? advises) },
  {
    head: words.amount,
    cell: ({ amount, currency }) => minorOf(amount, currency),
    classes: ['number'],
  },
  { head: w.attempts, cell: ({ attempts }) => count(attempts), classes: ['number', 'extra'] },
  { head: w.answer, cell: ({ response_code: code }) => code ?? '–', classes: ['mono', 'extra'] },
  {
    head: w.nextAttempt,
    cell: ({ next_attempt_at: at }) => <Moment at={at} />,
    classes: ['number', 'extra'],
  },
  momentColumn(({ created_at: at }) => at),
]

const reversalColumns = waitingColumns(w.takesBack)
const adviceColumns = waitingColumns(w.tellsOf)

/** What card payments stand on: connections of each network, and what waits to be taken back. */
export const Cards = ({ session }: { readonly session: Session }) => (
  <>
    <header class="head">
      <h1>{words.cards}</h1>
      <Link to="/payments?rail=cards">{w.transactions}</Link>
    </header>
    {session.scopes.includes('ops:read') && <Connections />}
    {session.scopes.includes('cards:read') && (
      <>
        <PagedTable
          {...{ title: w.reversals, note: w.reversalsNote }}
          {...{
            name: 'reversals',
            load: pageFrom<Waiting>('/v1/transactions/reversals', 'reversals'),
            columns: reversalColumns,
          }}
          empty={w.noReversals}
          keyOf={({ id }: Waiting) => id}
        />
        <PagedTable
          {...{ title: w.advices, note: w.advicesNote }}
          {...{
            name: 'advices',
            load: pageFrom<Waiting>('/v1/transactions/advices', 'advices'),
            columns: adviceColumns,
          }}
          empty={w.noAdvices}
          keyOf={({ id }: Waiting) => id}
        />
      </>
    )}
    {session.scopes.includes('ops:read') && (
      <>
        <Days session={session} />
        <UnmatchedAdvices session={session} />
      </>
    )}
  </>
)

const Connections = () => {
  const loaded = useLoaded(
    'networks',
    (purpose) => getJson<Health>('/health', purpose),
    whenChanged('/health', everyMs),
  )
  return (
    <Card title={w.connections}>
      <Shown loaded={loaded}>
        {({ checks = {} }) => {
          const rows = detailsOf<Network>(checks['card_networks']).map(([name, one]) => ({
            ...one,
            name,
          }))
          return rows.length === 0 ? (
            <p class="empty">{w.noNetworks}</p>
          ) : (
            <>
              <p class="quiet">{w.connectionsNote}</p>
              <div class="list">
                <Table columns={connectionColumns} rows={rows} keyOf={({ name }) => name} />
              </div>
            </>
          )
        }}
      </Shown>
    </Card>
  )
}
