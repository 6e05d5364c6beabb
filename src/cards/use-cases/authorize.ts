import type { CardMessage } from '#codecs/iso8583'
import {
  type Answer,
  type Answered,
  ApiError,
  type AuditEntry,
  type Caller,
  type IdempotencyKey,
  orReplay,
  repetitionOf,
} from '#src/platform/http/index.ts'
import { currentTraceparent } from '#src/platform/observe/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import { bitOf, type Details, type Input, type Secrets } from '../content/index.ts'
import { cardErrors } from '../errors.ts'
import type { Network } from '../networks/index.ts'
import { authorizationMessage } from '../networks/messages.ts'
import { changed } from '../transactions/changes.ts'
import type { Currency } from '../transactions/domain.ts'
import {
  type CardTransaction,
  type NewCardEvent,
  transactionColumns,
} from '../transactions/store.ts'
import { answerOf } from './answers.ts'
import { reversalsBegun } from './begun-reversals.ts'
import { bookedBy } from './booking.ts'
import { type CardContext, fresh } from './context.ts'
import type { Asked, Verdict } from './exchange.ts'
import { carrying, checkIcc, type GivenPin, withPin } from './given.ts'
import { notTaken, perform, prepare, type Ready, resolveCard, send, written } from './operation.ts'
import { auditOf } from './operations.ts'
import { lostAnswer, settle, stepOf } from './outcomes.ts'
import { requireCapture, requireMerchant } from './rights.ts'

export type AuthorizationRequest = {
  readonly cardToken: string
  readonly amountCents: bigint
  readonly currency: Currency
  readonly merchantId: string
  readonly terminalId: string | undefined
  readonly installments: number
  readonly reference: string | undefined
  readonly details: Details | undefined
  /** Never stored. */
  readonly secrets: Secrets | undefined
  /** Never stored. */
  readonly pin: GivenPin | undefined
  /** Capture the whole amount right after the approval. */
  readonly capture: boolean
}

/** An authorization of nothing, which asks whether the card is good. */
export type VerificationRequest = Omit<
  AuthorizationRequest,
  'amountCents' | 'installments' | 'capture'
>

/**
 * Authorizes. Commits the row before the first byte goes out, and the outcome before the answer. If the network may
 * have acted without telling, we reverse the authorization and never send it again.
 */
export const authorize = (
  context: CardContext,
  request: AuthorizationRequest,
  caller: Caller,
): Promise<Answered> => first(context, 'authorization', request, caller)

/** Asks the network about a card. Whatever comes, no money is on hold, and nothing is taken back. */
export const verify = (
  context: CardContext,
  request: VerificationRequest,
  caller: Caller,
): Promise<Answered> => {
  const ofNothing = { ...request, amountCents: 0n, installments: 1, capture: false }
  return first(context, 'verification', ofNothing, caller)
}

type FirstOperation = 'authorization' | 'verification'

const first = async (
  context: CardContext,
  operation: FirstOperation,
  request: AuthorizationRequest,
  caller: Caller,
): Promise<Answered> => {
  requireMerchant(caller, request.merchantId)
  const prepared = await orReplay(context.sql, caller.idempotencyKey, () =>
    open(context, operation, request, caller),
  )
  if ('isReplay' in prepared) return prepared
  const { pan, network, transaction, message } = prepared
  let isOurs: boolean
  try {
    isOurs = await context.writer.insert({ transaction, caller })
  } catch (error) {
    pan.fill(0)
    throw error
  }
  if (!isOurs) {
    pan.fill(0)
    // Only a key can be taken already.
    return repetitionOf(context.sql, caller.idempotencyKey as IdempotencyKey)
  }
  const asked = askedOf(operation, transaction)
  const hasSecrets = request.secrets !== undefined || request.pin !== undefined
  const build = (): CardMessage => message
  const verdict = await send(
    context,
    network,
    operation,
    transaction,
    pan,
    build,
    asked,
    hasSecrets,
  )
  const answer = await written(transaction, () => {
    if (!request.capture) return settle(context, operation, transaction, verdict, false)
    if (verdict.kind === 'approved') {
      return captureAtOnce(context, network, transaction, verdict, caller)
    }
    return verdict.kind === 'advised'
      ? adviseAtOnce(context, network, transaction, verdict, caller)
      : settle(context, operation, transaction, verdict, false)
  })
  return fresh(answer)
}

const askedOf = (operation: FirstOperation, { details }: CardTransaction): Asked => {
  if (operation === 'verification') return 'nothing'
  return details?.acceptPartial === true ? 'part' : 'whole'
}

type Prepared = {
  readonly pan: Uint8Array
  readonly network: Network
  readonly transaction: CardTransaction
  readonly message: CardMessage
}

