import type { ComponentChildren } from 'preact'
import { RailActivity } from './activity.tsx'
import { getText, type Loaded, type ScreenProps, useLoaded } from './api.ts'
import { expiryText } from './certificates.tsx'
import { type Concern, manyText } from './concerns.ts'
import { counterparties, type Health, type Party, useHealth } from './counterparties.ts'
import { count, dayOf, duration } from './format.ts'
import { expiresSoon, nameOfCertificate, type StoredCertificate } from './late.ts'
import { useFollowed } from './live.ts'
import { overviewWords as w } from './overview-words.ts'
import { Card, type Fact, Facts, orNone, Shown } from './parts.tsx'
import { depthText, type Queue, queuesIn } from './queues.ts'
import { railLists, rails } from './rails.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { fill, words } from './words.ts'

const slowlyMs = 30_000

const windows = [15, 60, 360, 1_440] as const

const windowText = (minutes: number): string =>
  minutes < 60
    ? fill(w.minutes, { count: count(minutes) })
    : fill(w.hours, { count: count(minutes / 60) })

/** The three rails at a glance, with counterparties, queues and certificates; it updates by itself. */
export const Overview = ({
  session,
  query,
  concerns,
}: ScreenProps & { readonly concerns: Loaded<readonly Concern[]> }) => {
  const mine = rails.filter((rail) => session.scopes.includes(railLists[rail].scope))
  const minutes = windows.find((one) => String(one) === query.get('minutes')) ?? 60
  return (
    <>
      <header class="head">
        <h1>{words.overview}</h1>
        <nav class="segments" aria-label={w.window}>
          {windows.map((one) => (
            <Link key={one} to={`/?minutes=${one}`} current={one === minutes}>
              {windowText(one)}
            </Link>
          ))}
        </nav>
      </header>
      <Concerns loaded={concerns} />
      <div class="thirds">
        {mine.map((rail) => (
          <RailActivity key={`${rail} ${minutes}`} rail={rail} minutes={minutes} />
        ))}
      </div>
      <div class="thirds">
        {session.scopes.includes('ops:read') && (
          <>
            <Counterparties />
            <Queues />
          </>
        )}
        {session.scopes.includes('ops:admin') && <Certificates />}
      </div>
    </>
  )
}

const Counterparties = () => {
  const health = useHealth()
  return (
    <Card title={words.counterparties} aside={<State health={health.value} />}>
      <Shown loaded={health}>{({ checks }) => <Parties parties={counterparties(checks)} />}</Shown>
    </Card>
  )
}

const State = ({ health }: { readonly health: Health | undefined }) =>
  health !== undefined && (
    <Badge
      status={health.status === 'ok' ? 'ok' : 'failed'}
      label={health.status === 'ok' ? words.healthy : words.unhealthy}
    />
  )

/** The things that wait for a person, each with a number; one line if there are none. */
const Concerns = ({ loaded }: { readonly loaded: Loaded<readonly Concern[]> }) => (
  <section class="card strip" aria-label={w.attention}>
    <Shown loaded={loaded}>
      {(concerns) =>
        concerns.length === 0 ? (
          <Badge status="ok" label={w.nothing} />
        ) : (
          <>
            <strong>{w.attention}</strong>
            {concerns.map(linkOf)}
          </>
        )
      }
    </Shown>
  </section>
)

const linkOf = (one: Concern): ComponentChildren => (
  <Link key={one.name} to="/attention">
    <Badge status="unknown" label={`${manyText([one])} ${one.name}`} />
  </Link>
)

const Parties = ({ parties }: { readonly parties: readonly Party[] }) =>
  orNone(
    parties,
    w.noParties,
    <ul class="parties">
      {parties.map(({ name, isUp, text }) => (
        <li key={name}>
          <span class="what">{name}</span>
          <Badge status={isUp ? 'up' : 'down'} label={isUp ? words.up : words.down} />
          <span class="how">{text}</span>
        </li>
      ))}
    </ul>,
  )

const Queues = () => {
  const loaded = useLoaded(
    'queues',
    async () => queuesIn(await getText('/metrics', 'text/plain', 'background')),
    slowlyMs,
  )
  return (
    <Card title={w.queues}>
      <Shown loaded={loaded}>
        {(queues) => orNone(queues, w.noQueues, <Facts facts={queues.map(queueFact)} />)}
      </Shown>
    </Card>
  )
}

const queueFact = (queue: Queue): Fact =>
  queue.depth === 0
    ? { name: queue.name, value: '0' }
    : {
        name: queue.name,
        value: `${depthText(queue)} · ${words.oldest} ${duration(queue.ageSeconds * 1_000)}`,
        status: 'queued',
      }

const certificatesShown = 6

type Stored = { readonly certificates: readonly StoredCertificate[] }

const Certificates = () => {
  const loaded = useFollowed<Stored>('/v1/certificates', slowlyMs)
  return (
    <Card title={w.certificates}>
      <Shown loaded={loaded}>
        {({ certificates }) =>
          orNone(
            certificates,
            w.noCertificates,
            <Facts facts={soonest(certificates).map(expiryOf)} />,
          )
        }
      </Shown>
    </Card>
  )
}

const soonest = (certificates: readonly StoredCertificate[]): readonly StoredCertificate[] =>
  certificates
    .toSorted((a, b) => a.days_until_expiry - b.days_until_expiry)
    .slice(0, certificatesShown)

const expiryOf = (one: StoredCertificate): Fact => ({
  name: nameOfCertificate(one),
  value: `${dayOf(one.not_after)} · ${expiryText(one)}`,
  ...(expiresSoon(one) ? { status: one.status === 'expired' ? 'failed' : 'queued' } : {}),
})
