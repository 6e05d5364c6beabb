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

/** Turns messages of a type into their business view. */
export type Projection = {
  /** The name of the view. */
  readonly target: string
  /** @param enrich adds the further fields that a ledger needs */
  readonly project: (
    document: XmlDocument,
    version: string,
    enrich: boolean,
    writer: JsonWriter,
  ) => Projected
}

/**
 * One result for a message of one or many transactions: the top-level fields are the first's, `transactions` holds all
 * in the same shape if there are several, and `transaction_count` is always present.
 *
 * @param transactions the members of each as JSON, without braces; at least one
 */
export const withTransactions = (transactions: readonly string[]): string => {
  const result = `${transactions[0]},"transaction_count":${transactions.length}`
  if (transactions.length === 1) return `{${result}}`
  return `{${result},"transactions":[{${transactions.join('},{')}}]}`
}

/**
 * A projection that reads the whole message first.
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
