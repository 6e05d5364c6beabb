import type { XmlDocument } from '#codecs/xml'
import type { Builder } from '../building/builder.ts'
import type { Revision, VersionEntry } from '../catalogue/revisions.ts'
import type { BusinessHeader } from '../envelope.ts'
import type { Projection } from '../projecting/projection.ts'
import type { MessageReader } from '../reader.ts'

/**
 * All that is known of one message type. Whatever differs between types is asked of its definition, so that a new
 * type is a folder beside this file and an entry in `index.ts`; the compiler names what is forgotten.
 *
 * @template Known the types there are
 */
export type MessageDefinition<Known extends string = string> = {
  readonly type: Known
  /** The version in each revision of the SPI's catalogue, and how sure it is. */
  readonly revisions: Readonly<Record<Revision, VersionEntry>>
  /**
   * Version → the schema document that stands for it, the oldest version first. A document that stands for several
   * versions gets their namespace when it is read; its comment says why they are taken as equal.
   */
  readonly versions: Readonly<Record<string, string>>
  /** The text of each schema document, and of what it includes, by file name. */
  readonly schemas: Readonly<Record<string, string>>
  /** Reads a scanned message; problems are left in `reader`. */
  readonly read: (reader: MessageReader, xml: XmlDocument, version: string) => TypedHeader
  /** How a participant builds it; null where no participant sends it, or nothing here does. */
  readonly builder: Builder | null
  /** Its business view; null where it has none. */
  readonly projection: Projection | null
  readonly facts: MessageFacts<Known>
  readonly exchange: MessageExchange<Known>
}

type TypedHeader = {
  readonly type: string
  readonly version: string
  readonly header: BusinessHeader
}

/** What a received message is looked through for. */
type MessageFacts<Known extends string = string> = {
  /** The element that repeats per transaction; null where the message has none. */
  readonly transaction: string | null
  /** What is checked besides the header, and that the message can be read whole. */
  readonly checks: readonly Check[]
  /** Conditional rules that no schema holds, over what `read` gives. */
  readonly rules: ((message: never) => readonly Breach[]) | null
  /** What it says about messages that were sent before; null where it answers nothing. */
  readonly answers: Answers<Known> | null
}

/** A rule that a received message breaks. Holds no value of the message. */
export type Breach = { readonly rule: string; readonly path: string; readonly message: string }

/** A check of the message, or of each transaction. */
export type Check =
  /** There is a transaction at least. */
  | 'some_transaction'
  /** NbOfTxs is how many there are. */
  | 'count'
  | 'end_to_end_id'
  /** As the one before, of types whose transactions need not have one. */
  | 'given_end_to_end_id'
  | 'return_id'
  /** EndToEndId of a payment, or RtrId of a return. */
  | 'original_instruction_id'
  | 'amount'
  | 'return_reason'
  /** Of a refusal: what it refuses, and why. */
  | 'refused_reference'
  /** Of an answer about a participant: what it answers, and a status. */
  | 'answered_reference'
  | StatusCheck

/** The status is one of those; a refusal has a reason, one of the list where there is a list. */
export type StatusCheck = {
  readonly accepted: readonly string[]
  readonly refused: string
  readonly reasons?: ReadonlyMap<string, unknown>
}

/** How an answer names what it is about. */
type Answers<Known extends string = string> =
  /** Each transaction names one that was sent, by a message of one of these types. */
  | { readonly about: 'transaction'; readonly to: readonly Known[] }
  /** The same, a payment by its EndToEndId and a return by its RtrId. */
  | {
      readonly about: 'payment_or_return'
      readonly to: readonly Known[]
      readonly toReturn: readonly Known[]
    }
  /** Each transaction names a sent message; the message is refused when all of it is. */
  | { readonly about: 'receipts' }
  /** It names a sent message, and says what became of it, or is a refusal by itself. */
  | { readonly about: 'message'; readonly isRefusal: boolean }

/** How the interface of the SPI treats a message that a participant sends. */
type MessageExchange<Known extends string = string> = {
  /**
   * `moves_money`: settled, and answered by a pacs.002 that says so; `status`: such an answer;
   * `between_participants`: passed on to the participant that it is for; `tracked`: has a limit of its own on the
   * secondary channel; `with_spi`: any other.
   */
  readonly role: 'moves_money' | 'status' | 'between_participants' | 'tracked' | 'with_spi'
  /** What it costs of the sender's limit, for each transaction; null: 1 for the whole message. */
  readonly tokens: number | null
  /** The type of the SPI's own answer; null where there is none. */
  readonly answeredWith: Known | null
}
