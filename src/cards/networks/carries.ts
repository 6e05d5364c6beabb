import { CodecError } from '#codecs/bytes'
import { type CardMessage, createMessagePacker, createPacker, type Dialect } from '#codecs/iso8583'
import { managementRequest, signOn, toManagementAnswer } from './management.ts'
import { authorizationMessage, captureMessage, reversalMessage } from './messages.ts'
import type { InstallmentMapping } from './options.ts'

/** STAN and response code; without them no answer can be understood. */
const answerFields = [11, 39] as const
const messageBytesMax = 4_096

const subject = {
  ...{ amountCents: 999_999_999_999n, currency: 'BRL', authCode: 'A00001' },
  ...{ stan: '999999', rrn: '999999999999', transmission: '1231235959' },
  ...{ merchantId: 'M'.repeat(15), terminalId: 'T'.repeat(8) },
}
const original = {
  ...{ originalMti: '0200', originalStan: '999999', originalTransmission: '1231235959' },
}

/** The longest message of each kind that the gateway sends, without a card of anybody. */
const samples = (
  dialect: Dialect,
  mapping: InstallmentMapping,
): readonly (readonly [string, CardMessage])[] => {
  const pan = (): Uint8Array => new Uint8Array(19).fill(0x30)
  const installments = mapping === 'refused' ? 1 : 12
  const reversal = { ...subject, ...original, attempts: 0 }
  const hasField = (de: number): boolean => dialect.fields[de] !== undefined
  const management = () => managementRequest(signOn, '999999', new Date(0))
  return [
    ['an authorization', authorizationMessage(pan(), { ...subject, installments })],
    ['a capture', captureMessage(pan(), subject, 1n, subject)],
    ['a reversal', reversalMessage(reversal, subject, pan(), hasField)],
    ['a sign-on', management()],
    ['the answer to an echo test', toManagementAnswer(management())],
  ]
}

/**
 * Sees to it that a dialect can carry whatever the gateway writes, before the first payment needs it. DE 90 may be
 * missing: then DE 37 alone says what a reversal takes back.
 *
 * @throws Error that names the message and the field
 */
export const checkCarries = (dialect: Dialect, mapping: InstallmentMapping): void => {
  const missing = answerFields.find((de) => dialect.fields[de] === undefined)
  if (missing !== undefined) throw new Error(`dialect ${dialect.name} has no field ${missing}`)
  const pack = createMessagePacker(createPacker(dialect))
  for (const [name, message] of samples(dialect, mapping)) {
    try {
      pack(message, new Uint8Array(messageBytesMax))
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      throw new Error(`dialect ${dialect.name} cannot carry ${name}: ${error.message}`)
    }
  }
}
