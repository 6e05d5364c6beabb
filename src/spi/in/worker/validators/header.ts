import { isMessageType, knownVersions, messageDefinitionIdOf, spiIspb } from '#codecs/iso20022'
import { ispbForm } from '#codecs/taxpayer'
import { aheadMsMax, unless, type Validator } from './rule.ts'

const businessIdForm = /^M[0-9A-Z]{8}[a-zA-Z0-9]{23}$/
const dateTimeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** The SPI recognises a repeated message for a day. */
const ageMsMax = 24 * 3_600_000

const header = '/Envelope/AppHdr'

const ispb: Validator = ({ view: { fromIspb = '', toIspb = '' }, ispb: own }) => [
  ...unless(ispbForm.test(fromIspb), 'ISPB', `${header}/Fr`, 'is no ISPB'),
  ...unless(ispbForm.test(toIspb), 'ISPB', `${header}/To`, 'is no ISPB'),
  ...unless(
    [own, spiIspb, ''].includes(toIspb),
    'ISPB',
    `${header}/To`,
    'is neither this institution nor the SPI',
  ),
]

const businessId: Validator = ({ view: { bizMsgIdr = '', fromIspb = '' } }) => {
  const path = `${header}/BizMsgIdr`
  if (!businessIdForm.test(bizMsgIdr)) {
    return unless(false, 'BizMsgIdr', path, 'is not M, ISPB and 23 letters or digits')
  }
  const isSenders = bizMsgIdr.slice(1, 9) === fromIspb
  return unless(isSenders, 'BizMsgIdr', path, 'holds another ISPB than Fr')
}

const creationDate: Validator = ({ view: { createdAt = '' }, nowMs }) => {
  const path = `${header}/CreDt`
  const atMs = Date.parse(createdAt)
  if (!dateTimeForm.test(createdAt) || Number.isNaN(atMs)) {
    return unless(false, 'CreDt', path, 'is no UTC date-time with milliseconds')
  }
  return [
    ...unless(atMs <= nowMs + aheadMsMax, 'CreDt', path, 'lies ahead of our clock'),
    ...unless(atMs >= nowMs - ageMsMax, 'CreDt', path, 'is more than a day old'),
  ]
}

const definition: Validator = ({ view: { definition: found, identity }, learnedVersions }) => {
  const path = `${header}/MsgDefIdr`
  const { type, version } = identity
  const isKnown =
    (isMessageType(type) && knownVersions(type).includes(version)) ||
    learnedVersions.has(`${type} ${version}`)
  return [
    ...unless(isKnown, 'MsgDefIdr', '/Envelope', 'is of a type or version that is not known'),
    ...unless(
      found === messageDefinitionIdOf(identity),
      'MsgDefIdr',
      path,
      'names another type or version than the namespace',
    ),
  ]
}

/** The rules for every message. */
export const headerValidators: readonly Validator[] = [ispb, businessId, creationDate, definition]
