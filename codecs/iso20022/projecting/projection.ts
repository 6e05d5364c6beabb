import type { XmlDocument } from '#codecs/xml'
import type { BusinessHeader } from '../envelope.ts'
import { MessageReader, type ReadProblem } from '../reader.ts'
import type { JsonWriter } from './json-writer.ts'

/** The business view of a message, or why it cannot be read. */
export type Projected =
  | {
      readonly ok: true
      /** What the message's header says it is. */
      readonly messageDefinitionId: string
      /** JSON. */
      readonly result: string
    }
  | { readonly ok: false; readonly problems: readonly ReadProblem[] }

/** How messages of a type become their business view. */
export type Projection = {
  /** What the view is called. */
  readonly target: string
  /** @param enrich adds what a ledger needs besides */
  readonly project: (
    document: XmlDocument,
    version: string,
    enrich: boolean,
    writer: JsonWriter,
  ) => Projected
}

/**
 * One result for a message of one or many transactions: the top-level fields are the first's, `transactions`
 * holds all of them in the same shape where there is more than one, `transaction_count` is always there.
 *
 * @param transactions of each the members as JSON, without braces; at least one
 */
export const withTransactions = (transactions: readonly string[]): string => {
  const result = `${transactions[0]},"transaction_count":${transactions.length}`
  if (transactions.length === 1) return `{${result}}`
  return `{${result},"transactions":[{${transactions.join('},{')}}]}`
}

/**
 * A projection of messages that are read whole.
 *
 * @param write gives the view as JSON
 */
export const wholeProjection = <
  const Target extends string,
  Message extends { readonly header: BusinessHeader },
>(
  target: Target,
  read: (reader: MessageReader, xml: XmlDocument, version: string) => Message,
  write: (message: Message, enrich: boolean) => string,
): Projection & { readonly target: Target } => ({
  target,
  project: (document, version, enrich) => {
    const reader = new MessageReader(document)
    const message = read(reader, document, version)
    if (reader.problems.length > 0) return { ok: false, problems: reader.problems }
    const { messageDefinitionId } = message.header
    return { ok: true, messageDefinitionId, result: write(message, enrich) }
  },
})
