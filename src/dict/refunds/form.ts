import {
  type DirectoryRefund,
  readRefund,
  refundAnalysisElements,
  refundElement,
} from '#codecs/dict'
import type { DisputeForm } from '../disputes/calls.ts'
import {
  type Analysis,
  type Refund,
  type RefundContent,
  type RefundWanted,
  seenRefund,
} from './domain.ts'

/** Source: DICT API 2.12.1, /refunds/. */
export const refundForm: DisputeForm<DirectoryRefund, RefundContent, RefundWanted> = {
  kind: 'refund',
  base: '/refunds/',
  noun: 'Refund',
  read: readRefund,
  seenIn: seenRefund,
  newElement: ({ transactionId, reason, content }) =>
    refundElement({
      transactionId,
      reason,
      amountCents: BigInt(content.amountCents),
      details: content.details ?? undefined,
    }),
  actElements: (refund, wanted) => {
    if (wanted.act !== 'close') return []
    const { result, analysis, rejectionReason } = wanted.analysis
    return refundAnalysisElements({
      result,
      analysis: analysis ?? undefined,
      rejectionReason: rejectionReason ?? undefined,
      returnId: refund.returnId ?? undefined,
      effectiveCents: effectiveCents(refund, wanted.analysis),
    })
  },
  lists: {
    'refunds contested': { ParticipantRole: 'CONTESTED' },
    'refunds requesting': { ParticipantRole: 'REQUESTING' },
  },
  askedIn: 'refunds requesting',
}

/** Told of refunds that belong to a recovery of funds, and only of them. */
const effectiveCents = (
  { content }: Refund,
  { result, amountCents }: Analysis,
): bigint | undefined => {
  if (content.recoveryId === null || result === 'REJECTED') return undefined
  return BigInt(result === 'TOTALLY_ACCEPTED' ? content.amountCents : (amountCents ?? '0'))
}
