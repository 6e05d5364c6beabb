import { createXmlScanner } from '#codecs/xml'
import { firstCharacters } from '#src/platform/runtime/index.ts'
import type { InterfaceProblem } from './types.ts'

const charactersMax = 256
const none: InterfaceProblem = { type: '', title: '', detail: '' }
const scanner = createXmlScanner()

/** RFC 7807 section 4, in XML. Unreadable fields become empty strings: the status alone decides. */
export const problemOf = (body: Uint8Array): InterfaceProblem => {
  try {
    const document = scanner.scan(body)
    const found: Record<string, string> = {}
    for (
      let node = document.firstChild(document.root);
      node >= 0;
      node = document.nextSibling(node, document.root)
    ) {
      found[document.localName(node)] = firstCharacters(document.textOf(node), charactersMax)
    }
    const { type = '', title = '', detail = '' } = found
    return { type, title, detail }
  } catch {
    return none
  }
}
