/** Bounds of one document: the scanner accepts a document at a bound and refuses one past it. */
export type XmlLimits = {
  readonly documentBytesMax: number
  readonly depthMax: number
  /** Attributes and namespace declarations of one element together. */
  readonly attributesMax: number
  /** Bytes of one qualified name. */
  readonly nameBytesMax: number
  /** Bytes of one run of character data, CDATA section, comment or attribute value. */
  readonly textBytesMax: number
  readonly elementsMax: number
}

export const xmlLimits: XmlLimits = {
  documentBytesMax: 4 * 1024 * 1024,
  depthMax: 64,
  attributesMax: 64,
  nameBytesMax: 256,
  textBytesMax: 1024 * 1024,
  elementsMax: 200_000,
}
