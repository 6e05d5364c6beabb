import { ApiError, type Caller } from '#src/platform/http/index.ts'
import { currentTraceparent } from '#src/platform/observe/index.ts'
import { cardErrors } from '../errors.ts'
import type { Network } from '../networks/index.ts'
import { changed } from '../transactions/changes.ts'
import type { Currency } from '../transactions/domain.ts'
import { newTransactionId } from '../transactions/ids.ts'
import type { CardTransaction } from '../transactions/store.ts'
import { type Answer, answerOf } from './answers.ts'
import { captureFrom, type StartedCapture, startCapture } from './capture.ts'
import {
  type Answered,
  type CardContext,
  fresh,
  notSentAnswer,
  replayOf,
  resolveCard,
  reversalOf,
  unknownAnswer,
  unwritten,
} from './context.ts'
import { exchange, type Verdict } from './exchange.ts'
import { authorizationMessage } from './messages.ts'

export type AuthorizationRequest = {
  readonly cardToken: string
  readonly amountCents: bigint
  readonly currency: Currency
  readonly merchantId: string
  readonly terminalId: string | undefined
  readonly installments: number
  /** Capture the whole amount right after the approval. */
  readonly capture: boolean
}

/**
 * Authorizes: the row is committed before the first byte goes out, its outcome before the answer. What the network
 * may have done without telling is reversed, never sent again.
 */
export const authorize = async (
  context: CardContext,
  request: AuthorizationRequest,
  caller: Caller,
): Promise<Answered> => {
  let prepared: Prepared
  try {
    prepared = await prepare(context, request, caller)
  } catch (error) {
    // A repetition gets its first answer, whatever has failed since.
    const replay = await replayOf(context.sql, caller.idempotencyKey)
    if (replay !== undefined) return replay
    throw error
  }
  const { pan, network, transaction } = prepared
  let isOurs: boolean
  try {
    const { idempotencyKey: claim, requestId } = caller
    isOurs = await context.writer.insert({ transaction, claim, requestId })
  } catch (error) {
    pan.fill(0)
    throw error
  }
  if (!isOurs) {
    pan.fill(0)
    const replay = await replayOf(context.sql, caller.idempotencyKey)
    if (replay === undefined) throw new Error('a key that was taken is free')
    return replay
  }
  const verdict = await send(context, network, transaction, pan)
  context.count('authorization', network.name, verdict.kind)
  return settle(context, network, transaction, verdict, request.capture)
}

type Prepared = {
  readonly pan: Uint8Array
  readonly network: Network
  readonly transaction: CardTransaction
}

const prepare = async (
  { networks, vault, stans, now }: CardContext,
  request: AuthorizationRequest,
  { keyId, idempotencyKey }: Caller,
): Promise<Prepared> => {
  const pan = await resolveCard(vault, request.cardToken)
  try {
    const network = networks.networkFor(pan)
    if (network === undefined) {
      throw new ApiError(
        cardErrors.unsupported_card_range,
        'No configured network takes this card.',
        { details: { field: 'card_token', value: null } },
      )
    }
    const numbers = await stans.next(network)
    const at = now()
    const { capture: _, ...fields } = request
    const transaction: CardTransaction = {
      ...nothingYet,
      ...fields,
      ...numbers,
      id: newTransactionId(),
      network: network.name,
      brand: network.brand,
      claimOwner: idempotencyKey?.owner,
      claimKey: idempotencyKey?.key,
      traceparent: currentTraceparent(),
      createdBy: keyId,
      createdAt: at,
      updatedAt: at,
    }
    return { pan, network, transaction }
  } catch (error) {
    pan.fill(0)
    throw error
  }
}

const nothingYet = {
  status: 'pending',
  operation: undefined,
  operationStan: undefined,
  operationTransmission: undefined,
  operationCents: undefined,
  capturedCents: undefined,
  authCode: undefined,
  responseCode: undefined,
  captureError: undefined,
  voidError: undefined,
  reason: undefined,
  needsAttention: false,
  capturedAt: undefined,
  voidedAt: undefined,
} as const

