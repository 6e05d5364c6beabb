import { type Act, sending } from './act.tsx'
import type { Session } from './api.ts'
import { instantOf } from './days.tsx'
import { type Field, Fields, textIn } from './fields.tsx'
import { keyWords as w } from './key-words.ts'
import { overlapField, overlapOf } from './overlap.tsx'
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

/** Shows a new key, which nobody sees again. */
const keyOnce = ({ key: text }: { readonly key: string }) => (
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

/** Only line ends separate items: the id of a merchant may hold blanks and commas. */
const lineEnd = /\s*\n\s*/

const itemsOf = (form: FormData, name: string, between: RegExp): readonly string[] =>
  textIn(form, name)
    .split(between)
    .filter((one) => one !== '')

const restrictionFields = (present: Restrictions): readonly Field[] => [
  ...lists.map(({ name, label }) => ({
    name,
    label,
    isFree: true,
    isLong: true,
    first: present[name]?.join('\n') ?? '',
    hint: w.listHint,
    more: { rows: 2, spellcheck: false },
  })),
  {
    name: 'requests_per_second',
    label: w.rate,
    isFree: true,
    type: 'number',
    first: String(present.requests_per_second ?? ''),
    hint: w.rateHint,
    more: { min: 1, max: 100_000 },
  },
  ...switches.map(({ name, label }) => ({
    name,
    label,
    type: 'checkbox',
    first: String(present[name]),
  })),
]

const restrictionsOf = (form: FormData): Restrictions => {
  const rate = textIn(form, 'requests_per_second')
  const given = lists
    .map(({ name }) => [name, itemsOf(form, name, lineEnd)] as const)
    .filter(([, items]) => items.length > 0)
  return {
    ...Object.fromEntries(given),
    ...Object.fromEntries(
      switches.filter(({ name }) => form.has(name)).map(({ name }) => [name, true]),
    ),
    ...(rate === '' ? {} : { requests_per_second: Number(rate) }),
  }
}

const members = [...lists, ...switches, { name: 'requests_per_second' }] as const

const isSame = (one: Restrictions, other: Restrictions): boolean =>
  members.every(({ name }) => JSON.stringify(one[name]) === JSON.stringify(other[name]))

/** Sends only what was changed in the form, because the rest may have been changed elsewhere meanwhile. */
const changedOf = (
  form: FormData,
  present: Restrictions,
): { readonly restrictions?: Restrictions; readonly replaces?: Restrictions } => {
  const restrictions = restrictionsOf(form)
  return isSame(restrictions, present) ? {} : { restrictions, replaces: present }
}

const expiryOf = (form: FormData): { readonly expires_at?: string } => {
  const given = textIn(form, 'expires')
  return given === '' ? {} : { expires_at: instantOf(given) }
}

const expiryField = (hint: string): Field => ({
  name: 'expires',
  label: w.expiry,
  isFree: true,
  type: 'datetime-local',
  hint,
})

export const createKeyAct = ({ account }: Session): Act => ({
  title: w.create,
  consequence: fill(w.createConsequence, { account }),
  fields: [
    { name: 'name', label: w.name, hint: w.nameHint, more: { maxLength: 100 } },
    {
      name: 'scopes',
      label: w.scopes,
      isLong: true,
      hint: w.scopesHint,
      more: { rows: 4, spellcheck: false },
    },
    expiryField(w.expiryHint),
  ],
  beside: (
    <details>
      <summary>{w.restrictions}</summary>
      <Fields fields={restrictionFields({})} />
    </details>
  ),
  run: sending(
    'POST',
    '/v1/keys',
    (form) => ({
      name: textIn(form, 'name'),
      scopes: itemsOf(form, 'scopes', /[\s,]+/),
      restrictions: restrictionsOf(form),
      ...expiryOf(form),
    }),
    keyOnce,
  ),
})

export const restrictKeyAct = (one: ApiKey): Act => ({
  title: w.restrict,
  consequence: fill(w.restrictConsequence, { name: one.name }),
  fields: [...restrictionFields(one.restrictions), expiryField(w.expiryKept)],
  run: sending('PATCH', pathOf(one), (form) => ({
    ...changedOf(form, one.restrictions),
    ...expiryOf(form),
  })),
})

/** The text, if the session uses this key. */
const ownOf = (text: string, one: ApiKey, session: Session): string =>
  one.id === session.key_id ? ` ${text}` : ''

export const rotateKeyAct = (one: ApiKey, session: Session): Act => ({
  title: w.rotate,
  consequence: fill(w.rotateConsequence, { name: one.name }) + ownOf(w.rotateOwn, one, session),
  fields: [overlapField(w.overlap, w.overlapNone)],
  run: sending('POST', `${pathOf(one)}/rotate`, overlapOf, keyOnce),
})

export const revokeKeyAct = (one: ApiKey, session: Session): Act => ({
  title: w.revoke,
  consequence: fill(w.revokeConsequence, { name: one.name }) + ownOf(w.revokeOwn, one, session),
  run: sending('DELETE', pathOf(one)),
})
