import { join } from 'node:path'
import { XMLBuilder } from 'fast-xml-parser'
import {
  buildMessage,
  createMessageScanner,
  createRandomText,
  findMetadata,
  type MessageMetadata,
  ourCatalogue,
  schemaText,
} from '#codecs/iso20022'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { schemaTexts } from '../../codecs/iso20022/catalogue/catalogue.ts'
import { type Figure, type Group, type Mode, median, type Suite, smoke } from '../harness.ts'
import { batchMessage, batchTransactions, overAll, singleMessages } from '../messages.ts'
import { saxesElements } from '../saxes-elements.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const schema = ourCatalogue.schemaOf('pacs.008', '1.13')
if (schema === undefined) throw new Error('no schema')

const repeat = (work: () => number) => (times: number) => {
  let sum = 0
  for (let i = 0; i < times; i++) sum += work()
  return sum
}

/** Reads, validates and extracts; `told` makes the checksum from the places found. */
const judge = (
  told: (found: MessageMetadata, document: XmlDocument) => number,
): ((xml: Uint8Array) => number) => {
  // The gateway's transformation uses the scanner like this.
  const scanner = createMessageScanner(nativeText)
  return (xml) => {
    const document = scanner.scan(xml)
    if (!scanner.validate(schema, document).valid) throw new Error('not valid')
    return told(findMetadata(document), document)
  }
}

const countOf = ({ endToEndIds, amounts, ispbs }: MessageMetadata): number =>
  endToEndIds.length + amounts.length + ispbs.length

/** The texts by which we route and store a message; the sum of their lengths. */
const lengthOf = (found: MessageMetadata, document: XmlDocument): number => {
  let length = document.textOf(found.businessMessageId).length
  for (const node of found.headerIds) length += document.textOf(node).length
  for (const node of found.endToEndIds) length += document.textOf(node).length
  for (const node of found.amounts) length += document.textOf(node).length
  for (const node of found.ispbs) length += document.textOf(node).length
  return length
}

const head = '/m:Envelope/m:AppHdr'
const transaction = '/m:Envelope/m:Document/m:FIToFICstmrCdtTrf/m:CdtTrfTxInf'
/** The paths of the same texts from the root down, which costs libxml2 least. */
const paths = [
  `${head}/m:BizMsgIdr`,
  `${head}/m:Fr/m:FIId/m:FinInstnId/m:Othr/m:Id`,
  `${head}/m:To/m:FIId/m:FinInstnId/m:Othr/m:Id`,
  `${transaction}/m:PmtId/m:EndToEndId`,
  `${transaction}/m:IntrBkSttlmAmt`,
  `${transaction}/m:DbtrAgt/m:FinInstnId/m:ClrSysMmbId/m:MmbId`,
  `${transaction}/m:CdtrAgt/m:FinInstnId/m:ClrSysMmbId/m:MmbId`,
]

/**
 * Throws if the document is not valid by our schemas of message and signature, which are compiled once, as the XPaths
 * are. Only the process of this contender loads it, as its WebAssembly memory would burden the others.
 */
