import {
  type DirectoryRefund,
  readRefund,
  refundAnalysisElements,
  refundElement,
} from '#codecs/dict'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import type { DisputeForm } from '../disputes/calls.ts'
import { createDisputeService, type DisputeService } from '../disputes/service.ts'
import type { DisputingDeps } from '../disputing.ts'
import {
  type Analysis,
  type Refund,
  type RefundContent,
  type RefundWanted,
  refunds,
  seenRefund,
} from './domain.ts'
import {
  demandReturn,
  giveBack,
  matchReturn,
  type PaymentReturn,
  readinessOn,
  returnOf,
} from './returns.ts'
import { refundEvent, refundView } from './view.ts'

export type RefundService = DisputeService<RefundContent, RefundWanted> & {
  /** The return that answers it, as far as we know of one. */
  readonly returnOf: (refund: Refund) => Promise<PaymentReturn | undefined>
}

/** Every act that moves money needs this right. */
const movingScope = 'spi:send'

/** Refund requests that this institution makes as the payer's, and those that are made of it as the receiver's. */
export const createRefundService = (deps: DisputingDeps): RefundService => {
  const { sql, emit, now, returns } = deps
  const service = createDisputeService(refundForm, deps, {
    prepare: async (tx, refund, wanted, actor) =>
      wanted.act === 'close' ? giveBack(tx, refund, wanted.analysis, actor, returns) : refund,
    demandSame: async (tx, refund, wanted) => {
      if (wanted.act === 'close') await demandReturn(tx, refund, wanted.analysis, returns)
    },
    readiness: readinessOn(sql, returns),
  })
  return {
    ...service,
    /** What is accepted goes back, and the directory is told when it has. */
    act: async (id, wanted, caller) => {
      const isMoving = wanted.act === 'close' && wanted.analysis.result !== 'REJECTED'
      if (isMoving && !caller.scopes.has(movingScope)) {
        const message = `The API key lacks the scope ${movingScope}, which giving back needs.`
        throw new ApiError(httpErrors.forbidden, message)
      }
      return service.act(id, wanted, caller)
    },
    retry: async (id, round) => {
      await service.retry(id, round)
      await matchReturn(sql, id, returns, { emit, now })
    },
    returnOf: async (refund) => returnOf(sql, refund, returns),
  }
}

/** Source: DICT API 2.12.1, /refunds/. */
const refundForm: DisputeForm<DirectoryRefund, RefundContent, RefundWanted> = {
  kind: refunds,
  view: refundView,
  eventOf: refundEvent,
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
