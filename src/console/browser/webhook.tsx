import { ActButtons, may, useActs } from './act.tsx'
import { getJson, ifThere, type Purpose, type ThingProps, useAnswer, useLoaded } from './api.ts'
import { count, duration } from './format.ts'
import { Back } from './heads.tsx'
import { partsEveryMs } from './live.ts'
import { pageFrom } from './page-from.ts'
import { Card, Code, Copy, Facts, Shown } from './parts.tsx'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, column, Moment, momentColumn, PagedTable, statusColumn } from './table.tsx'
import { endpointActs, replayAct } from './webhook-acts.tsx'
import { webhookWords as w } from './webhook-words.ts'
import { counted, type Endpoint, EndpointBadge } from './webhooks.tsx'
import { words } from './words.ts'

type Delivery = {
  readonly id: string
  readonly event_id: string
  readonly endpoint_id: string
  readonly event_type: string
  readonly status: string
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly created_at: string
}

type Attempt = {
  readonly at: string
  readonly status_code: number | null
  readonly duration_ms: number
  readonly answer: string | null
  readonly error_class: string | null
}

type DeliveryDetail = Delivery & {
  readonly request: { readonly url: string; readonly body: string | null }
  readonly attempt_log: readonly Attempt[]
}

const statuses = [
  { status: '', label: w.anyStatus },
  { status: 'pending', label: w.pending },
  { status: 'exhausted', label: w.exhausted },
  { status: 'delivered', label: w.delivered },
]

const columns: readonly Column<Delivery>[] = [
  column(
    w.event,
    ({ id, endpoint_id, event_type }) => (
      <Link to={`/webhooks/${endpoint_id}/${id}`}>{event_type}</Link>
    ),
    'wide',
  ),
  column(words.identifier, ({ event_id }) => event_id, 'mono extra'),
  statusColumn,
  column(w.attempts, ({ attempts }) => count(attempts), 'number extra'),
  momentColumn(({ created_at }) => created_at),
]

/** One endpoint with its deliveries. */
export const Webhook = ({ id, query, session }: ThingProps) => {
  const path = `/v1/webhooks/${encodeURIComponent(id)}`
  const loaded = useAnswer<Endpoint>(path)
  const { ask, dialog } = useActs(loaded.again)
  const status = query.get('status') ?? ''
  return (
    <>
      <Back to="/webhooks" text={w.all} />
      <Shown loaded={loaded}>
        {(endpoint) => (
          <>
            <header class="head">
              <div>
                <h1 class="mono">{endpoint.url}</h1> <EndpointBadge endpoint={endpoint} />
              </div>
              {may(session, 'webhooks:manage') && (
                <div class="actions">
                  <ActButtons ask={ask} acts={endpointActs(endpoint)} />
                </div>
              )}
            </header>
            <EndpointFacts endpoint={endpoint} />
          </>
        )}
      </Shown>
      <nav class="tabs" aria-label={w.deliveries}>
        {statuses.map((one) => (
          <Link
            key={one.status}
            to={`/webhooks/${id}${one.status && `?status=${one.status}`}`}
            current={one.status === status}
          >
            {one.label}
          </Link>
        ))}
      </nav>
      <PagedTable
        name={`${id} ${status} ${loaded.turn}`}
        load={pageFrom<Delivery>(`${path}/deliveries`, 'deliveries', { status })}
        empty={w.noDeliveries}
        columns={columns}
        keyOf={(one) => one.id}
      />
      {dialog}
    </>
  )
}

const EndpointFacts = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const { health, failing_since } = endpoint
  return (
    <Card title={w.facts}>
      <Facts
        isWide
        facts={[
          { name: w.events, value: endpoint.events.join(', ') },
          { name: w.include, value: endpoint.include === 'full' ? w.full : w.thin },
          { name: w.pending, value: counted(health.pending) },
          {
            name: w.exhausted,
            value: counted(health.exhausted),
            ...(health.exhausted > 0 ? { status: 'exhausted' } : {}),
          },
          ...(failing_since === null
            ? []
            : [{ name: w.failingSince, value: <Moment at={failing_since} /> }]),
        ]}
      />
    </Card>
  )
}

/** A delivery, and whether its endpoint is active. */
const loadDelivery = async (id: string, purpose: Purpose) => {
  const path = `/v1/webhook-deliveries/${encodeURIComponent(id)}`
  const delivery = await getJson<DeliveryDetail>(path, purpose)
  const endpoint = `/v1/webhooks/${encodeURIComponent(delivery.endpoint_id)}`
  const { active = false } = (await ifThere(getJson<Endpoint>(endpoint, purpose))) ?? {}
  return { ...delivery, isActive: active }
}

/** One delivery: its request, and the answer to each attempt. */
export const DeliveryPage = ({ id, session }: ThingProps) => {
  const loaded = useLoaded(id, (purpose) => loadDelivery(id, purpose), partsEveryMs)
  const { ask, dialog } = useActs(loaded.again)
  return (
    <Shown loaded={loaded}>
      {(delivery) => (
        <>
          <Back to={`/webhooks/${delivery.endpoint_id}`} text={w.deliveries} />
          <header class="head">
            <div>
              <h1>{delivery.event_type}</h1> <Badge status={delivery.status} />
              <p class="mono quiet">{delivery.event_id}</p>
            </div>
            {delivery.isActive && may(session, 'webhooks:manage') && (
              <div class="actions">
                <ActButtons
                  ask={ask}
                  acts={[replayAct({ ...delivery, url: delivery.request.url })]}
                />
              </div>
            )}
          </header>
          <div class="columns">
            <AttemptLog {...delivery} />
            <RequestCard {...delivery.request} />
          </div>
          {dialog}
        </>
      )}
    </Shown>
  )
}

const AttemptLog = ({ attempt_log: attempts, next_attempt_at: next }: DeliveryDetail) => (
  <Card
    title={w.attempts}
    aside={
      next !== null && (
        <span class="quiet">
          {w.next} <Moment at={next} />
        </span>
      )
    }
  >
    {attempts.length === 0 ? (
      <p class="quiet">{w.noAttempt}</p>
    ) : (
      <ol class="attempts">
        {attempts.map((one) => (
          <li key={one.at}>
            <Badge
              status={one.error_class === null ? 'delivered' : 'failed'}
              label={String(one.status_code ?? one.error_class ?? w.noAnswer)}
            />{' '}
            <span class="quiet">
              <Moment at={one.at} /> · {duration(one.duration_ms)}
              {one.status_code !== null && one.error_class !== null && ` · ${one.error_class}`}
            </span>
            {(one.answer ?? '') !== '' && <code class="secret">{one.answer}</code>}
          </li>
        ))}
      </ol>
    )}
  </Card>
)

const RequestCard = ({ url, body }: DeliveryDetail['request']) => {
  const shown = body === null ? undefined : readable(body)
  return (
    <Card title={w.request} aside={body !== null && <Copy text={body} label={words.copy} />}>
      <p class="mono">POST {url}</p>
      <p class="quiet">{shown === undefined ? w.hiddenBody : w.signed}</p>
      {shown !== undefined && <Code label={w.request}>{shown}</Code>}
    </Card>
  )
}

/** The JSON with line ends, for people. The bytes that we send have none. */
const readable = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
