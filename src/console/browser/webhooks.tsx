import { may, useListActs } from './act.tsx'
import type { Session } from './api.ts'
import { count } from './format.ts'
import { pageFrom } from './page-from.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, column, momentColumn, PagedTable } from './table.tsx'
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

/** The API counts no further. */
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

/** The state of an endpoint in one word. */
export const EndpointBadge = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const { active, disabled_reason: reason, failing_since } = endpoint
  const off = reason === 'failing' ? states.disabled : states[reason ?? 'request']
  const on = failing_since === null ? states.active : states.failing
  return <Badge {...(active ? on : off)} />
}

const columns: readonly Column<Endpoint>[] = [
  column(w.endpoint, ({ id, url }) => <Link to={`/webhooks/${id}`}>{url}</Link>, 'wide mono'),
  column(w.events, ({ events }) => events.join(', '), 'extra'),
  column(w.state, (endpoint) => <EndpointBadge endpoint={endpoint} />),
  column(w.pending, ({ health }) => counted(health.pending), 'number extra'),
  column(
    w.exhausted,
    ({ health }) =>
      health.exhausted === 0 ? '0' : <Badge status="exhausted" label={counted(health.exhausted)} />,
    'number',
  ),
  momentColumn(({ created_at }) => created_at, w.created),
]

/** The endpoints of webhooks, and how their deliveries go. */
export const Webhooks = ({ session }: { readonly session: Session }) => {
  const { turn, ask, dialog } = useListActs()
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
      <PagedTable
        name={`webhooks ${turn}`}
        // The oldest come first, so a long page shows a new one too.
        load={pageFrom<Endpoint>('/v1/webhooks', 'webhooks', { limit: '500' })}
        columns={columns}
        empty={w.none}
        keyOf={({ id }) => id}
      />
      {dialog}
    </>
  )
}
