import type { XmlDocument } from '#codecs/xml'
import { identityOfNamespace, type MessageIdentity } from './envelope.ts'
import { messageVocabulary, nameIdOf } from './vocabulary.ts'

/** The nodes that routing and storing a message need, found on the tape; strings are made when asked for. */
export type MessageMetadata = {
  readonly identity: MessageIdentity | undefined
  /** Nodes of `Fr` and `To`'s ids, in this order. */
  readonly headerIds: readonly number[]
  /** Node of `BizMsgIdr`; -1 if there is none. */
  readonly businessMessageId: number
  /** Nodes of EndToEndId and OrgnlEndToEndId, in document order. */
  readonly endToEndIds: readonly number[]
  /** Nodes of the amounts of transactions, in document order, without the parts that an amount consists of. */
  readonly amounts: readonly number[]
  /** Nodes of MmbId: the ISPBs of agents. */
  readonly ispbs: readonly number[]
}

const headerId = 1
const businessId = 2
const endToEndId = 3
const amount = 4
const agentId = 5
const documentName = 6
const part = 7

const roles = new Uint8Array(messageVocabulary.size)
const roleNames: Readonly<Record<string, number>> = {
  Id: headerId,
  BizMsgIdr: businessId,
  EndToEndId: endToEndId,
  OrgnlEndToEndId: endToEndId,
  IntrBkSttlmAmt: amount,
  RtrdIntrBkSttlmAmt: amount,
  InstdAmt: amount,
  Amt: amount,
  MmbId: agentId,
  Document: documentName,
  AdjstmntAmtAndRsn: part,
  Adjstmnt: part,
}
for (const [name, role] of Object.entries(roleNames)) roles[nameIdOf(name)] = role

/**
 * Looks once at each node of a document scanned with {@link messageVocabulary}, and only once for all documents of one
 * shape.
 * @example findMetadata(document).amounts.map((node) => parseCents(document.textOf(node)))
 */
export const findMetadata = (document: XmlDocument): MessageMetadata => {
  const { shape } = document
  if (shape === undefined) return lookedUp(document)
  // The markup alone tells where each stands.
  const known = shape.notes.get(lookedUp) as MessageMetadata | undefined
  if (known !== undefined) return known
  const metadata = lookedUp(document)
  shape.notes.set(lookedUp, metadata)
  return metadata
}

const lookedUp = (document: XmlDocument): MessageMetadata => {
  const { root, endNode } = document
  const headerIds: number[] = []
  const endToEndIds: number[] = []
  const amounts: number[] = []
  const ispbs: number[] = []
  let businessMessageId = -1
  let inHeader = true
  const namespace = document.namespaceId(root)
  for (let node = root + 1; node < endNode; node++) {
    if (!document.isElement(node)) continue
    const role = roles[document.nameId(node)]
    if (!role || document.namespaceId(node) !== namespace) continue
    switch (role) {
      case headerId:
        if (inHeader && businessMessageId === -1) headerIds.push(node)
        break
      case businessId:
        businessMessageId = node
        break
      case endToEndId:
        endToEndIds.push(node)
        break
      case amount:
        // An Amt that only wraps InstdAmt does not count.
        if (document.firstChild(node) === -1) amounts.push(node)
        break
      case agentId:
        if (document.firstChild(node) === -1) ispbs.push(node)
        break
      case documentName:
        inHeader = false
        break
      case part:
        node = document.next(node) - 1
        break
    }
  }
  const identity = identityOfNamespace(document.namespaceUri(root))
  return { identity, headerIds, businessMessageId, endToEndIds, amounts, ispbs }
}
