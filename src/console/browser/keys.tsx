import { may, useListActs } from './act.tsx'
import type { Session } from './api.ts'
import { actsColumn } from './attention-section.tsx'
import { dayOf } from './format.ts'
import { ScreenHead } from './heads.tsx'
import {
  type ApiKey,
  createKeyAct,
  restrictKeyAct,
  revokeKeyAct,
  rotateKeyAct,
} from './key-acts.tsx'
import { keyWords as w } from './key-words.ts'
import { pageFrom } from './page-from.ts'
import { Badge } from './state.tsx'
import { type Column, column, Moment, momentColumn, PagedTable } from './table.tsx'
import { fill } from './words.ts'

const load = pageFrom<ApiKey>('/v1/keys', 'keys')

const isPast = (at: string | null): boolean => at !== null && Date.parse(at) <= Date.now()

const State = ({ one }: { readonly one: ApiKey }) => {
  if (one.revoked_at !== null) return <Badge status="disabled" label={w.revoked} />
  if (isPast(one.expires_at)) return <Badge status="down" label={w.expired} />
  return (
    <>
      <Badge status="active" label={w.active} />
      {one.expires_at !== null && (
        <small class="quiet"> {fill(w.until, { day: dayOf(one.expires_at, true) })}</small>
      )}
      {one.previous_until !== null && !isPast(one.previous_until) && (
        <small class="quiet">
          {' '}
          {fill(w.formerUntil, { day: dayOf(one.previous_until, true) })}
        </small>
      )}
    </>
  )
}

const restrictionWords: Readonly<Record<string, string>> = {
  merchant_ids: w.merchants,
  wallets: w.wallets,
  addresses: w.addresses,
  requests_per_second: w.rate,
  read_only: w.readOnly,
  own_webhooks: w.ownWebhooks,
}

/** A restriction with its values; its name alone if it has none. */
const restrictionText = ([name, value]: readonly [string, unknown]): string => {
  const said = restrictionWords[name] ?? name
  if (value === true) return said
  return `${said}: ${Array.isArray(value) ? value.join(', ') : String(value)}`
}

const columnsFor = (session: Session): readonly Column<ApiKey>[] => [
  column(
    w.name,
    ({ name, id }) => (
      <>
        {name} <code class="quiet">{id}</code>
        {id === session.key_id && <small class="quiet"> · {w.own}</small>}
      </>
    ),
    'wide',
  ),
  column(w.state, (one) => <State one={one} />),
  column(
    w.scopes,
    ({ scopes, restrictions }) => (
      <>
        <span class="mono">{scopes.join(' ')}</span>
        {Object.entries(restrictions).map((one) => (
          <small key={one[0]} class="quiet line">
            {restrictionText(one)}
          </small>
        ))}
      </>
    ),
    'wide',
  ),
  column(w.used, ({ last_used_at: at }) => <Moment at={at} none={w.never} />, 'number quiet'),
  momentColumn(({ created_at }) => created_at, w.created, 'extra number quiet'),
]

/** The API keys of the account, without their secrets. */
export const Keys = ({ session }: { readonly session: Session }) => {
  const { turn, ask, dialog } = useListActs()
  const mayAct = may(session, 'keys:manage')
  const acts = actsColumn<ApiKey>(mayAct, ask, (one) =>
    one.revoked_at === null
      ? [restrictKeyAct(one), rotateKeyAct(one, session), revokeKeyAct(one, session)]
      : [],
  )
  return (
    <>
      <ScreenHead title={w.keys} intro={w.intro}>
        {mayAct && (
          <button type="button" class="primary" onClick={() => ask(createKeyAct(session))}>
            {w.create}
          </button>
        )}
      </ScreenHead>
      <PagedTable
        {...{ name: `keys ${turn}`, load, empty: w.none }}
        columns={[...columnsFor(session), ...acts]}
        keyOf={({ id }) => id}
      />
      {dialog}
    </>
  )
}
