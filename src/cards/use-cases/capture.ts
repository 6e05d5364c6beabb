import { ApiError } from '#src/platform/http/index.ts'
import type { Network } from '../networks/index.ts'
import { changed } from '../transactions/changes.ts'
import type { TraceNumbers } from '../transactions/stan.ts'
import type { CardTransaction, NewCardEvent } from '../transactions/store.ts'
import { type Answer, answerOf, refusalOf } from './answers.ts'
import {
  type Answered,
  type CardContext,
  fresh,
  notSentAnswer,
  resolveCard,
  reversalOf,
  unknownAnswer,
  unwritten,
} from './context.ts'
import { exchange, type Verdict } from './exchange.ts'
import { captureMessage } from './messages.ts'

/** A capture that is ready to be sent once `after` is committed. */
export type ReadyCapture = {
  readonly kind: 'started'
  readonly pan: Uint8Array
  readonly numbers: TraceNumbers
  readonly after: CardTransaction
  readonly events: readonly NewCardEvent[]
}

export type StartedCapture =
  | ReadyCapture
  /** The authorization stands alone. */
  | {
      readonly kind: 'failed'
      readonly after: CardTransaction
      readonly events: readonly NewCardEvent[]
    }

/** Prepares the capture that follows an approval at once; what fails here does not touch the approval. */
export const startCapture = async (
  context: CardContext,
  network: Network,
  authorized: CardTransaction,
  amountCents: bigint,
): Promise<StartedCapture> => {
  try {
    return await readyCapture(context, network, authorized, amountCents)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const captureError = error.definition.code
    return {
      kind: 'failed',
      after: { ...authorized, captureError },
      events: [{ type: 'capture_failed', data: { reason: captureError } }],
    }
  }
}

/** @throws ApiError as {@link resolveCard} */
export const readyCapture = async (
  { vault, stans, now }: CardContext,
  network: Network,
  before: CardTransaction,
  amountCents: bigint,
): Promise<ReadyCapture> => {
  const pan = await resolveCard(vault, before.cardToken)
  try {
    const numbers = await stans.next(network)
    const fields = {
      operationStan: numbers.stan,
      operationTransmission: numbers.transmission,
      operationCents: amountCents,
    }
    const after = changed(before, 'capture_started', fields, now())
    const data = { stan: numbers.stan, amount: Number(amountCents) }
    return { kind: 'started', pan, numbers, after, events: [{ type: 'capture_sent', data }] }
  } catch (error) {
    pan.fill(0)
    throw error
  }
}

/**
 * Sends a capture whose beginning is committed, and commits its end.
 *
 * @param answeredStatus 201 when it belongs to an authorization: the record is the answer then, whatever became of
 *   the capture; 200 when it was asked for by itself
 */
export const captureFrom = async (
  context: CardContext,
  network: Network,
  { pan, numbers, after: before }: ReadyCapture,
  answeredStatus: 200 | 201,
): Promise<Answered> => {
  const { logger, count } = context
  const amountCents = before.operationCents ?? before.amountCents
  let verdict: Verdict
  try {
    verdict = await exchange(network, captureMessage(pan, before, amountCents, numbers))
  } catch (err) {
    logger.error({ err, transaction_id: before.id }, 'a capture cannot be written')
    verdict = { kind: 'not_sent', why: 'message_invalid' }
  }
  count('capture', network.name, verdict.kind)
  try {
    return fresh(await settle(context, before, verdict, answeredStatus))
  } catch (cause) {
    throw unwritten(before.id, cause)
  }
}

const settle = async (
  context: CardContext,
  before: CardTransaction,
  verdict: Verdict,
  answeredStatus: 200 | 201,
): Promise<Answer> => {
  const { writer, now } = context
  const at = now()
  const lost = unknownAnswer(before.id, { kind: 'unknown', why: 'timed_out' })
  switch (verdict.kind) {
    case 'approved': {
      const capturedCents = before.operationCents
      const fields = { capturedCents, capturedAt: at, captureError: undefined }
      const after = changed(before, 'capture_approved', fields, at)
      const answer = answerOf(answeredStatus, after)
      const data = { amount: Number(capturedCents), response_code: verdict.responseCode }
      const events = [{ type: 'captured', data }]
      return (await writer.change({ before, after, events, answer })) ? answer : lost
    }
    case 'declined': {
      const { responseCode } = verdict
      const fields = { captureError: `declined_${responseCode}` }
      const after = changed(before, 'capture_refused', fields, at)
      const answer = answeredStatus === 201 ? answerOf(201, after) : refusalOf(after, responseCode)
      const events = [{ type: 'capture_declined', data: { response_code: responseCode } }]
      return (await writer.change({ before, after, events, answer })) ? answer : lost
    }
    case 'not_sent': {
      const after = changed(before, 'capture_refused', { captureError: 'not_sent' }, at)
      const ofAuthorization = answeredStatus === 201
      const answer = ofAuthorization ? answerOf(201, after) : notSentAnswer(before.id, verdict.why)
      const events = [{ type: 'capture_not_sent', data: { reason: verdict.why } }]
      const stored = ofAuthorization ? answer : 'free'
      return (await writer.change({ before, after, events, answer: stored })) ? answer : lost
    }
    case 'unknown': {
      const after = changed(before, 'capture_unknown', { captureError: verdict.why }, at)
      const answer =
        answeredStatus === 201 ? answerOf(201, after) : unknownAnswer(before.id, verdict)
      const data = { reason: verdict.why, field: verdict.field ?? null }
      const events = [{ type: 'capture_unknown', data }]
      const reversal = reversalOf(after, 'capture')
      await writer.reverse({ before, after, events, answer, reversal })
      return answer
    }
  }
}
