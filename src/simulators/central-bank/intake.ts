/** Takes stored messages one by one, checks each, and hands it to the part of the bank that deals with its type. */
import { CodecError } from '#codecs/bytes'
import {
  createMessageScanner,
  definitionOf,
  findMetadata,
  isMessageType,
  isPaymentMessageType,
  type MessageMetadata,
  type MessageScanner,
  type MessageType,
  messageDefinitionIdOf,
  ourCatalogue,
  type PaymentMessage,
  type PaymentMessageType,
  readMessage,
  spiIspb,
} from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import { canonicalForm } from '#codecs/xmldsig'
import { nativeText, ownText } from '#src/platform/runtime/index.ts'
import { messageReject, type Refusal } from './drafts.ts'
import type { Channel } from './options.ts'
import type { Origin, PostOffice } from './post-office.ts'
import type { Settlement } from './settlement.ts'
import type { SignatureCheck } from './signatures.ts'
import { bodyOf, childrenOf, nodeAt } from './tree.ts'

/** A message as it was posted. */
export type Stored = {
  readonly ispb: string
  readonly channel: Channel
  readonly resourceId: string
  readonly bytes: Uint8Array
}

/** The types that move no money. */
export type OtherType = Exclude<MessageType, PaymentMessageType>

/** A message of such a type. */
export type OtherMessage = {
  readonly type: OtherType
  readonly version: string
  readonly id: string
  readonly document: XmlDocument
  /** Nodes with the ISPBs of agents. */
  readonly agents: readonly number[]
  readonly origin: Origin
}

/** Messages taken before other events get their turn. */
const turnMessagesMax = 32
/** Places of taken messages that the queue keeps before it moves up. */
const takenKeptMax = 4096

type Identified = {
  readonly type: MessageType
  readonly version: string
  readonly id: string
  readonly metadata: MessageMetadata
}

type IntakeDeps = {
  readonly settlement: Settlement
  readonly post: PostOffice
  readonly validate: boolean
  readonly rememberedMessagesMax: number
  readonly checkSignature: SignatureCheck | undefined
  /** The document is gone when it returns. */
  readonly answerOther: (message: OtherMessage) => void
  /** Debits the sender's token bucket, once the cost of the message is known. */
  readonly debit: (stored: Stored, type: MessageType, operations: number) => void
}

export class Intake {
  private readonly deps: IntakeDeps
  private readonly scanner = createMessageScanner(nativeText)
  private readonly remembered = new Map<string, Origin>()
  /** Messages taken, by type; `refused` with admi.002, `repeated`, `requests` with messages. */
  readonly counts: Record<string, number> = {}
  private queue: Stored[] = []
  private head = 0
  private running = false

  constructor(deps: IntakeDeps) {
    this.deps = deps
  }

  store(messages: readonly Stored[]): void {
    for (const message of messages) this.queue.push(message)
    this.count('requests')
    if (this.running) return
    this.running = true
    setImmediate(() => this.run())
  }

  waiting(): number {
    return this.queue.length - this.head
  }

  private run(): void {
    const end = Math.min(this.queue.length, this.head + turnMessagesMax)
    while (this.head < end) {
      const stored = this.queue[this.head++]
      if (stored !== undefined) this.take(stored)
    }
    this.running = this.head < this.queue.length
    if (!this.running || this.head > takenKeptMax) {
      this.queue = this.queue.slice(this.head)
      this.head = 0
    }
    if (this.running) setImmediate(() => this.run())
  }

  private take(stored: Stored): void {
    let document: XmlDocument
    try {
      document = this.scanner.scan(stored.bytes)
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      const description = `${error.message} (byte ${error.offset})`
      this.refuse(stored, stored.resourceId, { reason: 'xml', description })
      return
    }
    const found = identify(document)
    if ('refusal' in found) this.refuse(stored, found.id ?? stored.resourceId, found.refusal)
    else this.takeIdentified(stored, document, found)
  }

