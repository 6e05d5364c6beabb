import { CodecError } from '#codecs/bytes'
import {
  definitionOf,
  identifyMessage,
  type MessageIdentity,
  messageTypes,
  messageVocabulary,
  nameIdOf,
  parseCents,
} from '#codecs/iso20022'
import { absent, type XmlDocument } from '#codecs/xml'
import { firstCharacters } from '#src/platform/runtime/index.ts'
import { amountCentsMax, type MessageTransaction } from './domain.ts'

/** One transaction of a message of any type; a field that the type lacks is undefined. */
export type TransactionView = Required<Omit<MessageTransaction, 'refusal' | 'settledAt'>> & {
  /** When the SPI settled it, by its own clock. */
  readonly settlementMoment: string | undefined
  /** BizMsgIdr of the message that this transaction answers, if the type names it. */
  readonly reference: string | undefined
  /** XPath. */
  readonly path: string
}

/** What we need of a message to store, route and answer it, whatever its type and however broken it is. */
export type MessageView = {
  readonly identity: MessageIdentity
  readonly fromIspb: string | undefined
  readonly toIspb: string | undefined
  readonly bizMsgIdr: string | undefined
  readonly definition: string | undefined
  readonly createdAt: string | undefined
  /** NbOfTxs. */
  readonly declaredCount: string | undefined
  /** BizMsgIdr or PI-ResourceId of the message that this one answers as a whole. */
  readonly reference: string | undefined
  /** Status of the answer as a whole, and its reason. */
  readonly status: string | undefined
  readonly reason: string | undefined
  readonly transactions: readonly TransactionView[]
}

/** We ignore an id that is longer: it would not fit an index. */
export const idCharsMax = 64
const reasonCharsMax = 35

type Field =
  | 'endToEndId'
  | 'instructionId'
  | 'amount'
  | 'status'
  | 'reason'
  | 'reference'
  | 'settlementMoment'
  | 'debtorIspb'
  | 'creditorIspb'
  | 'bizMsgIdr'
  | 'definition'
  | 'createdAt'
  | 'declaredCount'

/** A leaf with this name holds the field. */
const leaves: Readonly<Record<string, Field>> = {
  BizMsgIdr: 'bizMsgIdr',
  MsgDefIdr: 'definition',
  CreDt: 'createdAt',
  NbOfTxs: 'declaredCount',
  EndToEndId: 'endToEndId',
  OrgnlEndToEndId: 'endToEndId',
  InstrId: 'instructionId',
  RtrId: 'instructionId',
  OrgnlInstrId: 'instructionId',
  PmtInfId: 'instructionId',
  OrgnlPmtInfId: 'instructionId',
  OrgnlPmtInfCxlId: 'instructionId',
  PmtCxlId: 'instructionId',
  PrtryId: 'instructionId',
  IntrBkSttlmAmt: 'amount',
  RtrdIntrBkSttlmAmt: 'amount',
  InstdAmt: 'amount',
  Amt: 'amount',
  TxSts: 'status',
  PmtInfCxlSts: 'status',
  Sts: 'status',
  RjctgPtyRsn: 'reason',
}

/** Within an element with this name, a leaf with one of those names holds the field. */
const scopes: Readonly<Record<string, readonly [field: Field, leaves: readonly string[]]>> = {
  DbtrAgt: ['debtorIspb', ['MmbId']],
  CdtrAgt: ['creditorIspb', ['MmbId']],
  Sts: ['status', ['Cd']],
  StsRsnInf: ['reason', ['Cd', 'Prtry']],
  StsRsn: ['reason', ['Cd', 'Prtry']],
  RtrRsnInf: ['reason', ['Cd']],
  CxlStsRsnInf: ['reason', ['Prtry']],
  FctvIntrBkSttlmDt: ['settlementMoment', ['DtTm']],
  OrgnlMsgId: ['reference', ['MsgId']],
  OrgnlBizInstr: ['reference', ['MsgId']],
  RltdRef: ['reference', ['Ref']],
}

type Fields = { [F in Field]?: string }

const perName = <T>(entries: Readonly<Record<string, T>>): (T | undefined)[] => {
  const table: (T | undefined)[] = new Array(messageVocabulary.size).fill(undefined)
  for (const [name, value] of Object.entries(entries)) table[nameIdOf(name)] = value
  return table
}

