import type { PaymentList } from '../followed.ts'
import { amountsAsked, centsAsked, tokensAsked } from './amounts.ts'
import { getJson } from './api.ts'
import { asking } from './asking.ts'
import { dayEnd, dayStart } from './days.tsx'
import { minorOf, reais, tokens } from './format.ts'
import type { Answer } from './page-from.ts'
import { type Column, column, linkColumn, momentColumn, type Page, statusColumn } from './table.tsx'
import { words } from './words.ts'

export const rails = ['spi', 'cards', 'drex'] as const
export type Rail = (typeof rails)[number]

/** The path of a payment's page. */
export const placeOfPayment = (rail: Rail, id: string): string =>
  `/payments/${rail}/${encodeURIComponent(id)}`

/** A payment of any rail, as a list shows it. */
export type Row = {
  /** The path of its page. */
  readonly to: string
  readonly id: string
  readonly kind: string
  readonly party: string
  readonly status: string
  readonly amount: string
  readonly at: string
}

export type Filter = {
  readonly find: string
  /** The parameter to search by, one of the rail's `finds`; absent: the first. */
  readonly as?: string | undefined
  readonly status: string
  /** The first and the last day, such as `2026-01-31`, in the time of Brasília. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly cursor?: string | undefined
}

export type Message = {
  readonly id: string
  readonly type: string
  readonly direction: string
  readonly status: string
  readonly source_ispb: string
  readonly destination_ispb: string
  readonly end_to_end_id: string | null
  readonly biz_msg_idr: string
  readonly amount: string | null
  readonly created_at: string
}

export type Transaction = {
  readonly id: string
  readonly status: string
  readonly amount: number
  readonly captured_amount: number | null
  readonly currency: string
  readonly brand: string | null
  readonly merchant_id: string
  readonly rrn: string | null
  readonly stan: string | null
  readonly created_at: string
  /** Why it did not succeed; `restored`: it was under way in a restored copy. */
  readonly reason?: string
  /** The outcomes that a person may choose if the transaction waits for one. */
  readonly possible_outcomes?: readonly string[]
}

export type Transfer = {
  readonly transfer_id: string
  readonly status: string
  readonly from_wallet: string
  readonly to_wallet: string
  readonly amount: string
  readonly currency: string
  readonly network: string
  readonly created_at: string
}

type Find = {
  readonly parameter: string
  readonly label: string
  /** The API's parameters for the typed text; absent: `parameter` takes the text as it is. */
  readonly asked?: (text: string) => Readonly<Record<string, string>>
}

/** How we ask for the list of a rail and show its rows. */
type RailList = {
  readonly label: string
  /** The path of the list in the API. */
  readonly list: PaymentList
  readonly scope: string
  /** The parameters to search by, with their names for people. */
  readonly finds: readonly Find[]
  readonly statuses: readonly string[]
  readonly page: (list: string, purpose: 'user' | 'background') => Promise<Page<Row>>
}

const messageRow = (one: Message): Row => ({
  to: placeOfPayment('spi', one.id),
  id: one.end_to_end_id ?? one.biz_msg_idr,
  kind: `${one.type} ${one.direction === 'INBOUND' ? '←' : '→'}`,
  party: one.direction === 'INBOUND' ? one.source_ispb : one.destination_ispb,
  status: one.status,
  at: one.created_at,
  amount: one.amount === null ? '' : reais(one.amount),
})

const transactionRow = (one: Transaction): Row => ({
  to: placeOfPayment('cards', one.id),
  id: one.rrn ?? one.id,
  kind: one.brand ?? '',
  party: one.merchant_id,
  status: one.status,
  amount: minorOf(one.amount, one.currency),
  at: one.created_at,
})

const transferRow = (one: Transfer): Row => ({
  to: placeOfPayment('drex', one.transfer_id),
  id: one.transfer_id,
  kind: one.network,
  party: one.to_wallet,
  status: one.status,
  amount: tokens(one.amount, one.currency),
  at: one.created_at,
})

const pageOf =
  <T>(member: string, rowOf: (one: T) => Row): RailList['page'] =>
  async (list, purpose) => {
    const answer = await getJson<Answer<T>>(list, purpose)
    return { rows: (answer[member] ?? []).map(rowOf), next: answer.next_cursor }
  }

export const railLists: Readonly<Record<Rail, RailList>> = {
  spi: {
    label: words.spi,
    list: '/v1/messages',
    scope: 'messages:read',
    finds: [
      { parameter: 'end_to_end_id', label: 'EndToEndId' },
      { parameter: 'biz_msg_idr', label: 'BizMsgIdr' },
      { parameter: 'amount', label: words.amounts, asked: amountsAsked },
      { parameter: 'type', label: words.messageType },
      { parameter: 'source_ispb', label: words.sourceIspb },
      { parameter: 'destination_ispb', label: words.destinationIspb },
    ],
    statuses: [
      ...['QUEUED', 'SENT', 'ACCEPTED', 'PARTIALLY_ACCEPTED', 'REJECTED'],
      ...['FAILED', 'UNKNOWN', 'RECEIVED', 'PROCESSED'],
    ],
    page: pageOf('messages', messageRow),
  },
  cards: {
    label: words.cards,
    list: '/v1/transactions',
    scope: 'cards:read',
    finds: [
      { parameter: 'rrn', label: 'RRN' },
      { parameter: 'stan', label: words.stan },
      { parameter: 'reference', label: words.reference },
      { parameter: 'merchant_id', label: words.merchant },
      { parameter: 'amount', label: words.amounts, asked: centsAsked },
    ],
    statuses: ['pending', 'authorized', 'declined', 'captured', 'voided', 'verified'],
    page: pageOf('transactions', transactionRow),
  },
  drex: {
    label: words.drex,
    list: '/v1/drex/transfers',
    scope: 'drex:read',
    finds: [
      { parameter: 'reference', label: words.reference },
      { parameter: 'wallet', label: words.wallet },
      { parameter: 'tx_hash', label: words.transactionHash },
      { parameter: 'amount', label: words.amounts, asked: tokensAsked },
    ],
    statuses: [
      ...['pending', 'signed', 'broadcast', 'mined'],
      ...['confirmed', 'reverted', 'failed', 'cancelled'],
    ],
    page: pageOf('transfers', transferRow),
  },
}

/** The path of a list in the API, with its query. */
export const listOf = (
  rail: Rail,
  { find, as, status, from, to, cursor }: Filter,
  limit: number,
) => {
  const { finds, list } = railLists[rail]
  const one = finds.find(({ parameter }) => parameter === as) ?? finds[0]
  return asking(list, {
    limit: String(limit),
    ...(find !== '' && one !== undefined && (one.asked?.(find) ?? { [one.parameter]: find })),
    status,
    from: from && dayStart(from),
    to: to && dayEnd(to),
    cursor,
  })
}

export const pageOfRail = (
  rail: Rail,
  filter: Filter,
  limit: number,
  purpose: 'user' | 'background' = 'user',
): Promise<Page<Row>> => railLists[rail].page(listOf(rail, filter, limit), purpose)

export const paymentColumns: readonly Column<Row>[] = [
  linkColumn(
    ({ to }) => to,
    ({ id }) => id,
  ),
  column(words.kind, ({ kind }) => kind),
  column(words.party, ({ party }) => party, 'mono extra'),
  statusColumn,
  column(words.amount, ({ amount }) => amount, 'number'),
  momentColumn(({ at }) => at),
]