  private takeIdentified(stored: Stored, document: XmlDocument, found: Identified): void {
    const { type, version, id } = found
    const refusal =
      schemaFault(document, found, this.scanner, this.deps) ??
      headerFault(document, found, stored.ispb) ??
      signatureFault(document, stored.ispb, this.deps.checkSignature)
    if (refusal !== undefined) {
      this.refuse(stored, id, refusal)
      return
    }
    const hash = Bun.hash(stored.bytes)
    const origin: Origin = {
      from: ownText(stored.ispb),
      channel: stored.channel,
      hash,
      answers: [],
    }
    if (this.isRepeated(stored, id, origin)) return
    this.count(type)
    if (isPaymentMessageType(type)) {
      this.takeTyped(stored, document, { type, version, id, origin })
      return
    }
    this.deps.debit(stored, type, transfersOf(document))
    this.deps.answerOther({ type, version, id, document, agents: found.metadata.ispbs, origin })
  }

  private takeTyped(
    stored: Stored,
    document: XmlDocument,
    found: {
      readonly type: PaymentMessageType
      readonly version: string
      readonly id: string
      readonly origin: Origin
    },
  ): void {
    const { id, origin } = found
    const reading = readMessage(document, found)
    if (!reading.ok) {
      const [{ message: description, path: location } = { message: '', path: '' }] =
        reading.problems
      this.refuse(stored, id, { reason: 'schema', description, location }, origin)
      return
    }
    const { message } = reading
    this.deps.debit(stored, message.type, message.transactions.length)
    const refusal = this.dispatch(message, document, origin)
    if (refusal !== undefined) this.refuse(stored, id, refusal, origin)
  }

  private dispatch(
    message: PaymentMessage,
    document: XmlDocument,
    origin: Origin,
  ): Refusal | undefined {
    const { settlement } = this.deps
    if (message.type === 'pacs.002') return settlement.answer(message, origin)
    const ids =
      message.type === 'pacs.008'
        ? message.transactions.map(({ endToEndId }) => endToEndId)
        : message.transactions.map(({ returnId }) => returnId)
    const known = settlement.operations()
    if (new Set(ids).size < ids.length || ids.some((id) => known.has(id))) {
      // We may have forgotten its BizMsgIdr; while we know its operations, we recognise the message by them.
      const before = settlement.originOf(ids[0] ?? '')
      if (before === undefined || !isSame(before, origin)) return duplicateOperation
      this.repeat(before, ids)
      return undefined
    }
    const xml = transactionsOf(document, message)
    if (message.type === 'pacs.008') settlement.pay(message, xml, origin)
    else settlement.giveBack(message, xml, origin)
    return undefined
  }

  /** Remembers a new message; answers a repeated one again. @returns whether it is repeated */
  private isRepeated(stored: Stored, id: string, origin: Origin): boolean {
    const { remembered } = this
    const before = remembered.get(id)
    if (before === undefined) {
      remembered.set(ownText(id), origin)
      if (remembered.size > this.deps.rememberedMessagesMax) {
        const [oldest] = remembered
        if (oldest !== undefined) this.forget(...oldest)
      }
      return false
    }
    if (isSame(before, origin)) this.repeat(before)
    else this.refuse(stored, id, { reason: 'duplicate', description: 'BizMsgIdr já utilizado' })
    return true
  }

  /** The book knows what came of its operations; the answers themselves would take ten times the room of the book. */
  private forget(id: string, origin: Origin): void {
    this.remembered.delete(id)
    origin.answers = undefined
  }

  /** @param ids its operations, by which a forgotten message is answered */
  private repeat(before: Origin, ids: readonly string[] = []): void {
    this.count('repeated')
    if (before.answers === undefined) this.deps.settlement.tellAgain(ids)
    else this.deps.post.repeat(before)
  }

  private count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1
  }

  /** @param origin of a message that is remembered: its repetition is refused by it */
  private refuse(
    { ispb, channel }: Stored,
    reference: string,
    refusal: Refusal,
    origin?: Origin,
  ): void {
    this.count('refused')
    const origins = origin === undefined ? [] : [origin]
    this.deps.post.send(ispb, channel, messageReject(reference, refusal), origins)
  }
}

const isSame = (one: Origin, other: Origin): boolean =>
  one.hash === other.hash && one.from === other.from

const duplicateOperation: Refusal = {
  reason: 'duplicate_operation',
  description: 'Identificador de operação já utilizado',
}

