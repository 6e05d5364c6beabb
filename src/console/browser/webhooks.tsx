import { may, useActs } from './act.tsx'
import { getJson, type Session, useLoaded } from './api.ts'
import { count } from './format.ts'
import { Shown } from './parts.tsx'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, momentColumn, Table } from './table.tsx'
import { createAct } from './webhook-acts.tsx'
import { webhookWords as w } from './webhook-words.ts'

export type Endpoint = {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly active: boolean
  readonly include: 'thin' | 'full'
  readonly disabled_reason: 'request' | 'gone' | 'failing' | null
  readonly failing_since: string | null
  readonly created_at: string
  readonly health: { readonly pending: number; readonly exhausted: number }
}

/** The API counts so far and no further. */
const countedMax = 1_000
export const counted = (value: number): string =>
  value < countedMax ? count(value) : `${count(countedMax)}+`

const states = {
  active: { status: 'active', label: w.active },
  failing: { status: 'unknown', label: w.failing },
  request: { status: 'paused', label: w.paused },
  gone: { status: 'down', label: w.gone },
  disabled: { status: 'down', label: w.disabledFailing },
}

/** What is with an endpoint, in a word. */
export const EndpointBadge = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const { active, disabled_reason: reason, failing_since } = endpoint
  const off = reason === 'failing' ? states.disabled : states[reason ?? 'request']
  const on = failing_since === null ? states.active : states.failing
  return <Badge {...(active ? on : off)} />
}

const columns: readonly Column<Endpoint>[] = [
  {
    head: w.endpoint,
    classes: ['wide', 'mono'],
    cell: ({ id, url }) => <Link to={`/webhooks/${id}`}>{url}</Link>,
  },
  { head: w.events, cell: ({ events }) => events.join(', '), classes: ['extra'] },
  { head: w.state, cell: (endpoint) => <EndpointBadge endpoint={endpoint} /> },
  { head: w.pending, cell: ({ health }) => counted(health.pending), classes: ['number', 'extra'] },
  {
    head: w.exhausted,
    classes: ['number'],
    cell: ({ health }) =>
      health.exhausted === 0 ? '0' : <Badge status="exhausted" label={counted(health.exhausted)} />,
  },
  { ...momentColumn<Endpoint>(({ created_at }) => created_at), head: w.created },
]

/** Who is told of what happens, and how that goes. */
export const Webhooks = ({ session }: { readonly session: Session }) => {
  const loaded = useLoaded('webhooks', () =>
    getJson<{ webhooks: readonly Endpoint[] }>('/v1/webhooks'),
  )
  const { ask, dialog } = useActs(loaded.again)
  return (
    <>
      <header class="head">
        <h1>{w.webhooks}</h1>
        {may(session, 'webhooks:manage') && (
          <button type="button" class="primary" onClick={() => ask(createAct())}>
            {w.create}
          </button>
        )}
      </header>
      <Shown loaded={loaded}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <p class="empty">{w.none}</p>
          ) : (
            <div class="card list">
              <Table columns={columns} rows={webhooks} keyOf={({ id }) => id} />
            </div>
          )
        }
      </Shown>
      {dialog}
    </>
  )
}