const leafFields = perName(leaves)
const scopeFields = perName(
  Object.fromEntries(
    Object.entries(scopes).map(([name, [field, names]]) => [
      name,
      { field, names: names.map(nameIdOf) },
    ]),
  ),
)
/** The element that repeats per transaction, by type. */
const containerIds: ReadonlyMap<string, number> = new Map(
  messageTypes.flatMap((type): readonly [string, number][] => {
    const { transaction } = definitionOf(type).facts
    return transaction === null ? [] : [[type, nameIdOf(transaction)]]
  }),
)
const nameIds = {
  from: nameIdOf('Fr'),
  to: nameIdOf('To'),
  header: nameIdOf('AppHdr'),
  id: nameIdOf('Id'),
}

/**
 * Visits each node of a document once; it must be scanned with the codec's vocabulary.
 *
 * @returns undefined if the document is not an SPI message
 */
export const viewMessage = (document: XmlDocument): MessageView | undefined => {
  const identity = identifyMessage(document)
  if (identity === undefined) return undefined
  const whole: Fields = {}
  const transactions: { readonly fields: Fields; readonly node: number }[] = []
  const container = containerIds.get(identity.type) ?? absent
  // Elements of another namespace say nothing, whatever they are called.
  const namespace = document.namespaceId(document.root)
  let current = whole
  let currentEnd = 0
  let scope: { readonly field: Field; readonly names: readonly number[] } | undefined
  let scopeEnd = 0
  for (let node = document.root + 1; node < document.endNode; node++) {
    if (!document.isElement(node)) continue
    if (node >= currentEnd) current = whole
    if (node >= scopeEnd) scope = undefined
    const name = document.nameId(node)
    if (name === container && current === whole && document.namespaceId(node) === namespace) {
      current = {}
      currentEnd = document.next(node)
      transactions.push({ fields: current, node })
      continue
    }
    if (document.firstChild(node) !== absent) {
      const opened = scopeFields[name]
      if (opened !== undefined && scope === undefined) {
        scope = opened
        scopeEnd = document.next(node)
      }
      continue
    }
    const field = scope?.names.includes(name) === true ? scope.field : leafFields[name]
    if (field === undefined || current[field] !== undefined) continue
    if (document.namespaceId(node) === namespace) current[field] = document.textOf(node)
  }
  return {
    identity,
    ...headerIspbs(document),
    bizMsgIdr: bounded(whole.bizMsgIdr),
    definition: bounded(whole.definition),
    createdAt: bounded(whole.createdAt),
    declaredCount: bounded(whole.declaredCount),
    reference: bounded(whole.reference),
    status: bounded(whole.status),
    reason: whole.reason && firstCharacters(whole.reason, reasonCharsMax),
    transactions: transactions.map(({ fields, node }, index) =>
      transactionView(fields, `//${document.localName(node)}[${index + 1}]`),
    ),
  }
}

const transactionView = (fields: Fields, path: string): TransactionView => ({
  endToEndId: bounded(fields.endToEndId),
  instructionId: bounded(fields.instructionId),
  amountCents: centsOf(fields.amount),
  debtorIspb: bounded(fields.debtorIspb),
  creditorIspb: bounded(fields.creditorIspb),
  status: bounded(fields.status),
  reason: fields.reason && firstCharacters(fields.reason, reasonCharsMax),
  settlementMoment: bounded(fields.settlementMoment),
  reference: bounded(fields.reference),
  path,
})

/** Returns the one `Id` in `Fr` and the one in `To`. */
const headerIspbs = (document: XmlDocument): Pick<MessageView, 'fromIspb' | 'toIspb'> => {
  const header = childOf(document, document.root, nameIds.header)
  return {
    fromIspb: bounded(idIn(document, childOf(document, header, nameIds.from))),
    toIspb: bounded(idIn(document, childOf(document, header, nameIds.to))),
  }
}

const childOf = (document: XmlDocument, parent: number, name: number): number => {
  if (parent === absent) return absent
  const namespace = document.namespaceId(parent)
  let child = document.firstChild(parent)
  while (
    child !== absent &&
    (document.nameId(child) !== name || document.namespaceId(child) !== namespace)
  ) {
    child = document.nextSibling(child, parent)
  }
  return child
}

const idIn = (document: XmlDocument, party: number): string | undefined => {
  if (party === absent) return undefined
  for (let node = party + 1; node < document.next(party); node++) {
    if (document.isElement(node) && document.nameId(node) === nameIds.id) {
      return document.textOf(node)
    }
  }
  return undefined
}

const bounded = (text: string | undefined): string | undefined =>
  text !== undefined && text !== '' && text.length <= idCharsMax ? text : undefined

/** Undefined, too, for what the schema allows and no table holds. */
const centsOf = (amount: string | undefined): bigint | undefined => {
  if (amount === undefined) return undefined
  try {
    const cents = parseCents(amount)
    return cents <= amountCentsMax ? cents : undefined
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}
