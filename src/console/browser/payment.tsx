import { type Act, may, useActs } from './act.tsx'
import { getJson, getText, Refusal, type Session, useLoaded } from './api.ts'
import { resendAct } from './attention-acts.tsx'
import { type Explained, ExplainedLines, explain, VerdictBadge } from './explained.tsx'
import { centsOf, count, dayOf, duration, reais, timeOf, tokens } from './format.ts'
import { Card, CodeCard, Copy, Shown } from './parts.tsx'
import type { Rail, Transaction, Transfer } from './rails.ts'
import { Link } from './router.tsx'
import { Badge, Sign, statusText, toneClass } from './state.tsx'
import { type Exchange, Wire, type WireMessage } from './wire.tsx'
import { words } from './words.ts'
import { Xml } from './xml.tsx'

/** Deliveries that a timeline shows: the latest. */
const toldMax = 100

/** One fact in the life of a payment. */
type Moment = {
  readonly at: string
  readonly what: string
  readonly how: string
  readonly status: string
  readonly to?: string
}

type Payment = {
  readonly title: string
  readonly status: string
  readonly id: string
  readonly moments: readonly Moment[]
  readonly decoded: unknown
  /** ISO 8583 as far as it may be shown, with what it was for. */
  readonly wire?: readonly Exchange[]
  readonly traceId?: string | null
  /** XML, where the rail's messages are. */
  readonly raw: string | undefined
  /** The same as production code reads it; undefined for what is too long to explain at once. */
  readonly explained?: Explained | undefined
  /** What came of the check of the signature. */
  readonly signature?: string
  /** What may be done about it, and the scope that this needs. */
  readonly act?: { readonly scope: string; readonly act: Act } | undefined
}

type History = { readonly status: string; readonly at: string; readonly detail: string | null }

type MessageDetail = {
  readonly type: string
  readonly direction: string
  readonly status: string
  readonly end_to_end_id: string | null
  readonly biz_msg_idr: string
  readonly signature: string
  readonly trace_id: string | null
  readonly transactions: readonly { readonly amount: string | null }[]
  readonly history: readonly History[]
}

type TimelineEntry = {
  readonly at: string
  readonly type: string
  readonly direction: string
  readonly message_id: string
  readonly message_status: string
  readonly status: string | null
  readonly reason: { readonly code: string } | null
}

const spiPayment = async (id: string): Promise<Payment> => {
  const path = `/v1/messages/${encodeURIComponent(id)}`
  const detail = await getJson<MessageDetail>(path)
  const [raw, related] = await Promise.all([
    getText(path, 'application/xml').catch(() => undefined),
    timelineOf(detail.end_to_end_id),
  ])
  const amount = detail.transactions.length === 1 ? detail.transactions[0]?.amount : undefined
  const own = detail.history.map((one) => ({
    at: one.at,
    what: `${detail.type} ${one.status.toLowerCase()}`,
    how: one.detail ?? '',
    status: one.status,
  }))
  const others = related
    .filter((one) => one.message_id !== id)
    .map((one) => ({
      at: one.at,
      what: `${one.type} ${one.direction === 'INBOUND' ? '←' : '→'}`,
      how: [one.status, one.reason?.code].filter(Boolean).join(' · '),
      status: one.message_status,
      to: `/payments/spi/${encodeURIComponent(one.message_id)}`,
    }))
  return {
    title: amount === null || amount === undefined ? detail.type : reais(amount),
    status: detail.status,
    id: detail.end_to_end_id ?? detail.biz_msg_idr,
    moments: [...own, ...others],
    decoded: detail,
    raw,
    explained: raw === undefined ? undefined : await explain(raw).catch(() => undefined),
    signature: detail.signature,
    traceId: detail.trace_id,
    act:
      detail.status === 'UNKNOWN' && detail.direction === 'OUTBOUND'
        ? { scope: 'spi:send', act: resendAct(id, detail) }
        : undefined,
  }
}

/** What the payment has besides this message; nothing for messages of no payment. */
const timelineOf = async (endToEndId: string | null): Promise<readonly TimelineEntry[]> => {
  if (endToEndId === null) return []
  const path = `/v1/pix/payments/${encodeURIComponent(endToEndId)}`
  const found = await getJson<{ timeline: readonly TimelineEntry[] }>(path).catch(() => undefined)
  return found?.timeline ?? []
}

type CardEvent = {
  readonly type: string
  readonly at: string
  readonly data: Readonly<Record<string, unknown>> | null
  readonly messages: readonly WireMessage[]
}

const cardPayment = async (id: string): Promise<Payment> => {
  const path = `/v1/transactions/${encodeURIComponent(id)}`
  const [transaction, { events, trace_id: traceId }] = await Promise.all([
    getJson<Transaction>(path),
    getJson<{ events: readonly CardEvent[]; trace_id: string | null }>(`${path}/events`),
  ])
  return {
    title: centsOf(transaction.amount),
    status: transaction.status,
    id,
    moments: events.map(({ type, at, data }) => ({
      at,
      what: type.replaceAll('_', ' '),
      how: Object.entries(data ?? {})
        .map(([name, value]) => `${name} ${String(value)}`)
        .join(' · '),
      status: type.endsWith('_sent') ? 'sent' : statusOfEvent(type),
    })),
    decoded: transaction,
    wire: events.filter(({ messages }) => messages.length > 0),
    traceId,
    raw: undefined,
  }
}

const statusOfEvent = (type: string): string => (type.endsWith('confirmed') ? 'confirmed' : type)

