import { type Act, sending } from './act.tsx'
import { instantOf } from './days.tsx'
import { textIn } from './fields.tsx'
import { count } from './format.ts'
import { overlapField, overlapOf } from './overlap.tsx'
import { Copy } from './parts.tsx'
import { go } from './router.tsx'
import { webhookWords as w } from './webhook-words.ts'
import type { Endpoint } from './webhooks.tsx'
import { fill } from './words.ts'

const pathOf = ({ id }: { readonly id: string }): string => `/v1/webhooks/${encodeURIComponent(id)}`

/** Shows a new secret, which nobody sees again. */
const secretOnce = ({ secret }: { readonly secret?: string }) =>
  secret === undefined ? (
    <p>{w.secretCommon}</p>
  ) : (
    <>
      <p>{w.secretOnce}</p>
      <code class="secret">{secret}</code>
      <Copy text={secret} label={w.copySecret} />
    </>
  )

export const createAct = (): Act => ({
  title: w.create,
  consequence: w.createConsequence,
  fields: [
    {
      name: 'url',
      label: w.url,
      type: 'url',
      hint: w.urlHint,
      more: { placeholder: 'https://example.com/hooks' },
    },
    {
      name: 'events',
      label: w.events,
      first: '*',
      hint: w.eventsHint,
      more: { spellcheck: false },
    },
    { name: 'full', label: w.wantsFull, type: 'checkbox' },
  ],
  run: sending(
    'POST',
    '/v1/webhooks',
    (form) => ({
      url: String(form.get('url')),
      events: String(form.get('events'))
        .split(/[\s,]+/)
        .filter((one) => one !== ''),
      include: form.has('full') ? 'full' : 'thin',
    }),
    secretOnce,
  ),
})

type Tested = {
  readonly delivered: boolean
  readonly status_code: number | null
  readonly duration_ms: number
  readonly answer: string | null
  readonly error_class: string | null
}

const testAct = (endpoint: Endpoint): Act => ({
  title: w.test,
  consequence: fill(w.testConsequence, { url: endpoint.url }),
  isAnew: true,
  run: sending('POST', `${pathOf(endpoint)}/test`, undefined, (found: Tested) => {
    const status = String(found.status_code ?? found.error_class ?? w.noAnswer)
    const text = found.delivered ? w.testTaken : w.testRefused
    return (
      <>
        <p>{fill(text, { status, ms: count(found.duration_ms) })}</p>
        {(found.answer ?? '') !== '' && <code class="secret">{found.answer}</code>}
      </>
    )
  }),
})

const rotateAct = (endpoint: Endpoint): Act => ({
  title: w.rotate,
  consequence: fill(w.rotateConsequence, { url: endpoint.url }),
  fields: [overlapField(w.overlap, w.overlapNone)],
  run: sending('POST', `${pathOf(endpoint)}/rotate`, overlapOf, secretOnce),
})

/** Pauses an active endpoint, activates any other. */
const switchAct = (endpoint: Endpoint): Act => ({
  title: endpoint.active ? w.pause : w.activate,
  consequence: fill(endpoint.active ? w.pauseConsequence : w.activateConsequence, {
    url: endpoint.url,
  }),
  run: sending('PATCH', pathOf(endpoint), () => ({ active: !endpoint.active })),
})

const removeAct = (endpoint: Endpoint): Act => ({
  title: w.remove,
  consequence: fill(w.removeConsequence, { url: endpoint.url }),
  run: sending('DELETE', pathOf(endpoint), undefined, () => {
    go('/webhooks')
    return undefined
  }),
})

const replayRangeAct = (endpoint: Pick<Endpoint, 'id' | 'url'>): Act => ({
  title: w.replayRange,
  consequence: fill(w.replayRangeConsequence, { url: endpoint.url }),
  verb: w.replay,
  fields: [
    { name: 'since', label: w.from, type: 'datetime-local', more: { step: 1 } },
    { name: 'until', label: w.until, type: 'datetime-local', isFree: true, more: { step: 1 } },
  ],
  run: sending(
    'POST',
    `${pathOf(endpoint)}/replay`,
    (form) => {
      const until = textIn(form, 'until')
      const since = instantOf(textIn(form, 'since'))
      return { since, ...(until === '' ? {} : { until: instantOf(until) }) }
    },
    ({ replayed }: { replayed: number }) => fill(w.replayedCount, { count: count(replayed) }),
  ),
})

/** Whether the API Pix has set it, which alone changes it: the name of its event is a path. */
const isOfStandard = ({ events }: Endpoint): boolean => events.some((one) => one.includes('/'))

/** The acts that the state of an endpoint allows. */
export const endpointActs = (endpoint: Endpoint): readonly Act[] => {
  const replay = endpoint.active ? [replayRangeAct(endpoint)] : []
  if (isOfStandard(endpoint)) return replay
  const changes = [rotateAct, switchAct, removeAct].map((act) => act(endpoint))
  return [testAct(endpoint), ...replay, ...changes]
}

export const replayAct = (delivery: {
  readonly id: string
  readonly event_type: string
  readonly url: string
}): Act => ({
  title: w.replay,
  consequence: fill(w.replayConsequence, { event: delivery.event_type, url: delivery.url }),
  run: sending('POST', `/v1/webhook-deliveries/${delivery.id}/replay`, undefined, () => w.replayed),
})
