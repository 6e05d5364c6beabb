import {
  type MessageType,
  messageVocabulary,
  ourCatalogue,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { generateMessage } from '../../support/generated-messages.ts'
import { createRandom } from '../../support/mutations.ts'
import type { Received } from '../../support/participant.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const random = createRandom(7)
let sent = 0

/** A valid message of that type, from us, its content left to chance. */
export const generated = (
  type: MessageType,
  version: string,
  from: string,
  body?: (id: string) => string,
): Uint8Array => {
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema of ${type} ${version}`)
  const party = (ispb: string) =>
    `<FIId><FinInstnId><Othr><Id>${ispb}</Id></Othr></FinInstnId></FIId>`
  const id = `M${from}${String(sent++).padStart(23, '0')}`
  let content = generateMessage(schema, random)
  // Two adjustments of one reason are the one thing a walk through a schema cannot avoid.
  while (!validateDocument(schema, scanner.scan(Buffer.from(content))).valid) {
    content = generateMessage(schema, random)
  }
  const xml = content
    .replace(/<Fr>.*?<\/Fr>/, `<Fr>${party(from)}</Fr>`)
    .replace(/<To>.*?<\/To>/, `<To>${party('00038166')}</To>`)
    .replace(/<BizMsgIdr>.*?<\/BizMsgIdr>/, `<BizMsgIdr>${id}</BizMsgIdr>`)
    .replace(/<MsgDefIdr>.*?<\/MsgDefIdr>/, `<MsgDefIdr>${type}.spi.${version}</MsgDefIdr>`)
  return Buffer.from(body === undefined ? xml : xml.replace(/<Document>.*<\/Document>/s, body(id)))
}

/** What the schema has against a message, but for a signature that is not there. */
export const violations = ({ bytes, xml }: Received) => {
  const [, type = '', version = ''] = /xmlns="[^"]*\/pi\/([^/"]*)\/([^"]*)"/.exec(xml) ?? []
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema of ${type} ${version}`)
  return validateDocument(schema, scanner.scan(bytes)).violations.filter(
    ({ path, rule }) => !(rule === 'missing' && path === '/Envelope/AppHdr/Sgntr'),
  )
}