const send = async (
  { logger }: CardContext,
  network: Network,
  transaction: CardTransaction,
  pan: Uint8Array,
): Promise<Verdict> => {
  try {
    return await exchange(network, authorizationMessage(pan, transaction))
  } catch (err) {
    logger.error({ err, transaction_id: transaction.id }, 'an authorization cannot be written')
    return { kind: 'not_sent', why: 'message_invalid' }
  }
}

const settle = async (
  context: CardContext,
  network: Network,
  transaction: CardTransaction,
  verdict: Verdict,
  captures: boolean,
): Promise<Answered> => {
  try {
    switch (verdict.kind) {
      case 'approved':
        return await approved(context, network, transaction, verdict, captures)
      case 'declined':
        return await declined(context, transaction, verdict)
      case 'not_sent':
        return await notSent(context, transaction, verdict)
      case 'unknown':
        return await unknown(context, transaction, verdict)
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw unwritten(transaction.id, cause)
  }
}

/** Somebody else has begun to reverse it: this process was gone for longer than a network may take. */
const sweptAnswer = (transaction: CardTransaction): Answer =>
  unknownAnswer(transaction.id, { kind: 'unknown', why: 'timed_out' })

const approved = async (
  context: CardContext,
  network: Network,
  before: CardTransaction,
  { authCode, responseCode }: Extract<Verdict, { kind: 'approved' }>,
  captures: boolean,
): Promise<Answered> => {
  const { writer, now } = context
  const event = {
    type: 'authorized',
    data: { auth_code: authCode ?? '', response_code: responseCode },
  }
  const fields = { authCode, responseCode }
  const authorized = changed(before, 'authorization_approved', fields, now())
  const started: StartedCapture | undefined = captures
    ? await startCapture(context, network, authorized, authorized.amountCents)
    : undefined
  if (started?.kind !== 'started') {
    const after = started === undefined ? authorized : started.after
    const answer = answerOf(201, after)
    const events = [event, ...(started?.events ?? [])]
    const isOurs = await writer.change({ before, after, events, answer })
    return fresh(isOurs ? answer : sweptAnswer(before))
  }
  const { pan, after, events } = started
  let isOurs = false
  try {
    isOurs = await writer.change({ before, after, events: [event, ...events] })
  } finally {
    if (!isOurs) pan.fill(0)
  }
  if (!isOurs) return fresh(sweptAnswer(before))
  return captureFrom(context, network, started, 201)
}

const declined = async (
  { writer, now }: CardContext,
  before: CardTransaction,
  { responseCode }: Extract<Verdict, { kind: 'declined' }>,
): Promise<Answered> => {
  const after = changed(before, 'authorization_declined', { responseCode }, now())
  const answer = answerOf(201, after)
  const events = [{ type: 'declined', data: { response_code: responseCode } }]
  const isOurs = await writer.change({ before, after, events, answer })
  return fresh(isOurs ? answer : sweptAnswer(before))
}

const notSent = async (
  { writer, now }: CardContext,
  before: CardTransaction,
  { why }: Extract<Verdict, { kind: 'not_sent' }>,
): Promise<Answered> => {
  const at = now()
  const fields = { reason: 'not_sent', voidedAt: at }
  const after = changed(before, 'authorization_not_sent', fields, at)
  // Nothing happened: the same key may be used for another attempt.
  const events = [{ type: 'not_sent', data: { reason: why } }]
  await writer.change({ before, after, events, answer: 'free' })
  return fresh(notSentAnswer(before.id, why))
}

const unknown = async (
  { writer, now }: CardContext,
  before: CardTransaction,
  verdict: Extract<Verdict, { kind: 'unknown' }>,
): Promise<Answered> => {
  const after = changed(before, 'authorization_unknown', { reason: verdict.why }, now())
  const answer = unknownAnswer(before.id, verdict)
  const data = { reason: verdict.why, field: verdict.field ?? null }
  const events = [{ type: 'authorization_unknown', data }]
  const reversal = reversalOf(after, 'authorization')
  await writer.reverse({ before, after, events, answer, reversal })
  return fresh(answer)
}