const open = async (
  context: CardContext,
  operation: FirstOperation,
  request: AuthorizationRequest,
  caller: Caller,
): Promise<Prepared> => {
  const { owner, keyId, idempotencyKey } = caller
  if (request.capture) requireCapture(caller)
  if (request.secrets !== undefined) checkIcc(request.secrets)
  const { pan, expiry, cryptogram } = await resolveCard(context, request.cardToken)
  const { networks, stans, merchants, now, away } = context
  try {
    const network = networks.networkFor(pan)
    if (network === undefined) {
      throw new ApiError(
        cardErrors.unsupported_card_range,
        'No configured network takes this card.',
        { details: { field: 'card_token', value: null } },
      )
    }
    if (!network.content.has(operation)) throw notTaken(operation)
    const secrets = await away(withPin(request, network, pan))
    const numbers = await stans.next(network)
    const at = now()
    const { capture: _, secrets: __, pin: ___, ...fields } = request
    const transaction: CardTransaction = {
      ...nothingYet,
      ...fields,
      ...numbers,
      operation: operation === 'verification' ? operation : undefined,
      // Identifiers sort by their time of creation.
      id: `txn_${newUuid().replaceAll('-', '')}`,
      network: network.name,
      brand: network.brand,
      claimKey: idempotencyKey?.key,
      traceparent: currentTraceparent(),
      account: owner,
      createdBy: keyId,
      createdAt: at,
      updatedAt: at,
    }
    const profile = merchants.get(request.merchantId)
    const beside = { expiry, cryptogram, secrets, profile }
    const message = carrying(givenIn(request), () =>
      authorizationMessage(network.content, pan, transaction, beside, operation),
    )
    return { pan, network, transaction, message }
  } catch (error) {
    pan.fill(0)
    throw error
  }
}

/** The request's field that each comes from; undefined: the network's answer. */
const detailInputs: Readonly<Record<keyof Details, Input | undefined>> = {
  entry: 'entry',
  installmentPlan: 'installment_plan',
  softDescriptor: 'soft_descriptor',
  eci: 'three_ds.eci',
  dsTransactionId: 'three_ds.ds_transaction_id',
  initiator: 'stored_credential.initiator',
  storedReason: 'stored_credential.reason',
  networkTransactionId: 'stored_credential.network_transaction_id',
  cardSequence: 'card_sequence',
  acceptPartial: 'accept_partial',
  balances: undefined,
  kept: undefined,
}

const secretInputs: Readonly<Record<keyof Secrets, Input>> = {
  cavv: 'three_ds.cavv',
  icc: 'icc_data',
  pinBlock: 'pin',
}

/** Bits of what not every network's messages can carry. */
const givenIn = ({ installments, details, secrets, pin }: AuthorizationRequest): number => {
  let given = installments > 1 ? bitOf('installments') : 0
  if (pin !== undefined) given |= bitOf('pin')
  for (const name in details) {
    const input = detailInputs[name as keyof Details]
    if (input !== undefined) given |= bitOf(input)
  }
  for (const name in secrets) given |= bitOf(secretInputs[name as keyof Secrets])
  return given
}

const nothingYet = { ...transactionColumns.none, status: 'pending', needsAttention: false } as const

/** Commits the approval together with the beginning of its capture. A failed capture does not change the approval. */
const captureAtOnce = async (
  context: CardContext,
  network: Network,
  before: CardTransaction,
  verdict: Extract<Verdict, { kind: 'approved' }>,
  caller: Caller,
): Promise<Answer> => {
  const { writer, now } = context
  const { after: authorized, event } = stepOf('authorization', before, verdict, now())
  const movements = bookedBy(network, 'authorization', before, verdict, authorized.updatedAt)
  let ready: Ready
  try {
    ready = await prepare(context, network, 'capture', authorized, authorized.amountCents)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const captureError = error.definition.code
    const failed = { type: 'capture_failed', data: { reason: captureError } }
    const after = { ...authorized, captureError }
    const answer = answerOf(201, after)
    const change = { before, after, events: [event, failed], answer, movements }
    const isOurs = await writer.change(change)
    return isOurs ? answer : lostAnswer(context, 'authorization', before, verdict)
  }
  let isOurs = false
  try {
    const { after, events } = ready
    const audit = auditOf(before, 'capture', caller)
    isOurs = await writer.change({ before, after, events: [event, ...events], audit, movements })
  } finally {
    if (!isOurs) ready.pan.fill(0)
  }
  return isOurs
    ? perform(context, network, ready, true)
    : lostAnswer(context, 'authorization', before, verdict)
}

/** The network is to hear of the approval in its place, and then of the capture: both advices are in one commit. */
const adviseAtOnce = async (
  context: CardContext,
  network: Network,
  before: CardTransaction,
  verdict: Extract<Verdict, { kind: 'advised' }>,
  caller: Caller,
): Promise<Answer> => {
  const { writer, stans, now } = context
  const { advices } = network
  const { after: authorized, event } = stepOf('authorization', before, verdict, now())
  const first = reversalsBegun(before, authorized, advices)
  const events: NewCardEvent[] = [event]
  let after: CardTransaction = { ...authorized, captureError: 'not_sent' }
  let reversals = first
  let audit: AuditEntry | undefined
  if (advices?.may('capture') === true) {
    const { stan, transmission } = await stans.next(network)
    const cents = before.amountCents
    const numbers = { operationStan: stan, operationTransmission: transmission }
    after = changed(authorized, 'capture_advised', { ...numbers, operationCents: cents }, now())
    const amount = Number(cents)
    events.push({ type: 'capture_sent', data: { stan, transmission, amount } })
    events.push({ type: 'capture_advised', data: { amount } })
    reversals = [...first, ...reversalsBegun(authorized, after, advices)]
    audit = auditOf(before, 'capture', caller)
  }
  const answer = answerOf(201, after)
  const isOurs = await writer.reverse({ before, after, events, answer, audit, reversals })
  return isOurs ? answer : lostAnswer(context, 'authorization', before, verdict)
}
