import type { Client } from '#src/platform/database/index.ts'
import { ApiError, claimKey, httpErrors, type IdempotencyClaim } from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { cardErrors } from '../errors.ts'
import type { CardNetworks } from '../networks/index.ts'
import type { NewReversal } from '../reversals/types.ts'
import type { StanAllocator } from '../transactions/stan.ts'
import type { CardTransaction } from '../transactions/store.ts'
import type { CardWriter } from '../transactions/writer.ts'
import { CardTokenNotFoundError, type Vault, VaultUnavailableError } from '../vault/index.ts'
import { type Answer, failureOf } from './answers.ts'
import type { Verdict } from './exchange.ts'

export type OperationName = 'authorization' | 'capture' | 'void'

/** What the use cases stand on. */
export type CardContext = {
  readonly sql: Client
  readonly networks: Pick<CardNetworks, 'byName' | 'networkFor'>
  readonly vault: Vault
  readonly stans: StanAllocator
  readonly writer: CardWriter
  readonly logger: Logger
  readonly now: () => Date
  /** Counts outcomes, by operation. */
  readonly count: (operation: OperationName, network: string, outcome: Verdict['kind']) => void
}

export type Answered = Answer & { readonly isReplay: boolean }

export const fresh = (answer: Answer): Answered => ({ ...answer, isReplay: false })

/** @throws ApiError `card_token_not_found`, `vault_unavailable` */
export const resolveCard = async (vault: Vault, token: string): Promise<Uint8Array> => {
  try {
    return await vault.resolve(token)
  } catch (cause) {
    const details = { field: 'card_token', value: null }
    if (cause instanceof CardTokenNotFoundError) {
      throw new ApiError(
        cardErrors.card_token_not_found,
        'The vault does not know the card token.',
        {
          ...{ details, cause },
        },
      )
    }
    if (cause instanceof VaultUnavailableError) {
      throw new ApiError(cardErrors.vault_unavailable, 'The token vault did not answer.', {
        details: { field: null, value: null, sent: false },
        cause,
      })
    }
    throw cause
  }
}

const newClaim = Symbol('new')

/**
 * What the key answered before; undefined when it is new, which claims nothing.
 *
 * @throws ApiError 409 while its request runs, 422 when it was used for another
 */
export const replayOf = async (
  sql: Client,
  claim: IdempotencyClaim | undefined,
): Promise<Answered | undefined> => {
  if (claim === undefined) return undefined
  try {
    return await sql.begin(async (tx) => {
      const outcome = await claimKey(tx, claim)
      // Rolled back: it is claimed where the work begins.
      if (outcome.kind === 'new') throw newClaim
      return { ...outcome.response, isReplay: true }
    })
  } catch (error) {
    if (error === newClaim) return undefined
    throw error
  }
}

/** The answer of a request whose outcome nobody knows. */
export const unknownAnswer = (
  transactionId: string,
  { why }: Extract<Verdict, { kind: 'unknown' }>,
): Answer => {
  const details = { sent: true, transaction_id: transactionId, reason: why }
  return why === 'timed_out'
    ? failureOf(
        cardErrors.network_timeout,
        'The card network did not answer in time; what it may have done is being reversed.',
        details,
      )
    : failureOf(
        cardErrors.network_unavailable,
        why === 'connection_lost'
          ? 'The connection to the card network was lost; what it may have done is being reversed.'
          : 'The answer of the card network does not belong to the request; it is being reversed.',
        details,
      )
}

export const notSentAnswer = (transactionId: string, why: string): Answer =>
  failureOf(cardErrors.network_unavailable, 'Nothing could be sent to the card network.', {
    sent: false,
    transaction_id: transactionId,
    reason: why,
  })

/** The network has acted, but its answer could not be written: a sweep will reverse it. */
export const unwritten = (transactionId: string, cause: unknown): ApiError =>
  new ApiError(httpErrors.unavailable, 'The answer of the card network could not be written.', {
    details: { field: null, value: null, sent: true, transaction_id: transactionId },
    cause,
  })

/** What has to be sent so that nothing of the operation under way remains. */
export const reversalOf = (
  transaction: CardTransaction,
  reverses: NewReversal['reverses'],
): NewReversal => {
  const { operationStan = '', operationTransmission = '', operationCents = 0n } = transaction
  const ofCapture = reverses === 'capture'
  return {
    transactionId: transaction.id,
    network: transaction.network,
    reverses,
    cardToken: transaction.cardToken,
    amountCents: ofCapture ? operationCents : transaction.amountCents,
    currency: transaction.currency,
    originalMti: ofCapture ? '0200' : '0100',
    originalStan: ofCapture ? operationStan : transaction.stan,
    originalTransmission: ofCapture ? operationTransmission : transaction.transmission,
    rrn: transaction.rrn,
    authCode: transaction.authCode,
    merchantId: transaction.merchantId,
    terminalId: transaction.terminalId,
    traceparent: transaction.traceparent,
  }
}
