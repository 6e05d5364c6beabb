import { randomBytes } from 'node:crypto'
import { spiIspb } from '#codecs/iso20022'

const idRandomBytes = 16
const poolBytes = 16_384

/** Ids of one bank: unique across restarts by a random part, within it by a counter. */
export const createIdentifiers = (now: () => number) => {
  const start = randomBytes(8).toString('hex').slice(0, 15)
  const tail = randomBytes(4).toString('hex').slice(0, 5)
  let messages = 0
  let payments = 0
  let pool = randomBytes(poolBytes)
  let used = 0
  const timed = (letter: string, ispb: string): string => {
    const minute = new Date(now()).toISOString().slice(0, 16).replace(/[-T:]/g, '')
    return `${letter}${ispb}${minute}${tail}${(payments++).toString(36).padStart(6, '0')}`
  }

  return {
    /** BizMsgIdr and MsgId of the bank's next message. */
    messageId: (): string => `M${spiIspb}${start}${(messages++).toString(36).padStart(8, '0')}`,
    /** `PI`, the milliseconds as 48 bits, 16 random bytes; in base64. */
    resourceId: (): string => {
      if (used === poolBytes) {
        pool = randomBytes(poolBytes)
        used = 0
      }
      const id = Buffer.allocUnsafe(24)
      id.write('PI', 'latin1')
      id.writeUIntBE(now(), 2, 6)
      pool.copy(id, 8, used, used + idRandomBytes)
      used += idRandomBytes
      return id.toString('base64')
    },
    /** EndToEndId of a payment that a participant starts now. */
    endToEndId: (ispb: string): string => timed('E', ispb),
    /** RtrId of a return that a participant starts now. */
    returnId: (ispb: string): string => timed('D', ispb),
    /** The id of a thing that lasts for days: the letters tell its kind. */
    dated: (letters: string, ispb: string): string => {
      const day = new Date(now()).toISOString().slice(0, 10).replaceAll('-', '')
      return `${letters}${ispb}${day}${tail}${(payments++).toString(36).padStart(6, '0')}`
    },
  }
}

export type Identifiers = ReturnType<typeof createIdentifiers>
