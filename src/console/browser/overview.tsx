import { getJson, type Session, useLoaded } from './api.ts'
import { count } from './format.ts'
import { Card, type Fact, Facts, Shown } from './parts.tsx'
import { paymentColumns } from './payment-columns.tsx'
import { pageOfRail, type Rail, type Row, railLists, rails } from './rails.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { Table } from './table.tsx'
import { words } from './words.ts'

const everyMs = 5_000
const recentMax = 8

type Check = { readonly status: string; readonly detail?: unknown }
type Health = {
  readonly status: string
  readonly version: string
  readonly checks: Readonly<Record<string, Check>>
}

/** The three rails at a glance; asks again by itself. */
export const Overview = ({ session }: { readonly session: Session }) => {
  const health = useLoaded('health', (purpose) => getJson<Health>('/health', purpose), everyMs)
  const mine = rails.filter((rail) => session.scopes.includes(railLists[rail].scope))
  return (
    <>
      <header class="head">
        <h1>{words.overview}</h1>
      </header>
      <Shown loaded={health}>{(found) => <State health={found} />}</Shown>
      {mine.map((rail) => (
        <Recent key={rail} rail={rail} />
      ))}
    </>
  )
}

const Recent = ({ rail }: { readonly rail: Rail }) => {
  const load = async (purpose: 'user' | 'background'): Promise<readonly Row[]> =>
    (await pageOfRail(rail, { find: '', status: '' }, recentMax, purpose)).rows
  const loaded = useLoaded(`recent ${rail}`, load, everyMs)
  return (
    <Card
      title={railLists[rail].label}
      aside={<Link to={`/payments?rail=${rail}`}>{words.all}</Link>}
    >
      <Shown loaded={loaded}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="empty">{words.noneYet}</p>
          ) : (
            <div class="list">
              <Table columns={paymentColumns} rows={rows} keyOf={({ to }) => to} />
            </div>
          )
        }
      </Shown>
    </Card>
  )
}

const State = ({ health }: { readonly health: Health }) => (
  <div class="thirds">
    <Card
      title={words.health}
      aside={
        <Badge
          status={health.status === 'ok' ? 'ok' : 'failed'}
          label={health.status === 'ok' ? words.healthy : words.unhealthy}
        />
      }
    >
      <Facts
        facts={Object.entries(health.checks)
          .filter(([, { status }]) => status !== 'ok')
          .map(([name, { status }]) => ({ name, value: status, status }))}
      />
      <p class="quiet">Trilho {health.version}</p>
    </Card>
    <Card title={words.queues}>
      <Facts facts={openMessages(health.checks['payments']?.detail)} />
    </Card>
    <Card title={words.counterparties}>
      <Facts facts={counterparties(health.checks)} />
    </Card>
  </div>
)

type Queue = { readonly count: number; readonly oldest_seconds: number }

const openMessages = (detail: unknown): readonly Fact[] => {
  const queues = (detail ?? {}) as Readonly<Record<string, Queue>>
  return (['queued', 'sent', 'received', 'unknown'] as const).flatMap((name) => {
    const queue = queues[name]
    if (queue === undefined) return []
    const age = queue.count === 0 ? '' : ` · ${words.oldest} ${count(queue.oldest_seconds)} s`
    const isOdd = name === 'unknown' && queue.count > 0
    const value = count(queue.count) + age
    return [{ name: words[name], value, ...(isOdd ? { status: 'unknown' } : {}) }]
  })
}

type Channel = { readonly up?: boolean }
type Network = { readonly connections_up?: number; readonly in_flight?: number }

/** Channels of the central bank, card networks, chains: as far as they are configured. */
const counterparties = (checks: Health['checks']): readonly Fact[] => {
  const channels = entries<Channel>(checks['outbound']).map(([name, { up }]) => ({
    name: `SPI ${name}`,
    value: up === true ? words.up : words.down,
    status: up === true ? 'up' : 'down',
  }))
  const networks = entries<Network>(checks['card_networks']).map(([name, found]) => ({
    name,
    value: `${found.connections_up ?? 0} ${words.connections} · ${found.in_flight ?? 0} ${words.inFlight}`,
    status: (found.connections_up ?? 0) > 0 ? 'up' : 'down',
  }))
  const chains = entries<string>(checks['drex']).map(([name, state]) => ({
    name,
    value: state,
    status: state === 'running' ? 'up' : 'down',
  }))
  return [...channels, ...networks, ...chains]
}

const entries = <T,>(check: Check | undefined): [string, T][] =>
  Object.entries((check?.detail ?? {}) as Readonly<Record<string, T>>)
