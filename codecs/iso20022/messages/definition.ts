import type { XmlDocument } from '#codecs/xml'
import type { Builder } from '../building/builder.ts'
import { type Revision, steady, type VersionEntry } from '../catalogue/revisions.ts'
import type { BusinessHeader } from '../envelope.ts'
import type { Projection } from '../projecting/projection.ts'
import type { MessageReader } from '../reader.ts'

/**
 * All that we know about one message type. The code asks the definition for everything that differs between types, so a
 * new type is a folder beside this file and an entry in `index.ts`; the compiler names what is missing.
 *
 * @template Known the types there are
 */
export type MessageDefinition<Known extends string = string> = {
  readonly type: Known
  /** The version in each revision of the SPI's catalogue, and how sure it is. */
  readonly revisions: Readonly<Record<Revision, VersionEntry>>
  /**
   * Version → the schema document that stands for it, the oldest version first. A document that stands for several
   * versions gets their namespace when it is read; its comment says why we take them as equal.
   */
  readonly versions: Readonly<Record<string, string>>
  /** The text of each schema document, and of what it includes, by file name. */
  readonly schemas: Readonly<Record<string, string>>
  /** Reads a scanned message; problems are left in `reader`. */
  readonly read: (reader: MessageReader, xml: XmlDocument, version: string) => TypedHeader
  /** Builds the message for a participant; null if participants do not send it, or we do not build it. */
  readonly builder: Builder | null
  /** The business view of the message; null if it has none. */
  readonly projection: Projection | null
  readonly facts: MessageFacts<Known>
  readonly exchange: MessageExchange<Known>
}

/** The facts about the versions of a type that has had only one. */
export const ofOneVersion = <const Type extends string>(
  type: Type,
  version: string,
  schema: string,
  revisionsOf = steady,
) => {
  const file = `${type}.xsd`
  const [versions, schemas] = [{ [version]: file }, { [file]: schema }]
  return { type, revisions: revisionsOf(version), versions, schemas }
}

/** We look for nothing in it beyond what every message has. */
export const noFacts = { transaction: null, checks: [], rules: null, answers: null } as const

/** For messages that participants do not send through us, and that have no business view. */
export const onlyRead = { builder: null, projection: null, facts: noFacts } as const

type TypedHeader = {
  readonly type: string
  readonly version: string
  readonly header: BusinessHeader
}

/** The facts that we look for in a received message. */
type MessageFacts<Known extends string = string> = {
  /** The element that repeats per transaction; null if the message has none. */
  readonly transaction: string | null
  /** Checks beyond the header and beyond reading the whole message. */
  readonly checks: readonly Check[]
  /** Conditional rules that no schema holds; they take the result of `read`. */
  readonly rules: ((message: never) => readonly Breach[]) | null
  /** What the message says about earlier messages; null if it is not an answer. */
  readonly answers: Answers<Known> | null
}

/** A rule that a received message breaks. Holds no value of the message. */
export type Breach = { readonly rule: string; readonly path: string; readonly message: string }

/** A check of the message, or of each transaction. */
export type Check =
  /** There is at least one transaction. */
  | 'some_transaction'
  /** NbOfTxs is the number of transactions. */
  | 'count'
  | 'end_to_end_id'
  /** The same as `end_to_end_id`, but transactions of the type may lack it. */
  | 'given_end_to_end_id'
  /** EndToEndId of a payment, or the id that the SPI gave to what is none. */
  | 'booked_id'
  | 'return_id'
  /** EndToEndId of a payment, or RtrId of a return. */
  | 'original_instruction_id'
  | 'amount'
  | 'return_reason'
  /** A refusal names what it refuses, and why. */
  | 'refused_reference'
  /** An answer about a participant names what it answers, and a status. */
  | 'answered_reference'
  | StatusCheck

/** The status is one of these; a refusal has a reason, from the list if there is one. */
export type StatusCheck = {
  readonly accepted: readonly string[]
  readonly refused: string
  readonly reasons?: ReadonlyMap<string, unknown>
}

/** How an answer names what it is about. */
type Answers<Known extends string = string> =
  /** Each transaction names a sent transaction, from a message of one of these types. */
  | { readonly about: 'transaction'; readonly to: readonly Known[] }
  /** The same, naming a payment by its EndToEndId and a return by its RtrId. */
  | {
      readonly about: 'payment_or_return'
      readonly to: readonly Known[]
      readonly toReturn: readonly Known[]
    }
  /** Each transaction names part of a sent message; the message is refused when all its parts are. */
  | { readonly about: 'receipts' }
  /** The answer names a sent message and says what became of it, or its very type is a refusal. */
  | { readonly about: 'message'; readonly isRefusal: boolean }

/** How the interface of the SPI treats a message that a participant sends. */
type MessageExchange<Known extends string = string> = {
  /**
   * `moves_money`: the SPI settles it and says so in a pacs.002; `status`: such an answer; `between_participants`:
   * passed on to the participant that it is for; `tracked`: has a limit of its own on the secondary channel;
   * `with_spi`: any other.
   */
  readonly role: 'moves_money' | 'status' | 'between_participants' | 'tracked' | 'with_spi'
  /** Its cost for each transaction, against the sender's limit; null means 1 for the whole message. */
  readonly tokens: number | null
  /** The type of the SPI's own answer; null if there is none. */
  readonly answeredWith: Known | null
}