/** Book transfers that a trck.002 names; at least one. */
const transfersOf = (document: XmlDocument): number =>
  Math.max(
    1,
    childrenOf(document, nodeAt(document, bodyOf(document), 'TrckrStsAndTx'), 'Tx').length,
  )

/** Each transaction of a message as canonical XML without the message's namespace. */
const transactionsOf = (document: XmlDocument, message: PaymentMessage): readonly string[] => {
  const name = definitionOf(message.type).facts.transaction
  const namespace = document.namespaceUri(document.root)
  const inherited = `<${name} xmlns="${namespace}">`
  const body = document.nextSibling(document.firstChild(document.root), document.root)
  const root = document.firstChild(body)
  const transactions: string[] = []
  let node = document.firstChild(root)
  while (node !== -1) {
    if (document.localName(node) === name) {
      const xml = Buffer.from(canonicalForm(document, node)).toString()
      transactions.push(xml.startsWith(inherited) ? `<${name}>${xml.slice(inherited.length)}` : xml)
    }
    node = document.nextSibling(node, root)
  }
  return transactions
}

const unknownSchema: Refusal = {
  reason: 'schema',
  description: 'Schema desconhecido ou não habilitado para uso',
}

/** The identity that the message states, or why the bank refuses it. */
const identify = (
  document: XmlDocument,
): Identified | { readonly refusal: Refusal; readonly id: string | undefined } => {
  const metadata = findMetadata(document)
  const { identity, businessMessageId } = metadata
  const text = businessMessageId === -1 ? '' : document.textOf(businessMessageId)
  const id = /^M[0-9A-Z]{8}[a-zA-Z0-9]{23}$/.test(text) ? text : undefined
  const isKnown =
    identity !== undefined &&
    isMessageType(identity.type) &&
    ourCatalogue.schemaOf(identity.type, identity.version) !== undefined
  if (!isKnown) return { refusal: unknownSchema, id }
  if (id === undefined) {
    const description = 'BizMsgIdr ausente ou inválido'
    return { refusal: { reason: 'header', description }, id }
  }
  const { type, version } = identity
  return isMessageType(type) ? { type, version, id, metadata } : { refusal: unknownSchema, id }
}

const schemaFault = (
  document: XmlDocument,
  { type, version }: Identified,
  scanner: MessageScanner,
  {
    validate,
    checkSignature,
  }: {
    readonly validate: boolean
    readonly checkSignature: SignatureCheck | undefined
  },
): Refusal | undefined => {
  const schema = validate ? ourCatalogue.schemaOf(type, version) : undefined
  if (schema === undefined) return undefined
  // Without signatures, an empty Sgntr will do, as in the central bank's own examples.
  const violation = scanner
    .validate(schema, document)
    .violations.find(
      ({ path, rule }) =>
        checkSignature !== undefined || rule !== 'missing' || path !== '/Envelope/AppHdr/Sgntr',
    )
  return violation === undefined
    ? undefined
    : {
        reason: 'schema',
        description: `${violation.rule}: ${violation.got}; ${violation.expected}`,
        location: violation.path,
      }
}

const headerFault = (
  document: XmlDocument,
  { type, version, metadata }: Identified,
  ispb: string,
): Refusal | undefined => {
  const [from, to] = metadata.headerIds.map((node) => document.textOf(node))
  if (from !== ispb) {
    return { reason: 'sender', description: 'O ISPB do remetente não é o do participante' }
  }
  if (to !== spiIspb) {
    return { reason: 'recipient', description: `O destinatário deve ser ${spiIspb}` }
  }
  const definition = definitionIn(document, metadata.businessMessageId)
  return definition === messageDefinitionIdOf({ type, version })
    ? undefined
    : { reason: 'header', description: 'MsgDefIdr não corresponde ao schema' }
}

/** MsgDefIdr stands right behind BizMsgIdr. */
const definitionIn = (document: XmlDocument, businessMessageId: number): string => {
  const appHdr = document.firstChild(document.root)
  const node = document.nextSibling(businessMessageId, appHdr)
  return node === -1 ? '' : document.textOf(node)
}

const signatureFault = (
  document: XmlDocument,
  ispb: string,
  check: SignatureCheck | undefined,
): Refusal | undefined => {
  const description = check?.(document, ispb)
  return description === undefined ? undefined : { reason: 'signature', description }
}
