import { CodecError } from '#codecs/bytes'
import type { XmlDocument } from '#codecs/xml'
import { demandText, textAt } from './markup.ts'

// What several documents of the directory hold alike.

const idForm = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/
const momentForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/
const amountForm = /^(\d{1,13})(?:\.(\d{1,2}))?$/
const wordForm = /^[A-Z][A-Z_]{1,49}$/
const detailsCharsMax = 2_000

/** @throws CodecError `dict_document` */
export const demandId = (document: XmlDocument, node: number, path: string): string =>
  demandText(document, node, path, idForm).toLowerCase()

export const idAt = (document: XmlDocument, node: number, path: string): string | undefined =>
  textAt(document, node, path) === undefined ? undefined : demandId(document, node, path)

/** Milliseconds since the epoch. @throws CodecError `dict_document` */
export const demandMoment = (document: XmlDocument, node: number, path: string): number => {
  const at = Date.parse(demandText(document, node, path, momentForm))
  if (!Number.isNaN(at)) return at
  throw new CodecError('dict_document', document.start(node), `${path} is no moment`)
}

/** One of a list that the directory may make longer. @throws CodecError `dict_document` */
export const demandWord = (document: XmlDocument, node: number, path: string): string =>
  demandText(document, node, path, wordForm)

export const wordAt = (document: XmlDocument, node: number, path: string): string | undefined =>
  textAt(document, node, path) === undefined ? undefined : demandWord(document, node, path)

/** One of a list whose words decide what happens. @throws CodecError `dict_document` */
export const demandOneOf = <W extends string>(
  document: XmlDocument,
  node: number,
  path: string,
  words: readonly W[],
): W => {
  const text = demandText(document, node, path)
  const known = words.find((word) => word === text)
  if (known !== undefined) return known
  throw new CodecError('dict_document', document.start(node), `${path} is nothing that we know`)
}

/** Text of people for people: in one line, at most as long as the directory allows. */
export const proseAt = (document: XmlDocument, node: number, path: string): string | undefined => {
  const text = textAt(document, node, path)
    ?.replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return text === undefined || text === '' ? undefined : text.slice(0, detailsCharsMax)
}

/** Cents. @throws CodecError `dict_document` */
export const demandCents = (document: XmlDocument, node: number, path: string): bigint => {
  const [, whole = '', part = ''] =
    amountForm.exec(demandText(document, node, path, amountForm)) ?? []
  return BigInt(whole) * 100n + BigInt(part.padEnd(2, '0'))
}

export const centsAt = (document: XmlDocument, node: number, path: string): bigint | undefined =>
  textAt(document, node, path) === undefined ? undefined : demandCents(document, node, path)

export const amountText = (cents: bigint): string =>
  `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`

export const momentText = (ms: number): string => new Date(ms).toISOString()
