import { XMLParser } from 'fast-xml-parser'
import { Parser } from 'htmlparser2'
import { XmlDocument as LibxmlDocument } from 'libxml2-wasm'
import { SaxesParser } from 'saxes'
import { messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/native-text/index.ts'
import { layouts } from '../../test/support/layouts.ts'
import { pacs008 } from '../../test/support/messages.ts'
import type { Contender, Group, Suite } from '../harness.ts'

/** As the gateway's transformation uses it. */
const scannerOptions = { vocabulary: messageVocabulary, native: nativeText, reuse: true }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The fields that a payment is made of, as `parent/element` pairs where the name alone is not enough. */
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

const wellFormed = (name: string, xml: Uint8Array): Contender[] => {
  const scanner = createXmlScanner(scannerOptions)
  const repeat = (work: () => number) => (times: number) => {
    let sum = 0
    for (let i = 0; i < times; i++) sum += work()
    return sum
  }
  return [
    { name: 'trilho', run: repeat(() => scanner.scan(xml).elementCount) },
    { name: 'saxes (xmlns)', run: repeat(() => saxesElements(xml)) },
    { name: 'htmlparser2 (xmlMode, no checks)', run: repeat(() => htmlparser2Elements(xml)) },
    { name: 'fast-xml-parser', run: repeat(() => fastXmlLength(xml)) },
    { name: 'libxml2-wasm', run: repeat(() => libxmlLength(xml)) },
  ].map((contender) => ({ ...contender, name: contender.name === '' ? name : contender.name }))
}

const saxesElements = (xml: Uint8Array): number => {
  const parser = new SaxesParser({ xmlns: true })
  let count = 0
  parser.on('opentag', () => {
    count++
  })
  parser.write(decoder.decode(xml)).close()
  return count
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

/** Every field's text, first transaction or not: the sum of their lengths is the checksum. */
const ourFields = (xml: Uint8Array): (() => number) => {
  const scanner = createXmlScanner(scannerOptions)
  const wanted = new Uint8Array(messageVocabulary.size)
  for (const name of fieldNames) wanted[messageVocabulary.idOf(name)] = 1
  const amount = messageVocabulary.idOf('IntrBkSttlmAmt')
  return () => {
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
  const xml = encoder.encode(text)
  const ours = ourFields(xml)
  const repeat = (work: () => number) => (times: number) => {
    let sum = 0
    for (let i = 0; i < times; i++) sum += work()
    return sum
  }
  return {
    name,
    contenders: [
      { name: 'trilho', run: repeat(ours) },
      { name: 'saxes (xmlns)', run: repeat(() => saxesFields(xml)) },
    ],
    sameWork: ['trilho', 'saxes (xmlns)'],
    goals: [{ ours: 'trilho', peer: 'saxes (xmlns)', atLeast }],
  }
}

const scanGroup = (name: string, text: string, atLeast: number): Group => ({
  name,
  contenders: wellFormed(name, encoder.encode(text)),
  sameWork: ['trilho', 'saxes (xmlns)', 'htmlparser2 (xmlMode, no checks)'],
  goals: [{ ours: 'trilho', peer: 'saxes (xmlns)', atLeast }],
})

export const xmlSuite: Suite = {
  name: 'xml',
  groups: () => {
    const one = pacs008()
    const ten = pacs008({ transactions: 10 })
    return [
      scanGroup('scan, 1 transaction, signed', one, 15),
      scanGroup('scan, 10 transactions, signed', ten, 15),
      fieldsGroup('scan and 19 fields, 1 transaction', one, 10),
      fieldsGroup('scan and 19 fields, 10 transactions', ten, 10),
      ...Object.entries(layouts(one)).map(([name, text]) => scanGroup(`scan, ${name}`, text, 6)),
    ]
  },
}
