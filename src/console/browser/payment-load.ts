import type { Act, ScopedAct } from './act.tsx'
import { getJson, getText, type Purpose, partOf, Refusal } from './api.ts'
import {
  approveTransferAct,
  cancelTransferActs,
  retryTransferAct,
  unknownActs,
} from './attention-acts.tsx'
import type { ChainPlace } from './chain.tsx'
import { type Explained, explain, withoutSignature } from './explained.tsx'
import { count, minorOf, reais, tokens } from './format.ts'
import { loadNetworks, type Networks } from './networks.ts'
import type { Fact } from './parts.tsx'
import { cardActs, giveBackActs, type Received } from './payment-acts.tsx'
import {
  type CardDetail,
  cardFacts,
  eventHow,
  isHeld,
  isOwnRequest,
  type MessageDetail,
  messageFacts,
  type TransferDetail,
  transferFacts,
} from './payment-facts.ts'
import { paymentWords } from './payment-words.ts'
import { placeOfPayment, type Rail, railLists } from './rails.ts'
import { eventText, statusText } from './state.tsx'
import type { Exchange, WireMessage } from './wire.tsx'
import { fill, language, words } from './words.ts'

/** How many deliveries a timeline shows: the latest. */
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
  readonly facts: readonly Fact[]
  readonly decoded: unknown
  /** ISO 8583 as far as it may be shown, with what it was for. */
  readonly wire?: readonly Exchange[]
  readonly traceId?: string | null
  /** The XML, if the rail's messages are XML. */
  readonly raw: string | Refusal | undefined
  /** The same message, explained by production code; undefined if it is too long to explain at once. */
  readonly explained?: Explained | Refusal | undefined
  /** Refusals of parts of its history. */
  readonly refused?: readonly Refusal[]
  /** The result of the check of the signature; `OWN`: the gateway signs the message as it sends it. */
  readonly signature?: string
  /** The acts that its state allows, with the scope that each needs. */
  readonly acts?: readonly ScopedAct[]
  /** The transactions signed for it, newest first. */
  readonly onChain?: readonly ChainPlace[]
}

type Load = (id: string, purpose: Purpose) => Promise<Payment>

type TimelineEntry = {
  readonly at: string
  readonly type: string
  readonly direction: string
  readonly message_id: string
  readonly message_status: string
  readonly status: string | null
  readonly reason: { readonly code: string } | null
}

const spiPayment: Load = async (id, purpose) => {
  const path = pathOfPayment('spi', id)
  const detail = await getJson<MessageDetail>(path, purpose)
  const [raw, told] = await Promise.all([
    partOf(getText(path, 'application/xml', purpose)),
    pixOf(detail.end_to_end_id, purpose),
  ])
  const pix = told instanceof Refusal ? undefined : told
  const explained = typeof raw === 'string' ? await partOf(explain(raw, {}, purpose)) : undefined
  const isOwn = detail.direction === 'OUTBOUND'
  const isUnsigned = isOwn || detail.signature === 'NOT_CHECKED'
  const amount = detail.transactions.length === 1 ? detail.transactions[0]?.amount : undefined
  const own = detail.history.map((one) => ({
    at: one.at,
    what: `${detail.type} ${statusText(one.status)}`,
    how: one.detail ?? '',
    status: one.status,
  }))
  const others = (pix?.timeline ?? [])
    .filter((one) => one.message_id !== id)
    .map((one) => ({
      at: one.at,
      what: `${one.type} ${one.direction === 'INBOUND' ? '←' : '→'}`,
      how: [one.status, one.reason?.code].filter(Boolean).join(' · '),
      status: one.message_status,
      to: placeOfPayment('spi', one.message_id),
    }))
  return {
    title: amount === null || amount === undefined ? detail.type : reais(amount),
    status: detail.status,
    id: detail.end_to_end_id ?? detail.biz_msg_idr,
    moments: [...own, ...others],
    facts: [...messageFacts(detail, language), ...returnFacts(pix)],
    decoded: detail,
    raw,
    explained:
      explained && isUnsigned && !(explained instanceof Refusal)
        ? withoutSignature(explained)
        : explained,
    refused: told instanceof Refusal ? [told] : [],
    signature: isOwn ? 'OWN' : detail.signature,
    traceId: detail.trace_id,
    acts: [
      ...(detail.status === 'UNKNOWN' && isOwn ? unknownActs(detail) : []),
      ...(pix === undefined || detail.type !== 'pacs.008' ? [] : giveBackActs(pix)),
    ],
  }
}

type Pix = Received & {
  readonly returned: string
  readonly timeline: readonly TimelineEntry[]
}

/** The payment that a message belongs to; undefined if there is none. */
const pixOf = async (
  endToEndId: string | null,
  purpose: Purpose,
): Promise<Pix | Refusal | undefined> => {
  if (endToEndId === null) return undefined
  const path = `/v1/pix/payments/${encodeURIComponent(endToEndId)}`
  return partOf(getJson<Pix>(path, purpose))
}

const isSome = (amount: string | undefined): amount is string => !/^[0.]*$/.test(amount ?? '')

const returnFacts = ({ returned, refundable }: Partial<Pix> = {}): readonly Fact[] => [
  ...(isSome(returned) ? [{ name: paymentWords.returned, value: reais(returned) }] : []),
  ...(isSome(refundable) ? [{ name: paymentWords.left, value: reais(refundable) }] : []),
]

type CardEvent = {
  readonly type: string
  readonly at: string
  readonly data: Readonly<Record<string, unknown>> | null
  readonly messages: readonly WireMessage[]
}

