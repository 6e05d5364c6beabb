import type { MessageType } from '../catalogue/index.ts'
import type { RandomText } from './identifiers.ts'
import type { Params } from './params.ts'

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
  readonly messageId: string
  readonly created: string
}

/** A built document: its XML, and the ids by which its transactions are found again. */
export type Content = { readonly xml: string; readonly endToEndIds: readonly string[] }

export type Builder = {
  readonly type: MessageType
  readonly build: (params: Params, draft: Draft) => Content
}

/** `MsgId` and `CreDtTm`, the same as the header's. */
export const groupHeader = ({ messageId, created }: Draft): string =>
  `<MsgId>${messageId}</MsgId><CreDtTm>${created}</CreDtTm>`
