import type { Act } from './act.tsx'
import { getJson, getText, Refusal } from './api.ts'
import {
  approveTransferAct,
  cancelTransferAct,
  resendAct,
  retryTransferAct,
} from './attention-acts.tsx'
import type { ChainPlace } from './chain.tsx'
import { type Explained, explain, withoutSignature } from './explained.tsx'
import { centsOf, count, reais, tokens } from './format.ts'
import type { Rail, Transaction, Transfer } from './rails.ts'
import { eventText, statusText } from './state.tsx'
import type { Exchange, WireMessage } from './wire.tsx'
import { words } from './words.ts'

/** Deliveries that a timeline shows: the latest. */
const toldMax = 100

/** One fact in the life of a payment. */
export type Moment = {
  readonly at: string
  readonly what: string
  readonly how: string
  readonly status: string
  readonly to?: string
}

export type Payment = {
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
  /** What came of the check of the signature; `OWN`: the gateway signs it when it sends it. */
  readonly signature?: string
  /** What may be done about it, each with the scope that it needs. */
  readonly acts?: readonly { readonly scope: string; readonly act: Act }[]
  /** What was signed for it, newest first. */
  readonly onChain?: readonly ChainPlace[]
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
  const explained = raw === undefined ? undefined : await explain(raw).catch(() => undefined)
  const isOwn = detail.direction === 'OUTBOUND'
  const amount = detail.transactions.length === 1 ? detail.transactions[0]?.amount : undefined
  const own = detail.history.map((one) => ({
    at: one.at,
    what: `${detail.type} ${statusText(one.status)}`,
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
    explained: explained && isOwn ? withoutSignature(explained) : explained,
    signature: isOwn ? 'OWN' : detail.signature,
    traceId: detail.trace_id,
    acts:
      detail.status === 'UNKNOWN' && isOwn
        ? [{ scope: 'spi:send', act: resendAct(id, detail) }]
        : [],
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
      what: eventText(type),
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
  readonly approval: 'required' | 'approved' | null
  readonly steps: readonly { readonly kind: string; readonly tx_hash: string | null }[]
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
      {
        at: transfer.created_at,
        what: statusText('created'),
        how: transfer.network,
        status: 'sent',
      },
      ...transfer.attempts.map((one) => ({
        at: one.created_at,
        what: `${words.attempt} ${one.attempt}`,
        how: one.tx_hash ?? '',
        status: one.status,
      })),
      {
        at: transfer.updated_at,
        what: statusText(transfer.status),
        how: '',
        status: transfer.status,
      },
    ],
    decoded: transfer,
    raw: undefined,
    acts: transferActs(transfer).map((act) => ({ scope: 'drex:transfer', act })),
    onChain: signedFor(transfer),
  }
}

const signedFor = ({ network, steps }: TransferDetail): readonly ChainPlace[] =>
  steps
    .flatMap(({ kind, tx_hash: hash }) => (hash === null ? [] : [{ network, hash, of: kind }]))
    .toReversed()

/** What the state of a transfer lets a person do about it. */
const transferActs = (transfer: TransferDetail): readonly Act[] => {
  const { status, approval } = transfer
  if (status === 'failed' || status === 'reverted') return [retryTransferAct(transfer)]
  const isOpen = status === 'pending' || status === 'signed' || status === 'broadcast'
  if (!isOpen) return []
  const approve = approval === 'required' ? [approveTransferAct(transfer)] : []
  return [...approve, cancelTransferAct(transfer)]
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

export const loadPayment = async (rail: Rail, id: string): Promise<Payment> => {
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