const cardPayment: Load = async (id, purpose) => {
  const path = pathOfPayment('cards', id)
  const [transaction, { events, trace_id: traceId }] = await Promise.all([
    getJson<CardDetail>(path, purpose),
    getJson<{ events: readonly CardEvent[]; trace_id: string | null }>(`${path}/events`, purpose),
  ])
  return {
    title: minorOf(transaction.amount, transaction.currency),
    status: transaction.status,
    id,
    moments: events.map(({ type, at, data }) => ({
      at,
      what: eventText(type),
      how: eventHow(data, eventText, transaction.currency),
      status: type.endsWith('_sent') ? 'sent' : statusOfEvent(type),
    })),
    facts: cardFacts(transaction),
    decoded: transaction,
    acts: cardActs(transaction),
    wire: events.filter(({ messages }) => messages.length > 0),
    traceId,
    raw: undefined,
  }
}

const statusOfEvent = (type: string): string => (type.endsWith('confirmed') ? 'confirmed' : type)

const drexPayment: Load = async (id, purpose) => {
  // A person who decides must compare the whole address: a forged one easily has the same ends.
  const path = `${pathOfPayment('drex', id)}?full_addresses=true`
  const transfer = await getJson<TransferDetail>(path, purpose)
  const isInFlight = transfer.status === 'signed' || transfer.status === 'broadcast'
  const told = isInFlight ? await partOf(loadNetworks(purpose)) : undefined
  const networks = told instanceof Refusal ? undefined : told
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
    facts: transferFacts(transfer),
    decoded: transfer,
    raw: undefined,
    acts: transferActs(transfer, networks).map((act) => ({ scope: 'drex:transfer', act })),
    onChain: signedFor(transfer),
  }
}

const signedFor = ({ network, steps }: TransferDetail): readonly ChainPlace[] =>
  steps
    .flatMap(({ kind, tx_hash: hash }) => (hash === null ? [] : [{ network, hash, of: kind }]))
    .toReversed()

/** Errors that do not prove that nothing moved. */
const unclearEnds = ['TRANSFER_MISMATCH', 'NETWORK_RESET']
const openStatuses = ['pending', 'signed', 'broadcast', 'mined']

/** Whether the ends of all its steps prove that nothing moved. The API checks the chain too. */
const isRetryable = ({ network, steps }: TransferDetail): boolean => {
  // Transactions signed before a chain began anew keep the old name of the network, which has an `@`.
  const isOfOld = network.includes('@')
  return !steps.some(
    ({ status, error, tx_hash: hash }) =>
      openStatuses.includes(status) ||
      unclearEnds.includes(error?.code ?? '') ||
      (isOfOld && hash !== null),
  )
}

/** The acts that the state of a transfer allows. */
const transferActs = (transfer: TransferDetail, networks: Networks | undefined): readonly Act[] => {
  const { status } = transfer
  if (status === 'failed' || status === 'reverted') {
    return isRetryable(transfer) ? [retryTransferAct(transfer)] : []
  }
  const mayApprove = isHeld(transfer) && !isOwnRequest(transfer)
  const approve = mayApprove ? [approveTransferAct(transfer)] : []
  return [...approve, ...cancelTransferActs(transfer, networks)]
}

type Delivery = {
  readonly id: string
  readonly event_type: string
  readonly status: string
  readonly attempts: number
  readonly created_at: string
}

type Deliveries = {
  /** Newest first. */
  readonly deliveries: readonly Delivery[]
  /** A text if there are older ones. */
  readonly next_cursor?: string | null
}

/** The webhook deliveries of a payment, and a note if there are older ones; none if the key may not see them. */
export const deliveriesOf = async (
  subject: string,
  purpose: Purpose,
): Promise<readonly Moment[]> => {
  try {
    const path = `/v1/webhook-deliveries?subject=${encodeURIComponent(subject)}&limit=${toldMax}`
    const { deliveries, next_cursor } = await getJson<Deliveries>(path, purpose)
    const told = deliveries.map(({ id, event_type, status, attempts, created_at }) => ({
      at: created_at,
      what: `webhook ${event_type}`,
      how: `${statusText(status)} · ${count(attempts)} ${attempts === 1 ? words.attempt : words.attempts}`,
      status,
      to: `/webhooks/deliveries/${encodeURIComponent(id)}`,
    }))
    const oldest = told.at(-1)
    if (oldest === undefined || typeof next_cursor !== 'string') return told
    const how = fill(paymentWords.latest, { count: count(told.length) })
    return [...told, { at: oldest.at, what: 'webhook …', how, status: 'info' }]
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return []
    throw error
  }
}

/** The path of a payment in the API. */
export const pathOfPayment = (rail: Rail, id: string) =>
  `${railLists[rail].list}/${encodeURIComponent(id)}` as const

export const loadPayment = async (rail: Rail, id: string, purpose: Purpose): Promise<Payment> => {
  const payment = await loaders[rail](id, purpose)
  const told = (await partOf(deliveriesOf(payment.id, purpose))) ?? []
  const isRefused = told instanceof Refusal
  return {
    ...payment,
    moments: [...payment.moments, ...(isRefused ? [] : told)].sort((a, b) =>
      a.at < b.at ? -1 : 1,
    ),
    refused: [...(payment.refused ?? []), ...(isRefused ? [told] : [])],
  }
}

/** Whether a part was refused that may be answered later. */
export const lacksPart = ({ raw, explained, refused = [] }: Payment): boolean => {
  const verdict = explained instanceof Refusal ? undefined : explained?.verdict
  return [raw, explained, verdict, ...refused].some((part) => part instanceof Refusal)
}

const loaders: Readonly<Record<Rail, Load>> = {
  spi: spiPayment,
  cards: cardPayment,
  drex: drexPayment,
}
