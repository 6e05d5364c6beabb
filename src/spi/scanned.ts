import { CodecError } from '#codecs/bytes'
import type { XmlDocument, XmlScanner } from '#codecs/xml'

/** The document, or why it is none. */
export const scanned = (scanner: XmlScanner, bytes: Uint8Array): XmlDocument | CodecError => {
  try {
    return scanner.scan(bytes)
  } catch (error) {
    if (error instanceof CodecError) return error
    throw error
  }
}
