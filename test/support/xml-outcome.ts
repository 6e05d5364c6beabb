import { CodecError } from '#codecs/bytes'
import type { XmlDocument } from '#codecs/xml'

/** All that a document is, or why it is none. */
export const outcomeOf = (scan: (bytes: Uint8Array) => XmlDocument, bytes: Uint8Array): unknown => {
  try {
    const document = scan(bytes)
    const { root, endNode, elementCount, namespaces, isAscii } = document
    const first = document.firstNode
    const nodes = Array.from({ length: endNode - first }, (_, node) =>
      nodeOf(document, first + node),
    )
    return {
      root,
      endNode,
      elementCount,
      namespaces: [...namespaces],
      isAscii,
      nodes,
      text: document.textOf(root),
    }
  } catch (error) {
    if (error instanceof CodecError) return [error.code, error.offset]
    throw error
  }
}

const nodeOf = (document: XmlDocument, node: number): readonly unknown[] => {
  const common = [
    document.kind(node),
    document.start(node),
    document.end(node),
    document.next(node),
  ]
  if (!document.isElement(node)) {
    const text = document.textOf(node)
    return [...common, document.isWhiteSpace(node), document.isPlainText(node), text]
  }
  const name = [document.nameId(node), document.namespaceId(node), document.contentStart(node)]
  return [...common, ...name, document.attributesOf(node).map((at) => attributeOf(document, at))]
}

const attributeOf = (document: XmlDocument, attribute: number): readonly unknown[] => [
  attribute,
  document.attributeStart(attribute),
  document.attributeName(attribute),
  document.attributeNamespaceId(attribute),
  document.isNamespaceDeclaration(attribute),
  document.attributeValueStart(attribute),
  document.attributeValueEnd(attribute),
  document.isPlainAttribute(attribute),
]
