import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { createDisputeCalls } from '../disputes/calls.ts'
import { createDisputeService, type DisputeService } from '../disputes/service.ts'
import type { DisputingDeps } from '../disputing.ts'
import { type Refund, type RefundContent, type RefundWanted, refunds } from './domain.ts'
import { refundForm } from './form.ts'
import { giveBack, matchReturn, type PaymentReturn, readinessOn, returnOf } from './returns.ts'
import { refundEvent, refundView } from './view.ts'

export type RefundService = DisputeService<RefundContent, RefundWanted> & {
  /** The return that answers it, as far as we know of one. */
  readonly returnOf: (refund: Refund) => Promise<PaymentReturn | undefined>
}

/** Whatever moves money needs this right, whichever way it is asked. */
const movingScope = 'spi:send'

/** Refund requests that this institution makes as the payer's, and those that are made of it as the receiver's. */
export const createRefundService = (deps: DisputingDeps): RefundService => {
  const { sql, ispb, emit, logger, now, returns } = deps
  const service = createDisputeService<RefundContent, RefundWanted>({
    sql,
    kind: refunds,
    view: refundView,
    logger,
    now,
    calls: createDisputeCalls(refundForm, { sql, lane: deps.wire.lane(), ispb, logger, now }),
    telling: { emit, eventOf: refundEvent },
    prepare: async (tx, refund, wanted, actor) =>
      wanted.act === 'close' ? giveBack(tx, refund, wanted.analysis, actor, returns) : refund,
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
