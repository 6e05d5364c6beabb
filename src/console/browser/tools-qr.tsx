import { useState } from 'preact/hooks'
import { Refusal, send } from './api.ts'
import { type Field, Fields } from './fields.tsx'
import { useLast } from './last.ts'
import { Card, Copy, Refused } from './parts.tsx'
import { go } from './router.tsx'
import { toolWords as w } from './tools-words.ts'

type Code = {
  readonly payload: string
  readonly image?: { readonly media_type: string; readonly data: string }
}

const spelled = { more: { spellcheck: false } }

const common: readonly Field[] = [
  { name: 'name', label: w.name, ...spelled },
  { name: 'city', label: w.city, ...spelled },
  { name: 'amount', label: w.amount, hint: w.amountHint, isFree: true, ...spelled },
]

const forms = {
  static: [
    { name: 'key', label: w.key, ...spelled },
    ...common,
    { name: 'info', label: w.info, isFree: true, ...spelled },
  ],
  dynamic: [{ name: 'url', label: w.location, ...spelled }, ...common],
} as const satisfies Record<string, readonly Field[]>

type Kind = keyof typeof forms

const kinds = [
  { kind: 'static', label: w.static },
  { kind: 'dynamic', label: w.dynamic },
] as const

/** Writes a BR Code and shows it as a phone sees it. */
export const MakeCode = () => {
  const [kind, setKind] = useState<Kind>('static')
  const [code, ask] = useLast<Code>()
  const make = (form: FormData) => {
    const given = [...form].filter(([, value]) => value !== '')
    const body = { ...Object.fromEntries(given), image: 'png' }
    return ask(send<Code>('POST', `/v1/qrcodes/${kind}`, body))
  }
  return (
    <div class="columns">
      <form
        class="card pad"
        onSubmit={(event) => {
          event.preventDefault()
          void make(new FormData(event.currentTarget))
        }}
      >
        <label class="field">
          {w.kind}
          <select
            onChange={(event) =>
              setKind(event.currentTarget.value === 'dynamic' ? 'dynamic' : 'static')
            }
          >
            {kinds.map(({ kind: value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <Fields fields={forms[kind]} />
        <button class="primary" type="submit">
          {w.make}
        </button>
      </form>
      <div aria-live="polite">
        {code instanceof Refusal ? (
          <Refused refusal={code} isBox />
        ) : (
          code !== undefined && <Made code={code} />
        )}
      </div>
    </div>
  )
}

const Made = ({ code: { payload, image } }: { readonly code: Code }) => (
  <Card title={w.copyPaste} aside={<Copy text={payload} label={w.copyPaste} />}>
    {image !== undefined && (
      <img class="qr" alt={w.picture} src={`data:${image.media_type};base64,${image.data}`} />
    )}
    <code class="secret">{payload}</code>
    <div class="actions">
      <button type="button" onClick={() => go('/tools?tool=explain', payload)}>
        {w.explainIt}
      </button>
    </div>
  </Card>
)
