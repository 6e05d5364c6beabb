import type { DirectoryRefund, RefundResult } from '#codecs/dict'
import type { Dispute, Kind, Seen, Wanted } from '../disputes/domain.ts'

/** What a refund request holds beside what all disputes have. */
export type RefundContent = {
  /** Cents, as JSON has no such integers. */
  readonly amountCents: string
  readonly details: string | null
  /** The recovery of funds that it belongs to. */
  readonly recoveryId: string | null
  readonly result: RefundResult | null
  readonly analysis: string | null
  readonly rejectionReason: string | null
}

/** Nobody has judged the request. */
export const noFindings = {
  recoveryId: null,
  result: null,
  analysis: null,
  rejectionReason: null,
} as const

/** What we found of one that is asked of us. */
export type Analysis = {
  readonly result: RefundResult
  /** Cents that are given back; null: none. */
  readonly amountCents: string | null
  readonly analysis: string | null
  readonly rejectionReason: string | null
}

export type RefundWanted = Wanted &
  ({ readonly act: 'cancel' } | { readonly act: 'close'; readonly analysis: Analysis })

export type Refund = Dispute<RefundContent, RefundWanted>

/** Source: DICT API, RefundStatus. */
export const refunds: Kind<RefundContent> = {
  kind: 'refund',
  machine: { requested: ['open', 'refused'], open: ['closed', 'cancelled'] },
  acts: {
    close: { by: 'asked', from: ['open'], to: 'closed' },
    cancel: { by: 'asking', from: ['open'], to: 'cancelled' },
  },
  refusalOfLost: 'RefundOperationInvalid',
  outcomeOf: ({ result, rejectionReason }) => ({ result, rejectionReason }),
  outcomeWanted: (wanted: RefundWanted) =>
    wanted.act === 'close'
      ? { result: wanted.analysis.result, rejectionReason: wanted.analysis.rejectionReason }
      : undefined,
  isSameMatter: (one, other) => one.amountCents === other.amountCents,
}

/** Codes of pacs.004 by the reason of the request. Of others the money goes back by a payment, which is not ours to make. */
export const returnReasons: Readonly<Record<string, string>> = {
  FRAUD: 'FR01',
  OPERATIONAL_FLAW: 'BE08',
}

const statuses = { OPEN: 'open', CLOSED: 'closed', CANCELLED: 'cancelled' } as const

/** Undefined: this institution is no party of it. */
export const seenRefund = (
  refund: DirectoryRefund,
  ispb: string,
): Seen<RefundContent> | undefined => {
  const { requesting, contested } = refund
  if ((requesting === ispb) === (contested === ispb)) return undefined
  return {
    directoryId: refund.id,
    ...(requesting === ispb
      ? ({ role: 'asking', other: contested } as const)
      : ({ role: 'asked', other: requesting } as const)),
    status: statuses[refund.status],
    transactionId: refund.transactionId,
    reason: refund.reason,
    returnId: refund.returnId ?? null,
    createdAt: new Date(refund.createdMs),
    modifiedAt: new Date(refund.modifiedMs),
    content: {
      amountCents: String(refund.amountCents),
      details: refund.details ?? null,
      recoveryId: refund.recoveryId ?? null,
      result: refund.result ?? null,
      analysis: refund.analysis ?? null,
      rejectionReason: refund.rejectionReason ?? null,
    },
  }
}