const libxmlJudge = async (): Promise<(xml: Uint8Array) => number> => {
  const { XmlBufferInputProvider, XmlDocument, XmlXPath, XsdValidator, xmlRegisterInputProvider } =
    await import('libxml2-wasm')
  const namespace = 'https://www.bcb.gov.br/pi/pacs.008/1.13'
  const files: Record<string, Uint8Array> = {}
  for (const [file, text] of schemaTexts) files[file] = encoder.encode(text)
  files['message.xsd'] = encoder.encode(schemaText('pacs.008', '1.13') ?? '')
  xmlRegisterInputProvider(new XmlBufferInputProvider(files))
  const whole = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="${namespace}"><xs:include schemaLocation="message.xsd"/><xs:import namespace="http://www.w3.org/2000/09/xmldsig#" schemaLocation="xmldsig.xsd"/></xs:schema>`
  const validator = XsdValidator.fromDoc(XmlDocument.fromString(whole))
  const wanted = paths.map((path) => XmlXPath.compile(path, { m: namespace }))
  return (xml) => {
    const document = XmlDocument.fromBuffer(xml)
    validator.validate(document)
    let length = 0
    for (const path of wanted) {
      for (const node of document.find(path)) length += node.content.length
    }
    document.dispose()
    return length
  }
}

const reading = (): Group => {
  const messages = singleMessages()
  const many = batchMessage()
  const batch = judge(countOf)
  let peer: ((xml: Uint8Array) => number) | undefined
  const ours = 'trilho'
  const ofBatch = `trilho, a transaction of a PAGAGD of ${batchTransactions}`
  const saxes = 'saxes (xmlns), parsed only'
  const oursTold = 'trilho, the extracted texts made'
  const libxml = 'libxml2-wasm, parsed, validated, the same texts'
  return {
    name: `read, validate and extract a signed pacs.008 of ${messages[0]?.length} bytes and others like it`,
    contenders: [
      { name: ours, run: overAll(messages, judge(countOf)) },
      {
        name: ofBatch,
        run: (times) => repeat(() => batch(many))(Math.ceil(times / batchTransactions)),
      },
      { name: saxes, run: overAll(messages, saxesElements) },
      { name: oursTold, run: overAll(messages, judge(lengthOf)) },
      {
        name: libxml,
        run: async (times) => {
          peer ??= await libxmlJudge()
          return overAll(messages, peer)(times)
        },
      },
    ],
    sameWork: [oursTold, libxml],
    goals: [
      { ours, peer: saxes, atLeast: 8 },
      { ours: oursTold, peer: libxml, atLeast: 20 },
      { ours: ofBatch, peer: ours, atLeast: 1 },
    ],
  }
}

const params = {
  local_instrument: 'DICT',
  transactions: [
    {
      amount: 12345,
      purpose: 'IPAY',
      debtor: {
        ispb: '12345678',
        name: 'Conceição & Irmãos',
        document: '12345678909',
        account_num: '500100',
        branch: '0001',
        account_type: 'CACC',
      },
      creditor: {
        ispb: '87654321',
        document: '98765432100',
        account_num: '600200',
        account_type: 'TRAN',
        proxy: 'key@example.com',
      },
      remittance_information: 'Order 42',
    },
  ],
}

const random = createRandomText((bytes) => crypto.getRandomValues(bytes))

const build = (): Uint8Array => {
  const context = { ispb: '12345678', nowMs: Date.now(), random, revision: '5.11.1' } as const
  const built = buildMessage('PACS008', params, context)
  if (!built.ok) throw new Error('refused')
  return built.message.bytes
}

/** The peer takes a tree whose identifiers and texts are ready and checked, and writes the very same document. */
const peerOf = (xml: string): (() => string) => {
  const builder = new XMLBuilder({ ignoreAttributes: false })
  const tree = treeOf(xml)
  const work = (): string => builder.build(tree)
  if (work() !== xml) throw new Error('the peer writes another document')
  return work
}

const building = (): Group => {
  const peer = peerOf(decoder.decode(build()))
  const names = { ours: 'trilho, parameters checked', peer: 'fast-xml-parser, from a ready tree' }
  return {
    name: 'build a pacs.008 of one transaction',
    contenders: [
      { name: names.ours, run: repeat(() => build().length) },
      { name: names.peer, run: repeat(() => encoder.encode(peer()).length) },
    ],
    sameWork: [names.ours, names.peer],
    // A signature takes some hundred times as long: a factor of five is enough to keep the templates plain.
    goals: [{ ...names, atLeast: 5 }],
  }
}

/** The tree for fast-xml-parser's builder. */
const treeOf = (xml: string): object => {
  const document = createXmlScanner().scan(encoder.encode(xml))
  const visit = (node: number): unknown => {
    const value: Record<string, unknown> = {}
    const first = document.firstAttribute(node)
    for (let at = first; at < first + document.attributeCount(node); at++) {
      value[`@_${document.attributeName(at)}`] = document.attributeValue(at)
    }
    let child = document.firstChild(node)
    if (child === -1 && Object.keys(value).length === 0) return document.textOf(node)
    if (child === -1) value['#text'] = document.textOf(node)
    for (; child !== -1; child = document.nextSibling(child, node)) {
      value[document.localName(child)] = visit(child)
    }
    return value
  }
  return {
    '?xml': { '@_version': '1.0', '@_encoding': 'UTF-8' },
    [document.localName(document.root)]: visit(document.root),
  }
}

/** The number that a process of its own prints, the median of several. */
const measured = (what: 'compile' | 'memory', rounds: number): number => {
  const script = join(import.meta.dir, '../servers/schema.ts')
  return median(
    Array.from({ length: rounds }, () => {
      const { stdout, success } = Bun.spawnSync([process.execPath, script, what])
      if (!success) throw new Error(`${what} failed`)
      return Number(stdout.toString())
    }),
  )
}

const figures = async (mode: Mode): Promise<readonly Figure[]> => [
  {
    name: 'the whole catalogue compiles, cold, in',
    value: measured('compile', mode === smoke ? 1 : 9),
    unit: 'ms',
    atMost: 100,
  },
  {
    name: `a validated message of ${batchTransactions} transactions, bytes included, over its bytes`,
    value: measured('memory', mode === smoke ? 1 : 3),
    unit: '×',
    atMost: 3,
  },
]

export const schemaSuite: Suite = {
  name: 'schema',
  groups: () => [reading(), building()],
  figures,
}
