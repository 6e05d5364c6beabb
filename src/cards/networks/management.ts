import type { CardMessage } from '#codecs/iso8583'
import type { Content } from '../content/index.ts'
import { transmissionOf } from '../transactions/stan.ts'
import { managementMessage } from './messages.ts'

/** DE 70, network management information code. */
export const signOn = '001'
export const signOff = '002'
export const echoTest = '301'
/** The codes by which a network ends and begins traffic; the second and third are those of groups and of Visa. */
export const signOns: ReadonlySet<string> = new Set([signOn, '061', '071'])
export const signOffs: ReadonlySet<string> = new Set([signOff, '062', '072'])

/** The business day ends. */
export const cutOver = '201'

const functionNotSupported = '40'
export const approved = '00'

/** An 0800. */
export const managementRequest = (
  content: Content,
  networkCode: string,
  stan: string,
  now: Date,
): CardMessage =>
  managementMessage(content, networkCode, { stan, transmission: transmissionOf(now) })

/**
 * Turns the network's 0800 into its 0810, with all its fields. Refuses key management (DE 70 from 100 to 199), unless a
 * code says what became of its keys: to approve and do nothing would be worse.
 */
export const toManagementAnswer = (request: CardMessage, code?: string): CardMessage => {
  request.mti = '0810'
  request.responseCode =
    code ?? (request.networkCode?.startsWith('1') ? functionNotSupported : approved)
  return request
}

/** The message without what the fields hold. */
export const withoutFields = (message: CardMessage, fields: ReadonlySet<number>): CardMessage => {
  for (const de of fields) {
    message.more?.delete(de)
    if (de === 48) message.additionalData = undefined
  }
  return message
}
