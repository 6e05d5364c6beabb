import { randomUUID } from 'node:crypto'
import type { DirectoryRefund } from '#codecs/dict'
import type { Emit } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { ApiError, type Caller, httpErrors } from '#src/platform/http/index.ts'
import type { Job } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { createDisputeRetries, createPoll, type PolledList, pollList } from '../disputes/poll.ts'
import {
  type Advanced,
  createDisputeService,
  type DisputeCalls,
  type DisputeService,
} from '../disputes/service.ts'
import { createShow } from '../disputes/show.ts'
import { DirectoryAwayError } from '../exchange.ts'
import { readChanges } from '../lists.ts'
import type { Refused } from '../wire.ts'
import type { RefundAnswer, RefundCalls } from './calls.ts'
import {
  type Analysis,
  type Refund,
  type RefundContent,
  type RefundWanted,
  refunds,
  seenRefund,
} from './domain.ts'
import { refundEvent } from './events.ts'
import { giveBack, matchReturn, type PaymentReturn, type Returns, readinessOn } from './returns.ts'

type NewRefund = {
  readonly transactionId: string
  readonly reason: string
  readonly amountCents: bigint
  readonly details: string | null
}

type Done = Promise<Advanced<RefundContent, RefundWanted>>

export type RefundService = Pick<
  DisputeService<RefundContent, RefundWanted>,
  'find' | 'list' | 'retry'
> & {
  /** @throws ApiError if one goes on already, or the directory refuses */
  readonly request: (asked: NewRefund, caller: Caller) => Done
  readonly cancel: (id: string, caller: Caller) => Done
  /** Has the money go back, and tells the directory when it has. @throws ApiError */
  readonly close: (id: string, analysis: Analysis, caller: Caller) => Done
  /** The return that answers it, as far as we know of one. */
  readonly returnOf: (refund: Refund) => Promise<PaymentReturn | undefined>
  /** Finds what is asked of us, and what has become of what we have asked for. */
  readonly poll: (signal?: AbortSignal) => Promise<void>
}

export type RefundDeps = {
  readonly sql: Client
  readonly ispb: string
  readonly calls: RefundCalls
  readonly returns: Returns
  readonly emit: Emit
  readonly logger: Logger
  readonly now: () => Date
}

const noFindings = { recoveryId: null, result: null, analysis: null, rejectionReason: null }
/** Whatever moves money needs this right, whichever way it is asked. */
const movingScope = 'spi:send'

/** Refund requests that this institution makes as the payer's, and those that are made of it as the receiver's. */
export const createRefundService = (deps: RefundDeps): RefundService => {
  const { sql, emit, logger, now, returns } = deps
  const telling = { emit, eventOf: refundEvent }
  const show = createShow({ kind: refunds, ...telling, logger })
  const service = createDisputeService<RefundContent, RefundWanted>({
    ...{ sql, kind: refunds, calls: callsOf(deps), show, telling, logger },
    readiness: readinessOn(sql, returns),
  })
  const lists = (['contested', 'requesting'] as const).map((role) => listOf(role, deps))
  return {
    ...{ find: service.find, list: service.list },
    request: ({ transactionId, reason, amountCents, details }, caller) =>
      service.ask(
        {
          ...{ id: randomUUID(), directoryId: null, role: 'asking', status: 'requested' },
          ...{ transactionId, reason, other: null, wanted: null, refusal: null },
          ...{ returnId: null, returnedAt: null, modifiedAt: null },
          ...{ createdBy: caller.keyId, createdAt: now() },
          content: { ...noFindings, amountCents: String(amountCents), details },
        },
        caller,
      ),
    cancel: (id, caller) => service.act(id, { act: 'cancel' }, caller),
    close: async (id, analysis, caller) => {
      if (analysis.result !== 'REJECTED' && !caller.scopes.has(movingScope)) {
        const message = `The API key lacks the scope ${movingScope}, which giving back needs.`
        throw new ApiError(httpErrors.forbidden, message)
      }
      const done = await service.act(id, { act: 'close', analysis }, caller, (tx, refund, actor) =>
        giveBack(tx, refund, analysis, actor, returns),
      )
      returns.wake()
      return done
    },
    retry: async (id) => {
      await service.retry(id)
      await matchReturn(sql, id, returns, { emit, now })
    },
    returnOf: async ({ transactionId, returnId }) =>
      returnId === null
        ? undefined
        : (await returns.returnsOf(sql, transactionId)).find(({ id }) => id === returnId),
    poll: async (signal) => {
      for (const list of lists) await pollList(list, { sql, show, logger, now }, signal)
    },
  }
}

export const refundJobs = (
  { retry, poll }: RefundService,
  [pollMs, quietMs]: readonly [pollMs: number, quietMs: number],
  { sql, logger }: RefundDeps,
): readonly Job[] => [
  createPoll('refund', poll, pollMs, { sql, logger }),
  createDisputeRetries(sql, 'refund', retry, quietMs, logger),
]

const listOf = (
  role: 'contested' | 'requesting',
  { calls, ispb }: RefundDeps,
): PolledList<RefundContent, DirectoryRefund> => ({
  name: `refunds ${role}`,
  ask: (query) => calls.list(role, query),
  seenOf: (refund) => seenRefund(refund, ispb),
})

const callsOf = ({
  calls,
  ispb,
  now,
  logger,
}: RefundDeps): DisputeCalls<RefundContent, RefundWanted> => {
  const seen = async (answer: Promise<RefundAnswer | Refused>) => {
    const said = await answer
    if (said.kind === 'refused') return said
    const shown = seenRefund(said.refund, ispb)
    if (shown !== undefined) return { kind: 'seen', seen: shown } as const
    throw new DirectoryAwayError('document', 'the answer is about others’ refund')
  }
  return {
    create: ({ transactionId, reason, content }) =>
      seen(
        calls.create({
          ...{ transactionId, reason, amountCents: BigInt(content.amountCents) },
          details: content.details ?? undefined,
        }),
      ),
    act: (refund, wanted) => {
      const id = refund.directoryId ?? ''
      if (wanted.act === 'cancel') return seen(calls.cancel(id))
      const { result, analysis, rejectionReason } = wanted.analysis
      return seen(
        calls.close(id, {
          ...{ result, analysis: analysis ?? undefined },
          rejectionReason: rejectionReason ?? undefined,
          returnId: refund.returnId ?? undefined,
          effectiveCents: effectiveCents(refund, wanted.analysis),
        }),
      )
    },
    find: (id) => seen(calls.find(id)),
    asked: async (since) => {
      const found: NonNullable<ReturnType<typeof seenRefund>>[] = []
      await readChanges((query) => calls.list('requesting', query), since, {
        ...{ nowMs: now().getTime(), logger },
        take: async (items) => {
          const shown = items.map((item) => seenRefund(item, ispb))
          found.push(...shown.flatMap((one) => (one?.role === 'asking' ? [one] : [])))
        },
      })
      return found
    },
  }
}

/** Told of refunds that belong to a recovery of funds, and only of them. */
const effectiveCents = ({ content }: Refund, { result, amountCents }: Analysis) => {
  if (content.recoveryId === null || result === 'REJECTED') return undefined
  return BigInt(result === 'TOTALLY_ACCEPTED' ? content.amountCents : (amountCents ?? '0'))
}
