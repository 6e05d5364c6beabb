import { ActButtons, allowed, useActs } from './act.tsx'
import { Refusal, type ThingProps, useLoaded } from './api.ts'
import { OnChain } from './chain.tsx'
import { type Explained, ExplainedLines, VerdictBadge } from './explained.tsx'
import { dayOf, duration, timeOf } from './format.ts'
import { Back, ThingHead } from './heads.tsx'
import { partsEveryMs, whenChanged } from './live.ts'
import { Card, Code, Copy, Facts, Refused, Shown } from './parts.tsx'
import { lacksPart, loadPayment, type Moment, type Payment, pathOfPayment } from './payment-load.ts'
import { paymentWords as w } from './payment-words.ts'
import type { Rail } from './rails.ts'
import { Link } from './router.tsx'
import { Badge, Sign, statusText, toneClass } from './state.tsx'
import { Wire } from './wire.tsx'
import { words } from './words.ts'
import { Xml } from './xml.tsx'

/** The page of one payment, with all that the API tells of it. */
export const PaymentPage = ({ rail, id, session }: ThingProps & { readonly rail: Rail }) => {
  const loaded = useLoaded(
    `${rail} ${id}`,
    (purpose) => loadPayment(rail, id, purpose),
    whenChanged(pathOfPayment(rail, id), partsEveryMs),
    lacksPart,
  )
  const { ask, dialog } = useActs(loaded.again)
  return (
    <>
      <Back to={`/payments?rail=${rail}`} text={words.back} />
      <Shown loaded={loaded}>
        {(payment) => (
          <>
            <ThingHead title={payment.title} isAmount status={payment.status} id={payment.id}>
              <ActButtons acts={allowed(session, payment.acts ?? [])} ask={ask} />
              <Trace id={payment.traceId} url={session.trace_url} />
              <Copy text={payment.id} label={words.copy} />
              <Copy text={location.href} label={words.copyLink} />
            </ThingHead>
            <div class="columns">
              <Timeline moments={payment.moments} refused={payment.refused} />
              <div class="stack">
                <Card title={w.summary}>
                  <Facts facts={payment.facts} />
                </Card>
                <Machine decoded={payment.decoded} />
              </div>
            </div>
            <Documents {...payment} />
            <Wire exchanges={payment.wire ?? []} />
            {(payment.onChain ?? []).map((place) => (
              <OnChain key={place.hash} {...place} follows={pathOfPayment(rail, id)} />
            ))}
          </>
        )}
      </Shown>
      {dialog}
    </>
  )
}

/** A link to a page of others: it opens in a new tab and learns nothing of ours. */
const Trace = ({
  id,
  url,
}: {
  readonly id: string | null | undefined
  readonly url: string | null
}) =>
  id && url !== null ? (
    <a
      class="button"
      href={url.replaceAll('{trace_id}', id)}
      target="_blank"
      rel="noopener noreferrer"
    >
      {words.trace}
    </a>
  ) : null

/** The moments, each with the time since the first. */
export const Timeline = ({
  moments,
  refused = [],
}: {
  readonly moments: readonly Moment[]
  readonly refused?: Payment['refused']
}) => {
  const first = moments[0]?.at
  const startMs = first === undefined ? 0 : Date.parse(first)
  return (
    <Card
      title={words.timeline}
      aside={
        first !== undefined && (
          <span class="quiet">
            {dayOf(first)} {timeOf(first)} · America/Sao_Paulo
          </span>
        )
      }
    >
      <ol class="timeline">
        {moments.map((moment) => (
          <li key={`${moment.at} ${moment.what} ${moment.to}`}>
            <span class={`dot ${toneClass(moment.status)}`}>
              <Sign status={moment.status} />
            </span>
            <span class="what">
              {moment.to === undefined ? moment.what : <Link to={moment.to}>{moment.what}</Link>}
            </span>
            <span class="offset">+{duration(Date.parse(moment.at) - startMs)}</span>
            {moment.how !== '' && <span class="how">{moment.how}</span>}
          </li>
        ))}
      </ol>
      {refused.map((refusal) => (
        <Refused key={refusal.requestId} refusal={refusal} />
      ))}
    </Card>
  )
}

/** The answer of the API, for developers; closed at first. */
export const Machine = ({ decoded }: Pick<Payment, 'decoded'>) => {
  const text = JSON.stringify(decoded, null, 2)
  return (
    <details class="card told">
      <summary>{w.machine}</summary>
      <div class="actions end">
        <Copy text={text} label={words.copy} />
      </div>
      <Code label={w.machine}>{text}</Code>
    </details>
  )
}

const signatureStatus: Readonly<Record<string, string>> = {
  VALID: 'settled',
  INVALID: 'failed',
  ABSENT: 'failed',
}

const signatureText = (signature: string): string =>
  signature === 'OWN' ? words.signedOnItsWay : `${words.signature} ${statusText(signature)}`

/** The stored message, with its explanation beside it. */
const Documents = ({ id, raw, explained, signature = '' }: Payment) => {
  if (raw === undefined) return null
  if (raw instanceof Refusal) {
    return (
      <Card title={words.raw}>
        <Refused refusal={raw} />
      </Card>
    )
  }
  return (
    <div class="pair">
      <Card
        title={words.raw}
        aside={
          <div class="actions">
            <Badge status={signatureStatus[signature] ?? 'info'} label={signatureText(signature)} />
            <Copy text={raw} label={words.copy} />
            <button type="button" onClick={() => download(raw, `${id}.xml`)}>
              {words.download}
            </button>
          </div>
        }
      >
        <Xml text={raw} />
      </Card>
      {explained !== undefined && <Decoded explained={explained} />}
    </div>
  )
}

const Decoded = ({ explained }: { readonly explained: Explained | Refusal }) =>
  explained instanceof Refusal ? (
    <Card title={words.decoded}>
      <Refused refusal={explained} />
    </Card>
  ) : (
    <Card title={words.decoded} aside={<VerdictBadge message={explained} />}>
      <ExplainedLines {...explained} />
    </Card>
  )

const download = (text: string, name: string): void => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/xml' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