type TransferDetail = Transfer & {
  readonly updated_at: string
  readonly attempts: readonly {
    readonly attempt: number
    readonly status: string
    readonly tx_hash: string | null
    readonly created_at: string
  }[]
}

const drexPayment = async (id: string): Promise<Payment> => {
  const path = `/v1/drex/transfers/${encodeURIComponent(id)}`
  const transfer = await getJson<TransferDetail>(path)
  return {
    title: tokens(transfer.amount, transfer.currency),
    status: transfer.status,
    id,
    moments: [
      { at: transfer.created_at, what: 'created', how: transfer.network, status: 'sent' },
      ...transfer.attempts.map((one) => ({
        at: one.created_at,
        what: `attempt ${one.attempt}`,
        how: one.tx_hash ?? '',
        status: one.status,
      })),
      { at: transfer.updated_at, what: transfer.status, how: '', status: transfer.status },
    ],
    decoded: transfer,
    raw: undefined,
  }
}

type Delivery = {
  readonly id: string
  readonly event_type: string
  readonly status: string
  readonly attempts: number
  readonly created_at: string
}

/** Deliveries of what happened to it: none for keys that may not see them. */
const deliveriesOf = async (subject: string): Promise<readonly Moment[]> => {
  try {
    const path = `/v1/webhook-deliveries?subject=${encodeURIComponent(subject)}&limit=${toldMax}`
    const { deliveries } = await getJson<{ deliveries: readonly Delivery[] }>(path)
    return deliveries.map(({ id, event_type, status, attempts, created_at }) => ({
      at: created_at,
      what: `webhook ${event_type}`,
      how: `${statusText(status)} · ${count(attempts)} ${words.attempts}`,
      status,
      to: `/webhooks/deliveries/${encodeURIComponent(id)}`,
    }))
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return []
    throw error
  }
}

const loadPayment = async (rail: Rail, id: string): Promise<Payment> => {
  const payment = await loaders[rail](id)
  const told = await deliveriesOf(payment.id)
  return {
    ...payment,
    moments: [...payment.moments, ...told].sort((a, b) => (a.at < b.at ? -1 : 1)),
  }
}

const loaders: Readonly<Record<Rail, (id: string) => Promise<Payment>>> = {
  spi: spiPayment,
  cards: cardPayment,
  drex: drexPayment,
}

/** One payment, all that the API tells of it. */
export const PaymentPage = ({
  rail,
  id,
  session,
}: {
  readonly rail: Rail
  readonly id: string
  readonly session: Session
}) => {
  const loaded = useLoaded(`${rail} ${id}`, () => loadPayment(rail, id))
  const { ask, dialog } = useActs(loaded.again)
  return (
    <>
      <p class="back">
        <Link to={`/payments?rail=${rail}`}>← {words.back}</Link>
      </p>
      <Shown loaded={loaded}>
        {(payment) => (
          <>
            <header class="head">
              <div>
                <h1 class="amount">{payment.title}</h1> <Badge status={payment.status} />
                <p class="mono quiet">{payment.id}</p>
              </div>
              <div class="actions">
                <Doing act={payment.act} {...{ session, ask }} />
                <Trace id={payment.traceId} url={session.trace_url} />
                <Copy text={payment.id} label={words.copy} />
                <Copy text={location.href} label={words.copyLink} />
              </div>
            </header>
            <div class="columns">
              <Timeline moments={payment.moments} />
              <Told decoded={payment.decoded} />
            </div>
            <Documents {...payment} />
            <Wire exchanges={payment.wire ?? []} />
          </>
        )}
      </Shown>
      {dialog}
    </>
  )
}

/** Elsewhere: opened beside, and told nothing of where one comes from. */
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

const Doing = ({
  act,
  session,
  ask,
}: {
  readonly act: Payment['act']
  readonly session: Session
  readonly ask: (act: Act) => void
}) =>
  act === undefined || !may(session, act.scope) ? null : (
    <button class="primary" type="button" onClick={() => ask(act.act)}>
      {act.act.title}
    </button>
  )

const Timeline = ({ moments }: { readonly moments: readonly Moment[] }) => {
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
    </Card>
  )
}

/** Payment and message are shown as the API tells of them. */
const Told = ({ decoded }: Pick<Payment, 'decoded'>) => (
  <CodeCard title={words.told} text={JSON.stringify(decoded, null, 2)} />
)

const signatureStatus: Readonly<Record<string, string>> = {
  VALID: 'settled',
  INVALID: 'failed',
  ABSENT: 'failed',
}

/** The message as it went over the wire, and beside it what it says. */
const Documents = ({ id, raw, explained, signature = '' }: Payment) => {
  if (raw === undefined) return null
  return (
    <div class="pair">
      <Card
        title={words.raw}
        aside={
          <div class="actions">
            <Badge
              status={signatureStatus[signature] ?? 'info'}
              label={`${words.signature} ${signature.toLowerCase().replaceAll('_', ' ')}`}
            />
            <Copy text={raw} label={words.copy} />
            <button type="button" onClick={() => download(raw, `${id}.xml`)}>
              {words.download}
            </button>
          </div>
        }
      >
        <Xml text={raw} />
      </Card>
      {explained !== undefined && (
        <Card title={words.decoded} aside={<VerdictBadge message={explained} />}>
          <ExplainedLines {...explained} />
        </Card>
      )}
    </div>
  )
}

const download = (text: string, name: string): void => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/xml' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
