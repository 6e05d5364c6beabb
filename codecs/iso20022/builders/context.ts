import type { MessageType } from '../catalogue/index.ts'
import type { RandomText } from './identifiers.ts'
import type { XmlOutput } from './output.ts'
import type { Params } from './params.ts'
import type { Value } from './values.ts'

/** What a message needs beyond its parameters. */
export type BuildContext = {
  /** The ISPB of the institution that sends. */
  readonly ispb: string
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  /** One for as long as the caller lives: {@link createRandomText}. */
  readonly random: RandomText
}

/** What a builder is given: the context, and the message's own id, version and date-time. */
export type Draft = BuildContext & {
  readonly version: string
  readonly messageId: Value
  readonly created: Value
  /** The same as text. */
  readonly createdText: string
}

export type Builder = {
  readonly type: MessageType
  /** The element that `Document` holds. */
  readonly root: string
  /** Whether it begins with a `GrpHdr`, which the builder goes on with behind `MsgId` and `CreDtTm`. */
  readonly isGroup: boolean
  /**
   * Writes what the root holds.
   *
   * @returns the ids by which its transactions are found again
   */
  readonly build: (params: Params, draft: Draft, output: XmlOutput) => readonly string[]
}
