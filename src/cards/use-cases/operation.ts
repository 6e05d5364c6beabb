import { CodecError } from '#codecs/bytes'
import type { CardMessage } from '#codecs/iso8583'
import { type Answer, ApiError } from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import type { Network } from '../networks/index.ts'
import {
  type CaptureMark,
  followingMessage,
  isUncarried,
  reversalMessage,
  withoutKept,
} from '../networks/messages.ts'
import { connectWaitMsMax } from '../networks/options.ts'
import { changed } from '../transactions/changes.ts'
import type { StartedOperation } from '../transactions/domain.ts'
import type { TraceNumbers } from '../transactions/stan.ts'
import type { CardTransaction, NewCardEvent } from '../transactions/store.ts'
import { type Card, CardTokenNotFoundError, VaultUnavailableError } from '../vault/index.ts'
import { unwritten } from './answers.ts'
import { reversalOf } from './begun-reversals.ts'
import type { CardContext, OperationName } from './context.ts'
import { type Asked, exchange, type Verdict } from './exchange.ts'
import { orGoingOn } from './going-on.ts'
import { settle } from './outcomes.ts'

/** @throws ApiError `card_token_not_found`, `vault_unavailable` */
export const resolveCard = async (
  { vault, away }: Pick<CardContext, 'vault' | 'away'>,
  token: string,
): Promise<Card> => {
  try {
    return await away(vault.resolve(token))
  } catch (cause) {
    const details = { field: 'card_token', value: null }
    if (cause instanceof CardTokenNotFoundError) {
      throw new ApiError(
        cardErrors.card_token_not_found,
        'The vault does not know the card token.',
        {
          details,
          cause,
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

/** An operation, ready to be sent once `after` is committed. A caller that does not send it must wipe `pan`. */
export type Ready = {
  readonly operation: StartedOperation
  readonly pan: Uint8Array
  readonly expiry: string | undefined
  readonly numbers: TraceNumbers
  readonly after: CardTransaction
  readonly events: readonly NewCardEvent[]
}

/** @throws ApiError as {@link resolveCard} */
export const prepare = async (
  context: CardContext,
  network: Network,
  operation: Ready['operation'],
  before: CardTransaction,
  amountCents: bigint,
): Promise<Ready> => {
  const { pan, expiry } = await resolveCard(context, before.cardToken)
  try {
    const { stans, now } = context
    const numbers = await stans.next(network)
    const fields = {
      operationStan: numbers.stan,
      operationTransmission: numbers.transmission,
      operationCents: amountCents,
    }
    const after = changed(before, `${operation}_started`, fields, now())
    const amount = operation === 'void' ? {} : { amount: Number(amountCents) }
    const { stan, transmission } = numbers
    const event = { type: `${operation}_sent`, data: { stan, transmission, ...amount } }
    return { operation, pan, expiry, numbers, after, events: [event] }
  } catch (error) {
    pan.fill(0)
    throw error
  }
}

/** Sends a prepared and committed operation, and commits its end. */
export const perform = async (
  context: CardContext,
  network: Network,
  { operation, pan, expiry, numbers, after }: Ready,
  asPart: boolean,
): Promise<Answer> => {
  const beside = { expiry, profile: context.merchants.get(after.merchantId) }
  const { content } = network
  const name = operation === 'partial_capture' ? 'capture' : operation
  const isVoid = name === 'void' || name === 'partial_void' || name === 'release'
  const reverse = (of: CardTransaction, number: Uint8Array): CardMessage =>
    reversalMessage(content, { ...reversalOf(of, name), attempts: 0 }, numbers, number, beside)
  const build = (): CardMessage => {
    if (isVoid) return reverse(after, pan)
    const cents = after.operationCents ?? after.amountCents
    const mark = name === 'capture' ? markOf(operation, after) : undefined
    return followingMessage(content, name, pan, after, cents, numbers, beside, mark)
  }
  const plain = isVoid ? withoutKept(after) : undefined
  // The first message wipes the card number that it has.
  const spare = Uint8Array.from(plain === undefined ? [] : pan)
  try {
    const verdict = await send(
      context,
      network,
      operation,
      after,
      pan,
      build,
      isVoid ? 'reversal' : 'whole',
      false,
      plain === undefined ? undefined : () => reverse(plain, spare),
    )
    return await written(after, () => settle(context, operation, after, verdict, asPart))
  } finally {
    spare.fill(0)
  }
}

/** We do not send what began longer ago: 15 s after its time, other processes reverse it as abandoned. */
const sendWithinMs = connectWaitMsMax + 1_000

/**
 * Sends the built message, and wipes the card number. Sends nothing if the message cannot be built or written, or if this
 * process stood still since the transaction was changed; of what fails by itself after that, nobody knows.
 *
 * @param hasSecrets the message has what is stored nowhere
 * @param buildPlain goes out where the built one cannot be carried
 */
export const send = async (
  { logger, count, away, now }: Pick<CardContext, 'logger' | 'count' | 'away' | 'now'>,
  network: Network,
  operation: OperationName,
  transaction: CardTransaction,
  pan: Uint8Array,
  build: () => CardMessage,
  asked: Asked = 'whole',
  hasSecrets = false,
  buildPlain?: (() => CardMessage) | undefined,
): Promise<Verdict> => {
  let verdict: Verdict
  let message: CardMessage | undefined
  const exchanged = async (made: () => CardMessage): Promise<Verdict> => {
    message = made()
    return exchange(network, message, asked)
  }
  try {
    const up = network.whenUp()
    if (up !== undefined) await away(up)
    if (now().getTime() - transaction.updatedAt.getTime() > sendWithinMs) {
      verdict = { kind: 'not_sent', why: 'too_late' }
    } else {
      const answered = await away(
        exchanged(build).catch((err: unknown) => {
          if (buildPlain === undefined || !isUncarried(err)) throw err
          logger.error(
            { err, transaction_id: transaction.id },
            `the message of a card ${operation} is sent without what was kept of the approval`,
          )
          message = undefined
          return exchanged(buildPlain)
        }),
      )
      verdict = orGoingOn(network, operation, transaction, answered, hasSecrets)
      if (verdict.kind === 'approved' && verdict.unread !== undefined) {
        logger.warn(
          { network: network.name, transaction_id: transaction.id, keep: verdict.unread },
          'what later messages repeat could not be read from an approval',
        )
      }
    }
  } catch (err) {
    logger.error(
      { err, transaction_id: transaction.id },
      `the message of a card ${operation} was not written, or its answer not read`,
    )
    verdict =
      message === undefined || err instanceof CodecError
        ? { kind: 'not_sent', why: 'message_invalid' }
        : { kind: 'unknown', why: 'connection_lost' }
  } finally {
    pan.fill(0)
  }
  count(operation, network.name, verdict.kind)
  return verdict
}

/** Marks the capture that is sent next; captures are numbered from 1. */
const markOf = (
  operation: StartedOperation,
  { captures = [], captureStan }: CardTransaction,
): CaptureMark => ({
  isFinal: operation === 'capture',
  captureNumber: captures.length + (captureStan === undefined ? 1 : 2),
})

export const notTaken = (operation: OperationName): ApiError =>
  new ApiError(cardErrors.operation_not_taken, 'The card network takes no such operation.', {
    details: { field: null, value: null, operation },
  })

/** @throws ApiError with the transaction's id: the network has acted, but we could not store that */
export const written = async <T>({ id }: CardTransaction, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (cause) {
    throw cause instanceof ApiError ? cause : unwritten(id, cause)
  }
}
