import { CodecError } from '#codecs/bytes'
import { attributeStride, nodeStride, type XmlDocument } from '#codecs/xml'

/** All that a document is, or why it is none. */
export const outcomeOf = (scan: (bytes: Uint8Array) => XmlDocument, bytes: Uint8Array): unknown => {
  try {
    const document = scan(bytes)
    const { root, endNode, elementCount, namespaces, isAscii } = document
    let attributes = 0
    for (let node = root; node < endNode; node++) {
      attributes += document.kind(node) === 1 ? document.attributeCount(node) : 0
    }
    return {
      root,
      endNode,
      elementCount,
      namespaces: [...namespaces],
      isAscii,
      nodes: [...document.nodes.subarray(0, endNode * nodeStride)],
      attributes: [...document.attributes.subarray(0, attributes * attributeStride)],
      text: document.textOf(root),
    }
  } catch (error) {
    if (error instanceof CodecError) return [error.code, error.offset]
    throw error
  }
}
