/** Reads a scanned message by element names; enough for messages that have no typed reader. */
import { absent, type XmlDocument } from '#codecs/xml'
import { escaped } from './write.ts'

/** Children of that name. */
export const childrenOf = (document: XmlDocument, node: number, name: string): number[] => {
  const found: number[] = []
  if (node === absent) return found
  let child = document.firstChild(node)
  while (child !== absent) {
    if (document.localName(child) === name) found.push(child)
    child = document.nextSibling(child, node)
  }
  return found
}

/** The first node at the end of a path of names, or `absent`. */
export const nodeAt = (document: XmlDocument, node: number, path: string): number => {
  let at = node
  for (const name of path.split('/')) at = childrenOf(document, at, name)[0] ?? absent
  return at
}

/** The text of that node; empty when it is absent. */
export const textAt = (document: XmlDocument, node: number, path: string): string => {
  const found = nodeAt(document, node, path)
  return found === absent ? '' : document.textOf(found)
}

/** The message's own element: the only child of `Document`. */
export const bodyOf = (document: XmlDocument): number => {
  const found = nodeAt(document, document.root, 'Document')
  return found === absent ? absent : document.firstChild(found)
}

/** The element as canonical XML without a namespace of its own; empty when it is absent. */
export const copyOf = (document: XmlDocument, node: number): string => {
  if (node === absent) return ''
  const name = document.localName(node)
  const currency = document.attribute(node, 'Ccy')
  const attribute = currency === undefined ? '' : ` Ccy="${currency}"`
  let content = ''
  let child = document.firstChild(node)
  if (child === absent) content = escaped(document.textOf(node))
  while (child !== absent) {
    content += copyOf(document, child)
    child = document.nextSibling(child, node)
  }
  return `<${name}${attribute}>${content}</${name}>`
}
