import type { CardMessage } from '#codecs/iso8583'
import { type FieldReader, type LinkKeys, SecurityModuleError } from '../security/index.ts'
import type { ConnectionContext } from './connection-context.ts'
import { type Exchanges, identityOf, type Lane } from './exchanges.ts'
import type { SealedBytes } from './inbound.ts'
import { approved } from './management.ts'
import type { NetworkOptions } from './options.ts'
import { fieldReaderOf, type Sealer } from './sealing.ts'
import type { ExchangeOutcome } from './types.ts'

/** What a connection does with codes and keys. */

const lost = { kind: 'not_sent', reason: 'connection_lost_unsent' } as const
const windowFull = { kind: 'not_sent', reason: 'window_full' } as const
const noCode = { kind: 'not_sent', reason: 'security_module' } as const

type Secured = {
  readonly keys: LinkKeys
  readonly sealer: Sealer
  readonly exchanges: Exchanges
  readonly options: NetworkOptions
  readonly lane: Lane
  /** Where the next frame begins; undefined once the connection takes none. */
  readonly place: () => number | undefined
  readonly append: (message: Uint8Array, withinMs: number) => boolean
}

/** Sends a request when it has its code. What the security module takes of the time is the request's. */
export const sendSealed = async (
  { keys, sealer, exchanges, options, lane, place, append }: Secured,
  request: CardMessage,
  key: number,
  timeoutMs: number,
): Promise<ExchangeOutcome> => {
  const startedAt = performance.now()
  const identity = identityOf(request)
  const unsealed = sealer.packed(request)
  exchanges.reserve(key, lane)
  try {
    await sealer.seal(unsealed, keys)
    const start = place()
    if (start === undefined) return lost
    const leftMs = timeoutMs - (performance.now() - startedAt)
    if (leftMs <= 0) return noCode
    if (!append(unsealed.bytes, leftMs)) return windowFull
    return exchanges.add(key, identity, lane, start, leftMs)
  } catch (err) {
    if (!(err instanceof SecurityModuleError)) throw err
    options.logger.error(
      { network: options.name, err },
      'a message to the card network got no code',
    )
    return noCode
  } finally {
    exchanges.release(key, lane)
    unsealed.bytes.fill(0)
  }
}

/** Sends an answer with its code. @throws CodecError, SecurityModuleError */
export const answerSealed = async (
  keys: LinkKeys,
  sealer: Sealer,
  answer: CardMessage,
  send: (bytes: Uint8Array) => void,
): Promise<void> => {
  const unsealed = sealer.packed(answer)
  try {
    await sealer.seal(unsealed, keys)
    send(unsealed.bytes)
  } finally {
    unsealed.bytes.fill(0)
  }
}

/** Whether the code of a message is right; where it is not, and where that cannot be found out, the context hears of it. */
export const isSealedRight = async (
  keys: LinkKeys,
  message: CardMessage,
  sealed: SealedBytes | undefined,
  {
    onRightCode,
    onWrongCode,
    onUnverified,
  }: Pick<ConnectionContext, 'onRightCode' | 'onWrongCode' | 'onUnverified'>,
): Promise<boolean> => {
  try {
    const isRight = sealed !== undefined && (await keys.verify(sealed.data, sealed.code))
    if (isRight) onRightCode()
    else onWrongCode(message)
    return isRight
  } catch (err) {
    onUnverified(message, err)
    return false
  } finally {
    sealed?.data.fill(0)
  }
}

/** After so many wrong codes in a row the fault is not in single messages. */
const wrongCodesMax = 5
/** How often we ask for keys at most because of wrong codes, which anybody on the way can cause. */
const askEveryMs = 10_000

/** Tells by wrong codes when a network that gives keys to who asks may have begun anew, and forgotten them. */
export class WrongCodes {
  private inARow = 0
  private askedAtMs = Number.NEGATIVE_INFINITY

  right(): void {
    this.inARow = 0
  }

  /** @returns whether keys are to be asked for */
  wrong(): boolean {
    const nowMs = performance.now()
    if (++this.inARow < wrongCodesMax || nowMs - this.askedAtMs < askEveryMs) return false
    this.inARow = 0
    this.askedAtMs = nowMs
    return true
  }
}

/** Each question has a STAN of its own: 0800 is not repeated. */
const confirmationsMax = 3

/** Tells the network that its keys are here. @returns whether it has answered that it uses them now */
export const areKeysConfirmed = async (
  ask: () => Promise<ExchangeOutcome | undefined>,
  { name, logger }: NetworkOptions,
): Promise<boolean> => {
  for (let asked = 0; asked < confirmationsMax; asked++) {
    const outcome = await ask()
    if (outcome === undefined) break
    if (outcome.kind !== 'answered') continue
    const { responseCode } = outcome.response
    if (responseCode === approved) return true
    logger.error(
      { network: name, response_code: responseCode },
      'the card network did not take the confirmation of its keys',
    )
    return false
  }
  logger.error({ network: name }, 'the card network did not answer the confirmation of its keys')
  return false
}

/** The fields of the network's answer to the question for keys; undefined if it gives none. */
export const keysIn = (
  outcome: ExchangeOutcome,
  { dialect }: NetworkOptions,
): FieldReader | undefined =>
  outcome.kind === 'answered' && outcome.response.responseCode === approved
    ? fieldReaderOf(outcome.response, dialect)
    : undefined
