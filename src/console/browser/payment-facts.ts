import { keyShown } from './api.ts'
import { count, minorOf } from './format.ts'
import { type Fact, knownFacts } from './parts.tsx'
import { paymentWords as w } from './payment-words.ts'
import type { Message, Transaction, Transfer } from './rails.ts'
import { words } from './words.ts'

type Reason = { readonly code: string; readonly meaning?: Readonly<Record<string, string>> | null }

/** One payment within a message. */
type Part = {
  readonly amount: string | null
  readonly debtor_ispb: string | null
  readonly creditor_ispb: string | null
  readonly status: string | null
  readonly reason: Reason | null
}

export type MessageDetail = Message & {
  readonly channel: string
  readonly definition: string | null
  readonly error_code: string | null
  readonly signature: string
  readonly trace_id: string | null
  readonly warnings: readonly unknown[]
  readonly transactions: readonly Part[]
  readonly history: readonly {
    readonly status: string
    readonly at: string
    readonly detail: string | null
  }[]
}

export type CardDetail = Transaction & {
  readonly operation?: string
  readonly refunded_amount?: number
  readonly reversed_amount?: number
  readonly terminal_id: string | null
  readonly auth_code: string | null
  readonly response_code: string | null
  readonly response_message: string | null
  readonly installments: number
}

export type TransferDetail = Transfer & {
  readonly reference: string | null
  readonly tx_hash: string | null
  readonly block_number: number | null
  readonly error: unknown
  readonly updated_at: string
  readonly approval: 'required' | 'approved' | 'lapsed' | null
  /** The key that asked for the transfer; absent if the gateway does not tell it. */
  readonly requested_by?: string
  readonly steps: readonly {
    readonly kind: string
    readonly status: string
    readonly tx_hash: string | null
    readonly error: { readonly code: string } | null
  }[]
  readonly attempts: readonly {
    readonly attempt: number
    readonly status: string
    readonly tx_hash: string | null
    readonly created_at: string
  }[]
}

/** The code and its meaning in the reader's language. */
const reasonText = (reason: Reason | null | undefined, language: string): string => {
  if (reason === null || reason === undefined) return ''
  const meaning = reason.meaning?.[language]
  return meaning === undefined ? reason.code : `${reason.code} · ${meaning}`
}

export const messageFacts = (detail: MessageDetail, language: string): readonly Fact[] => {
  const [only, ...more] = detail.transactions
  const one = more.length === 0 ? only : undefined
  return knownFacts([
    [w.message, `${detail.type} · ${detail.direction === 'INBOUND' ? w.inbound : w.outbound}`],
    [w.from, one?.debtor_ispb ?? detail.source_ispb],
    [w.to, one?.creditor_ispb ?? detail.destination_ispb],
    [words.outcome, one?.status],
    [w.reason, reasonText(one?.reason, language)],
    [w.payments, more.length === 0 ? undefined : count(detail.transactions.length)],
    ['BizMsgIdr', detail.biz_msg_idr],
    [w.channel, detail.channel === 'SECONDARY' ? w.secondary : w.primary],
    [w.error, detail.error_code],
    [w.warnings, detail.warnings.length === 0 ? undefined : count(detail.warnings.length)],
  ])
}

export const cardFacts = (detail: CardDetail): readonly Fact[] =>
  knownFacts([
    [w.merchant, detail.merchant_id],
    [w.terminal, detail.terminal_id],
    [w.card, detail.brand],
    [w.captured, centsIf(detail.captured_amount, detail)],
    [w.refunded, centsIf(detail.refunded_amount, detail)],
    [w.installments, detail.installments > 1 ? count(detail.installments) : undefined],
    [w.authorization, detail.auth_code],
    [w.answer, [detail.response_code, detail.response_message].filter(Boolean).join(' · ')],
    ['RRN', detail.rrn],
    ['STAN', detail.stan],
  ])

const centsIf = (cents: number | null | undefined, { currency }: CardDetail): string | undefined =>
  cents === undefined || cents === null || cents === 0 ? undefined : minorOf(cents, currency)

/** Whether the transfer waits for the approval of another key. */
export const isHeld = ({
  status,
  approval,
}: Pick<TransferDetail, 'status' | 'approval'>): boolean =>
  status === 'pending' && approval === 'required'

/** Whether the key of this session asked for the transfer: then another key has to approve it. */
export const isOwnRequest = ({ requested_by: by }: Pick<TransferDetail, 'requested_by'>): boolean =>
  by !== undefined && by === keyShown()

export const transferFacts = (detail: TransferDetail): readonly Fact[] =>
  knownFacts([
    [w.from, detail.from_wallet],
    [w.to, detail.to_wallet],
    [w.network, detail.network],
    [w.approval, isHeld(detail) ? waitingText(detail) : undefined],
    [words.reference, detail.reference],
    [w.block, detail.block_number],
    [words.transactionHash, detail.tx_hash],
    [w.error, detail.error === null ? undefined : textOf(detail.error)],
  ])

const waitingText = (detail: TransferDetail): string =>
  isOwnRequest(detail) ? w.askedByThisKey : w.waitsForApproval

const textOf = (error: unknown): string => {
  if (typeof error === 'string') return error
  const { code, message } = error as { readonly code?: string; readonly message?: string }
  return message === undefined ? JSON.stringify(error) : [code, message].filter(Boolean).join(' · ')
}

const eventFields: Readonly<Record<string, string>> = {
  amount: w.amount,
  rrn: 'RRN',
  stan: 'STAN',
  auth_code: w.authCode,
  response_code: w.code,
  reverses: w.takesBack,
  transmission: w.sentAt,
  reason: w.reason,
}

/** The data of an event of a card payment, in the reader's language. */
export const eventHow = (
  data: Readonly<Record<string, unknown>> | null,
  valueText: (value: string) => string,
  currency: string,
): string =>
  Object.entries(data ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const label = eventFields[name] ?? name.replaceAll('_', ' ')
      if (name === 'amount' && typeof value === 'number') {
        return `${label} ${minorOf(value, currency)}`
      }
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
      return `${label} ${name === 'reverses' ? valueText(text) : text}`
    })
    .join(' · ')
