import { CodecError } from '#codecs/bytes'
import { identifyMessage, type MessageScanner } from '#codecs/iso20022'
import { explainXmlError, type XmlExplanation } from '#codecs/xml'
import { type Reported, reportedBy } from './reported.ts'

/** What a document that somebody hands us reports; nothing if it is of another type or cannot be read as one. */
export type ReportedFile =
  | { readonly kind: 'malformed'; readonly explanation: XmlExplanation }
  | { readonly kind: 'read'; readonly reported: readonly Reported[] }

export const readReported = (scanner: MessageScanner, bytes: Uint8Array): ReportedFile => {
  try {
    const document = scanner.scan(bytes)
    const identity = identifyMessage(document)
    const reported = identity === undefined ? [] : reportedBy(document, identity)
    return { kind: 'read', reported }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    return { kind: 'malformed', explanation: explainXmlError(bytes, error) }
  }
}
