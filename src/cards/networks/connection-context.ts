import type { CodecError } from '#codecs/bytes'
import type { CardMessage } from '#codecs/iso8583'
import type { Content } from '../content/index.ts'
import type { LinkKeys } from '../security/index.ts'
import type { Exchanges } from './exchanges.ts'
import type { NetworkOptions } from './options.ts'
import type { AdviceReply } from './types.ts'

/** What the connections of one network share. */
export type ConnectionContext = {
  readonly options: NetworkOptions
  readonly content: Content
  readonly exchanges: Exchanges
  /** A STAN for network management that no waiting message uses. */
  readonly nextStan: () => string
  /** Called for every message except requests of network management. */
  readonly onMessage: (message: CardMessage) => void
  /** Called for an advice; gives its answer, once it is kept. */
  readonly onAdvice: (message: CardMessage) => Promise<AdviceReply | undefined>
  /** Called for a well-formed message of an unknown type. */
  readonly onUnknownType: () => void
  /** Undefined: messages have no codes, and keys are not exchanged. */
  readonly keys: LinkKeys | undefined
  /** Called for an answer whose code is wrong, or missing. */
  readonly onWrongCode: (message: CardMessage) => void
  /** Called for an answer whose code is right. */
  readonly onRightCode: () => void
  /** Called for an answer whose code could not be compared. */
  readonly onUnverified: (message: CardMessage, error: unknown) => void
  /** Called for a frame without a message of the dialect; with the key of the request that it answers, where it has one. */
  readonly onUnreadable: (key: number | undefined, error: CodecError) => void
  readonly onUp: () => void
  readonly onLost: () => void
  readonly onEcho: (roundTripMs: number) => void
}
