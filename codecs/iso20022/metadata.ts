import {
  ELEMENT,
  KIND_MASK,
  NODE_NAME,
  NODE_STRIDE,
  type XmlDocument,
  type XmlShape,
} from '#codecs/xml'
import { identityOfNamespace, type MessageIdentity } from './envelope.ts'
import { messageVocabulary, nameIdOf } from './vocabulary.ts'

/** What routing and storing a message needs, found on the tape; texts are made when asked for. */
export type MessageMetadata = {
  readonly identity: MessageIdentity | undefined
  /** Nodes of `Fr` and `To`'s ids, in this order. */
  readonly headerIds: readonly number[]
  /** Node of `BizMsgIdr`; -1 where there is none. */
  readonly businessMessageId: number
  /** Nodes of EndToEndId and OrgnlEndToEndId, in document order. */
  readonly endToEndIds: readonly number[]
  /** Nodes of amounts of transactions, in document order; what one consists of is none. */
  readonly amounts: readonly number[]
  /** Nodes of MmbId: the ISPBs of agents. */
  readonly ispbs: readonly number[]
}

const HEADER_ID = 1
const BUSINESS_ID = 2
const END_TO_END_ID = 3
const AMOUNT = 4
const AGENT_ID = 5
const DOCUMENT = 6
const PART = 7

const roles = new Uint8Array(messageVocabulary.size)
const roleNames: Readonly<Record<string, number>> = {
  Id: HEADER_ID,
  BizMsgIdr: BUSINESS_ID,
  EndToEndId: END_TO_END_ID,
  OrgnlEndToEndId: END_TO_END_ID,
  IntrBkSttlmAmt: AMOUNT,
  RtrdIntrBkSttlmAmt: AMOUNT,
  InstdAmt: AMOUNT,
  Amt: AMOUNT,
  MmbId: AGENT_ID,
  Document: DOCUMENT,
  AdjstmntAmtAndRsn: PART,
  Adjstmnt: PART,
}
for (const [name, role] of Object.entries(roleNames)) roles[nameIdOf(name)] = role

/** Where it stands follows from the markup alone. */
const known = new WeakMap<XmlShape, MessageMetadata>()

/**
 * One look at each node of a document scanned with {@link messageVocabulary}; builds no objects of it. Once for all
 * documents of one shape.
 */
export const findMetadata = (document: XmlDocument): MessageMetadata => {
  const { shape } = document
  if (shape === undefined) return lookedUp(document)
  const found = known.get(shape)
  if (found !== undefined) return found
  const metadata = lookedUp(document)
  known.set(shape, metadata)
  return metadata
}

const lookedUp = (document: XmlDocument): MessageMetadata => {
  const { nodes, root, endNode } = document
  const headerIds: number[] = []
  const endToEndIds: number[] = []
  const amounts: number[] = []
  const ispbs: number[] = []
  let businessMessageId = -1
  let inHeader = true
  for (let node = root + 1, at = node * NODE_STRIDE; node < endNode; node++, at += NODE_STRIDE) {
    if (((nodes[at] as number) & KIND_MASK) !== ELEMENT) continue
    switch (roles[nodes[at + NODE_NAME] as number]) {
      case HEADER_ID:
        if (inHeader && businessMessageId === -1) headerIds.push(node)
        break
      case BUSINESS_ID:
        businessMessageId = node
        break
      case END_TO_END_ID:
        endToEndIds.push(node)
        break
      case AMOUNT:
        // An Amt that only wraps InstdAmt is none.
        if (document.firstChild(node) === -1) amounts.push(node)
        break
      case AGENT_ID:
        if (document.firstChild(node) === -1) ispbs.push(node)
        break
      case DOCUMENT:
        inHeader = false
        break
      case PART: {
        const last = document.next(node) - 1
        at += (last - node) * NODE_STRIDE
        node = last
        break
      }
    }
  }
  const identity = identityOfNamespace(document.namespaceUri(root))
  return { identity, headerIds, businessMessageId, endToEndIds, amounts, ispbs }
}
