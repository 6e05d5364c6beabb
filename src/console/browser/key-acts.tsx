import { type Act, sending } from './act.tsx'
import { type Session, send } from './api.ts'
import { keyWords as w } from './key-words.ts'
import { Overlap, overlapOf } from './overlap.tsx'
import { Copy } from './parts.tsx'
import { fill } from './words.ts'

type Restrictions = {
  readonly merchant_ids?: readonly string[]
  readonly wallets?: readonly string[]
  readonly addresses?: readonly string[]
  readonly own_webhooks?: boolean
  readonly read_only?: boolean
  readonly requests_per_second?: number
}

export type ApiKey = {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly restrictions: Restrictions
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly previous_until: string | null
  readonly last_used_at: string | null
}

const pathOf = ({ id }: ApiKey): string => `/v1/keys/${encodeURIComponent(id)}`

/** A key, once. */
const KeyOnce = ({ text }: { readonly text: string }) => (
  <>
    <p>{w.once}</p>
    <code class="secret">{text}</code>
    <Copy text={text} label={w.copy} />
  </>
)

const lists = [
  { name: 'merchant_ids', label: w.merchants },
  { name: 'wallets', label: w.wallets },
  { name: 'addresses', label: w.addresses },
] as const

const switches = [
  { name: 'read_only', label: w.readOnly },
  { name: 'own_webhooks', label: w.ownWebhooks },
] as const

const itemsOf = (form: FormData, name: string): readonly string[] =>
  String(form.get(name) ?? '')
    .split(/[\s,]+/)
    .filter((one) => one !== '')

const RestrictionFields = ({ present }: { readonly present: Restrictions }) => (
  <>
    {lists.map(({ name, label }) => (
      <label key={name} class="field">
        {label}
        <input name={name} defaultValue={present[name]?.join(', ') ?? ''} spellcheck={false} />
        <small>{w.listHint}</small>
      </label>
    ))}
    <label class="field">
      {w.rate}
      <input
        name="requests_per_second"
        type="number"
        min="1"
        max="100000"
        defaultValue={String(present.requests_per_second ?? '')}
      />
      <small>{w.rateHint}</small>
    </label>
    {switches.map(({ name, label }) => (
      <label key={name} class="check">
        <input name={name} type="checkbox" defaultChecked={present[name] === true} />
        {label}
      </label>
    ))}
  </>
)

const restrictionsOf = (form: FormData): Restrictions => {
  const rate = String(form.get('requests_per_second') ?? '')
  const given = lists
    .map(({ name }) => [name, itemsOf(form, name)] as const)
    .filter(([, items]) => items.length > 0)
  return {
    ...Object.fromEntries(given),
    ...Object.fromEntries(
      switches.filter(({ name }) => form.has(name)).map(({ name }) => [name, true]),
    ),
    ...(rate === '' ? {} : { requests_per_second: Number(rate) }),
  }
}

const expiryOf = (form: FormData): { readonly expires_at?: string } => {
  const given = String(form.get('expires') ?? '')
  return given === '' ? {} : { expires_at: new Date(given).toISOString() }
}

const Expiry = ({ hint }: { readonly hint: string }) => (
  <label class="field">
    {w.expiry}
    <input name="expires" type="datetime-local" />
    <small>{hint}</small>
  </label>
)

export const createKeyAct = ({ account }: Session): Act => ({
  title: w.create,
  consequence: fill(w.createConsequence, { account }),
  fields: (
    <>
      <label class="field">
        {w.name}
        <input name="name" required maxLength={100} autocomplete="off" />
        <small>{w.nameHint}</small>
      </label>
      <label class="field">
        {w.scopes}
        <textarea name="scopes" required rows={4} spellcheck={false} />
        <small>{w.scopesHint}</small>
      </label>
      <Expiry hint={w.expiryHint} />
      <details>
        <summary>{w.restrictions}</summary>
        <RestrictionFields present={{}} />
      </details>
    </>
  ),
  run: async (form, key) => {
    const body = {
      name: String(form.get('name')),
      scopes: itemsOf(form, 'scopes'),
      restrictions: restrictionsOf(form),
      ...expiryOf(form),
    }
    const made = await send<{ readonly key: string }>('POST', '/v1/keys', body, key)
    return <KeyOnce text={made.key} />
  },
})

export const restrictKeyAct = (one: ApiKey): Act => ({
  title: w.restrict,
  consequence: fill(w.restrictConsequence, { name: one.name }),
  fields: (
    <>
      <RestrictionFields present={one.restrictions} />
      <Expiry hint={w.expiryKept} />
    </>
  ),
  run: sending('PATCH', pathOf(one), (form) => ({
    restrictions: restrictionsOf(form),
    ...expiryOf(form),
  })),
})

const withOwn = (text: string, own: string, one: ApiKey, session: Session): string =>
  one.id === session.key_id ? `${text} ${own}` : text

export const rotateKeyAct = (one: ApiKey, session: Session): Act => ({
  title: w.rotate,
  consequence: withOwn(
    ...([fill(w.rotateConsequence, { name: one.name }), w.rotateOwn, one, session] as const),
  ),
  fields: <Overlap label={w.overlap} none={w.overlapNone} />,
  run: async (form, key) => {
    const made = await send<{ readonly key: string }>(
      'POST',
      `${pathOf(one)}/rotate`,
      overlapOf(form),
      key,
    )
    return <KeyOnce text={made.key} />
  },
})

export const revokeKeyAct = (one: ApiKey, session: Session): Act => ({
  title: w.revoke,
  consequence: withOwn(
    ...([fill(w.revokeConsequence, { name: one.name }), w.revokeOwn, one, session] as const),
  ),
  run: sending('DELETE', pathOf(one)),
})
