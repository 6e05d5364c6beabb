import { CodecError } from '#codecs/bytes'
import type { XmlDocument } from '#codecs/xml'

/** An element: its name, and its text or its children. We leave out an element with neither. */
export type Element = readonly [name: string, content: string | readonly Element[] | undefined]

const encoder = new TextEncoder()

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#xD;')

const written = ([name, content]: Element): string =>
  content === undefined
    ? ''
    : `<${name}>${typeof content === 'string' ? escaped(content) : content.map(written).join('')}</${name}>`

/**
 * A document of the directory, in UTF-8 without a declaration; its canonical form has none, either.
 *
 * @throws CodecError `dict_text` if a text holds half a character
 */
export const writeElement = (element: Element): Uint8Array => {
  const text = written(element)
  if (!text.isWellFormed()) throw new CodecError('dict_text', 0, 'a text is not well-formed')
  return encoder.encode(text)
}

/** Children of that name. */
export const childrenOf = (document: XmlDocument, node: number, name: string): readonly number[] =>
  document.childrenOf(node).filter((child) => document.localName(child) === name)

/** The only node at the end of a path of names, or undefined. An element that is there twice is none. */
export const nodeAt = (document: XmlDocument, node: number, path: string): number | undefined => {
  let at = node
  for (const name of path.split('/')) {
    const [found, ...more] = childrenOf(document, at, name)
    if (found === undefined || more.length > 0) return undefined
    at = found
  }
  return at
}

/** The text of that node; undefined if it is not there. */
export const textAt = (document: XmlDocument, node: number, path: string): string | undefined => {
  const found = nodeAt(document, node, path)
  return found === undefined ? undefined : document.textOf(found)
}

/** @throws CodecError `dict_document`: the element is not there, or another text than it may be */
export const demandText = (
  document: XmlDocument,
  node: number,
  path: string,
  form?: RegExp,
): string => {
  const found = textAt(document, node, path)
  if (found !== undefined && (form === undefined || form.test(found))) return found
  throw new CodecError('dict_document', document.start(node), `${path} is missing or malformed`)
}
