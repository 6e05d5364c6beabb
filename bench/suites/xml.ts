import { XMLParser } from 'fast-xml-parser'
import { Parser } from 'htmlparser2'
import { XmlDocument as LibxmlDocument } from 'libxml2-wasm'
import { SaxesParser } from 'saxes'
import { messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { layouts } from '../../test/support/layouts.ts'
import { pacs008 } from '../../test/support/messages.ts'
import type { Contender, Group, Suite } from '../harness.ts'
import { overAll, varied } from '../messages.ts'
import { goalsAgainst, nodePeer, nodeTimes } from '../peers/program.ts'
import { saxesElements } from '../saxes-elements.ts'

/** The gateway's transformation uses the scanner like this. */
const scannerOptions = { vocabulary: messageVocabulary, native: nativeText, reuse: true }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The fields of a payment, as `parent/element` pairs if the name alone is not enough. */
const fieldNames = [
  'BizMsgIdr',
  'MsgDefIdr',
  'CreDt',
  'MsgId',
  'CreDtTm',
  'NbOfTxs',
  'SttlmMtd',
  'InstrPrty',
  'EndToEndId',
  'IntrBkSttlmAmt',
  'AccptncDtTm',
  'ChrgBr',
  'Nm',
  'MmbId',
  'Issr',
  'Cd',
  'Ustrd',
  'Prtry',
] as const
/** Eighteen elements and the attribute Ccy: nineteen fields. */
const fields = new Set<string>(fieldNames)

const wellFormed = (texts: readonly string[]): Contender[] => {
  const messages = texts.map((text) => encoder.encode(text))
  const run = (work: (xml: Uint8Array) => number) => overAll(messages, work)
  const scanner = createXmlScanner(scannerOptions)
  // This one learns no shapes, so it shows the cost of a message whose shape is new.
  const unlearned = createXmlScanner({ ...scannerOptions, reuse: false })
  return [
    { name: 'trilho', run: run((xml) => scanner.scan(xml).elementCount) },
    { name: 'trilho, shape unknown', run: run((xml) => unlearned.scan(xml).elementCount) },
    { name: 'saxes (xmlns)', run: run(saxesElements) },
    { name: 'htmlparser2 (xmlMode, no checks)', run: run(htmlparser2Elements) },
    { name: 'fast-xml-parser', run: run(fastXmlLength) },
    { name: 'libxml2-wasm', run: run(libxmlLength) },
  ]
}

const htmlparser2Elements = (xml: Uint8Array): number => {
  let count = 0
  const parser = new Parser(
    {
      onopentag: () => {
        count++
      },
    },
    { xmlMode: true },
  )
  parser.end(decoder.decode(xml))
  return count
}

const fastXml = new XMLParser({ ignoreAttributes: false })
const fastXmlLength = (xml: Uint8Array): number =>
  Object.keys(fastXml.parse(decoder.decode(xml)) as object).length

const libxmlLength = (xml: Uint8Array): number => {
  const document = LibxmlDocument.fromBuffer(xml)
  const { length } = document.root.name
  document.dispose()
  return length
}

/** Reads the text of every field, in any transaction; the sum of the lengths is the checksum. */
const ourFields = (): ((xml: Uint8Array) => number) => {
  const scanner = createXmlScanner(scannerOptions)
  const wanted = new Uint8Array(messageVocabulary.size)
  for (const name of fieldNames) wanted[messageVocabulary.idOf(name)] = 1
  const amount = messageVocabulary.idOf('IntrBkSttlmAmt')
  return (xml) => {
    const document = scanner.scan(xml)
    let sum = 0
    for (let node = document.firstNode; node < document.endNode; node++) {
      const id = document.nameId(node)
      if (id < 0 || wanted[id] !== 1) continue
      sum += document.textOf(node).length
      if (id === amount) sum += document.attribute(node, 'Ccy')?.length ?? 0
    }
    return sum
  }
}

const saxesFields = (xml: Uint8Array): number => {
  const parser = new SaxesParser({ xmlns: true })
  let sum = 0
  let text = ''
  parser.on('opentag', ({ local, attributes }) => {
    text = ''
    if (local === 'IntrBkSttlmAmt') sum += attributes['Ccy']?.value.length ?? 0
  })
  parser.on('text', (chunk) => {
    text += chunk
  })
  parser.on('cdata', (chunk) => {
    text += chunk
  })
  parser.on('closetag', ({ local }) => {
    if (fields.has(local)) sum += text.length
    text = ''
  })
  parser.write(decoder.decode(xml)).close()
  return sum
}

const fieldsGroup = (name: string, text: string, atLeast: number): Group => {
  const messages = varied(text).map((one) => encoder.encode(one))
  return {
    name,
    contenders: [
      { name: 'trilho', run: overAll(messages, ourFields()) },
      { name: 'saxes (xmlns)', run: overAll(messages, saxesFields) },
    ],
    sameWork: ['trilho', 'saxes (xmlns)'],
    goals: [{ ours: 'trilho', peer: 'saxes (xmlns)', atLeast }],
  }
}

/** The goal for a document in any legal layout, or the first of its kind. */
const anyLayoutAtLeast = 6

const scanGroup = (name: string, texts: readonly string[], atLeast: number): Group => {
  const inNode = nodePeer('saxes', () => texts.map((text) => encoder.encode(text)))
  return {
    name,
    contenders: [...wellFormed(texts), ...inNode],
    sameWork: [
      'trilho',
      'trilho, shape unknown',
      'saxes (xmlns)',
      'htmlparser2 (xmlMode, no checks)',
      ...inNode.map((peer) => peer.name),
    ],
    goals: [
      { ours: 'trilho', peer: 'saxes (xmlns)', atLeast },
      { ours: 'trilho, shape unknown', peer: 'saxes (xmlns)', atLeast: anyLayoutAtLeast },
      ...goalsAgainst(inNode, 'trilho', atLeast / nodeTimes),
    ],
  }
}

export const xmlSuite: Suite = {
  name: 'xml',
  groups: () => {
    const one = pacs008()
    const ten = pacs008({ transactions: 10 })
    const inLayout = (name: string): readonly string[] =>
      varied(one).map((text) => layouts(text)[name] ?? '')
    return [
      scanGroup('scan, 1 transaction, signed', varied(one), 15),
      scanGroup('scan, 10 transactions, signed', varied(ten), 15),
      fieldsGroup('scan and 19 fields, 1 transaction', one, 10),
      fieldsGroup('scan and 19 fields, 10 transactions', ten, 10),
      ...Object.keys(layouts(one)).map((name) =>
        scanGroup(`scan, ${name}`, inLayout(name), anyLayoutAtLeast),
      ),
    ]
  },
}
