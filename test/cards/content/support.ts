import { type CardMessage, createMessagePacker, createPacker, type Dialect } from '#codecs/iso8583'

/** The message's bytes as hexadecimal digits. */
export const hexOf = (dialect: Dialect, message: CardMessage): string => {
  const out = new Uint8Array(1_024)
  const end = createMessagePacker(createPacker(dialect))(message, out)
  return Buffer.from(out.subarray(0, end)).toString('hex')
}
