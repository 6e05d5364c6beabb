import { absent, type XmlDocument } from '#codecs/xml'
import { layout } from './layout.ts'
import type { MessageReader } from './reader.ts'

/** The SPI's own ISPB: every message of a participant goes to it, every message received comes from it. */
export const spiIspb = '00038166'

/** The business application header, `AppHdr`, as the SPI restricts head.001. */
export type BusinessHeader = {
  readonly fromIspb: string
  readonly toIspb: string
  readonly businessMessageId: string
  readonly messageDefinitionId: string
  readonly creationDateTime: string
  /** True if `Sgntr` holds a signature, valid or not. */
  readonly signed: boolean
}

/** The message type and version that a namespace names: `https://www.bcb.gov.br/pi/pacs.008/1.13`. */
export type MessageIdentity = {
  readonly type: string
  readonly version: string
}

const namespacePrefix = 'https://www.bcb.gov.br/pi/'
const typeLength = 'pacs.008'.length
const typeForm = /^[a-z]{4}\.\d{3}$/
const versionForm = /^\d{1,3}\.\d{1,3}$/

/**
 * Undefined for a namespace outside the SPI.
 *
 * @example identityOfNamespace('https://www.bcb.gov.br/pi/pacs.008/1.13')
 * // { type: 'pacs.008', version: '1.13' }
 */
export const identityOfNamespace = (namespaceUri: string): MessageIdentity | undefined => {
  const typeEnd = namespacePrefix.length + typeLength
  if (!namespaceUri.startsWith(namespacePrefix) || namespaceUri[typeEnd] !== '/') return undefined
  const type = namespaceUri.slice(namespacePrefix.length, typeEnd)
  const version = namespaceUri.slice(typeEnd + 1)
  return typeForm.test(type) && versionForm.test(version) ? { type, version } : undefined
}

/**
 * The namespace of a type and version.
 *
 * @example namespaceOf({ type: 'pacs.008', version: '1.13' }) // 'https://www.bcb.gov.br/pi/pacs.008/1.13'
 */
export const namespaceOf = ({ type, version }: MessageIdentity): string =>
  `${namespacePrefix}${type}/${version}`

const definitionInfix = '.spi.'

/**
 * What `MsgDefIdr` must hold: `pacs.008.spi.1.13`.
 *
 * @example messageDefinitionIdOf({ type: 'pacs.008', version: '1.13' }) // 'pacs.008.spi.1.13'
 */
export const messageDefinitionIdOf = ({ type, version }: MessageIdentity): string =>
  type + definitionInfix + version

/**
 * Whether a `MsgDefIdr` is that of this type and version.
 *
 * @example isDefinitionOf('pacs.008.spi.1.13', { type: 'pacs.008', version: '1.13' }) // true
 */
export const isDefinitionOf = (text: string, { type, version }: MessageIdentity): boolean =>
  text.length === type.length + definitionInfix.length + version.length &&
  text.startsWith(type) &&
  text.startsWith(definitionInfix, type.length) &&
  text.endsWith(version)

const envelope = layout(
  'AppHdr(Fr/FIId/FinInstnId/Othr/Id To/FIId/FinInstnId/Othr/Id BizMsgIdr MsgDefIdr CreDt Sgntr?) Document',
)
const from = envelope.at('AppHdr/Fr/FIId/FinInstnId/Othr/Id')
const to = envelope.at('AppHdr/To/FIId/FinInstnId/Othr/Id')
const businessMessageId = envelope.at('AppHdr/BizMsgIdr')
const definition = envelope.at('AppHdr/MsgDefIdr')
const created = envelope.at('AppHdr/CreDt')
const signature = envelope.at('AppHdr/Sgntr')
const documentItem = envelope.at('Document')

/** The header of a message, and the node of its `Document`. */
export const readEnvelope = (
  reader: MessageReader,
  document: XmlDocument,
): { readonly header: BusinessHeader; readonly document: number } => {
  const found = reader.find(document.root, envelope)
  const signatureNode = found[signature] ?? absent
  return {
    document: found[documentItem] ?? absent,
    header: {
      fromIspb: reader.text(found[from]),
      toIspb: reader.text(found[to]),
      businessMessageId: reader.text(found[businessMessageId]),
      messageDefinitionId: reader.text(found[definition]),
      creationDateTime: reader.text(found[created]),
      signed: signatureNode !== absent && document.firstChild(signatureNode) !== absent,
    },
  }
}

/** As {@link readEnvelope}, but reads only `MsgDefIdr` of the header. */
export const readDefinition = (
  reader: MessageReader,
  document: XmlDocument,
): { readonly messageDefinitionId: string; readonly document: number } => {
  const found = reader.find(document.root, envelope)
  return {
    messageDefinitionId: reader.text(found[definition]),
    document: found[documentItem] ?? absent,
  }
}
