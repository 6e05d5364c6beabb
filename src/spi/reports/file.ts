import { CodecError } from '#codecs/bytes'
import { identifyMessage, type MessageScanner } from '#codecs/iso20022'
import { explainXmlError, type XmlExplanation } from '#codecs/xml'
import { scanned } from '../scanned.ts'
import { type Reported, reportedBy } from './reported.ts'

/** What a document that somebody hands us reports; nothing if it is of another type or cannot be read as one. */
export type ReportedFile =
  | { readonly kind: 'malformed'; readonly explanation: XmlExplanation }
  | { readonly kind: 'read'; readonly reported: readonly Reported[] }

export const readReported = (scanner: MessageScanner, bytes: Uint8Array): ReportedFile => {
  const document = scanned(scanner, bytes)
  if (document instanceof CodecError) {
    return { kind: 'malformed', explanation: explainXmlError(bytes, document) }
  }
  const identity = identifyMessage(document)
  return { kind: 'read', reported: identity === undefined ? [] : reportedBy(document, identity) }
}
