import { ABSENT, type XmlDocument } from '#codecs/xml'
import { chain, type MessageReader, shape } from './reader.ts'

/** The SPI's own ISPB: every message of a participant goes to it, every message received comes from it. */
export const spiIspb = '00038166'

/** The business application header, `AppHdr`, as the SPI restricts head.001. */
export type BusinessHeader = {
  readonly fromIspb: string
  readonly toIspb: string
  readonly businessMessageId: string
  readonly messageDefinitionId: string
  readonly creationDateTime: string
  /** True where `Sgntr` holds a signature; says nothing about its validity. */
  readonly signed: boolean
}

/** The message type and version that a namespace names: `https://www.bcb.gov.br/pi/pacs.008/1.13`. */
export type MessageIdentity = {
  readonly type: string
  readonly version: string
}

const namespacePrefix = 'https://www.bcb.gov.br/pi/'
const typeAndVersion = /^([a-z]{4}\.\d{3})\/(\d{1,3}\.\d{1,3})$/

/** Those met so far: the same few namespaces come again and again. */
const identities = new Map<string, MessageIdentity>()
const identitiesMax = 256

/** Undefined for a namespace that is none of the SPI's. */
export const identityOfNamespace = (namespaceUri: string): MessageIdentity | undefined => {
  const known = identities.get(namespaceUri)
  if (known !== undefined) return known
  if (!namespaceUri.startsWith(namespacePrefix)) return undefined
  const match = typeAndVersion.exec(namespaceUri.slice(namespacePrefix.length))
  if (match === null) return undefined
  const identity = { type: match[1] ?? '', version: match[2] ?? '' }
  if (identities.size < identitiesMax) identities.set(namespaceUri, identity)
  return identity
}

export const namespaceOf = ({ type, version }: MessageIdentity): string => {
  return `${namespacePrefix}${type}/${version}`
}

/** What `MsgDefIdr` must hold: `pacs.008.spi.1.13`. */
export const messageDefinitionIdOf = ({ type, version }: MessageIdentity): string => {
  return `${type}.spi.${version}`
}

const envelopeShape = shape('AppHdr Document')
const headerShape = shape('Fr To BizMsgIdr MsgDefIdr CreDt Sgntr?')
const ispbPath = chain('FIId/FinInstnId/Othr/Id')

/** The header of a message, and the node of its `Document`. */
export const readEnvelope = (
  reader: MessageReader,
  document: XmlDocument,
): { readonly header: BusinessHeader; readonly document: number } => {
  const [appHdr = ABSENT, documentNode = ABSENT] = reader.slots(document.root, envelopeShape)
  const [from, to, businessMessageId, definition, created, signature = ABSENT] = reader.slots(
    appHdr,
    headerShape,
  )
  return {
    document: documentNode,
    header: {
      fromIspb: reader.leaf(from, ispbPath),
      toIspb: reader.leaf(to, ispbPath),
      businessMessageId: reader.text(businessMessageId),
      messageDefinitionId: reader.text(definition),
      creationDateTime: reader.text(created),
      signed: signature !== ABSENT && document.firstChild(signature) !== ABSENT,
    },
  }
}
