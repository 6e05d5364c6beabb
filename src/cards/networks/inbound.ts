import { CodecError } from '#codecs/bytes'
import {
  type CardMessage,
  createParser,
  type Dialect,
  gatewayMtis,
  readAnswer,
  readMessage,
} from '#codecs/iso8583'
import { isAdvice } from './advices.ts'
import { exchangeKey, isAnswer } from './matching.ts'
import { checkedFields } from './options.ts'

const transmissionField = 7
const stanField = 11
const amountsField = 54
const settlementField = 15
const merchantField = 42
/** Numbers that a network masks are not compared. */
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** Reconciliation: nothing of a card is in it. */
const isOfTotals = (mti: string): boolean => mti.startsWith('05')

/** A message as the code over it was computed, and that code. */
export type SealedBytes = { readonly data: Uint8Array; readonly code: Uint8Array }

/** Reads the messages of one connection, one at a time. */
export class Inbound {
  private readonly parser: ReturnType<typeof createParser>
  private readonly kept: ReadonlySet<number>
  private readonly keyFields: ReadonlySet<number>

  /**
   * @param kept fields of answers that are kept
   * @param keyFields fields of answers to network management that bring keys
   */
  constructor(dialect: Dialect, kept: ReadonlySet<number>, keyFields: ReadonlySet<number>) {
    this.parser = createParser(dialect, checkedFields)
    this.kept = kept
    this.keyFields = keyFields
  }

  /**
   * Undefined for a well-formed message of an unknown type.
   *
   * @throws CodecError for what is no message of the dialect
   */
  read(bytes: Uint8Array, start: number, end: number): CardMessage | undefined {
    this.parser.parse(bytes, start, end)
    try {
      // The answer to a request of network management repeats all its fields.
      const { mti } = this.parser
      if (mti === '0800' || isAdvice(mti) || isOfTotals(mti)) return readMessage(this.parser)
      const answer = readAnswer(this.parser)
      // The card number, to compare with that of the request.
      const pan = this.parser.copy(2)
      if (pan?.every(isDigit) === true) answer.pan = pan
      else pan?.fill(0)
      answer.additionalAmounts = this.latin1Of(amountsField)
      answer.settlementDate = this.latin1Of(settlementField)
      // They find the transaction of a late answer.
      if (answer.rrn === undefined) {
        answer.transmissionDateTime = this.latin1Of(transmissionField)
        answer.merchantId = this.latin1Of(merchantField)
      }
      if (answer.mti === '0810') answer.more = this.copies(this.keyFields)
      else if (this.kept.size > 0) answer.more = this.copies(this.kept)
      return answer
    } catch (error) {
      if (error instanceof CodecError && error.code === 'iso8583_mti_unsupported') return undefined
      throw error
    }
  }

  /** The key of the request that the last message answers, if it can be read. */
  answeredKey(): number | undefined {
    const { parser } = this
    const mti = gatewayMtis.find((one) => one === parser.mti)
    const stan = parser.has(stanField) ? parser.text(stanField) : undefined
    const key = mti !== undefined && isAnswer(mti) ? exchangeKey(mti, stan) : -1
    return key < 0 ? undefined : key
  }

  /** The bytes that the last message's code covers; undefined if its last field is no code. */
  sealed(bytes: Uint8Array, start: number, end: number): SealedBytes | undefined {
    const { parser } = this
    const field = parser.has(128) ? 128 : 64
    const code = parser.copy(field)
    const isLast = parser.offset(field) + parser.view(field).length === end
    if (code === undefined || !isLast) return undefined
    // Bun gives Buffers, whose slice would be cleared with the chunk.
    return { data: new Uint8Array(bytes.subarray(start, parser.offset(field))), code }
  }

  /** Unlike those of the fields that decide, its characters are not checked. */
  private latin1Of(de: number): string | undefined {
    const bytes = this.parser.copy(de)
    return bytes && String.fromCharCode(...bytes)
  }

  private copies(fields: ReadonlySet<number>): Map<number, Uint8Array> {
    const copied = new Map<number, Uint8Array>()
    for (const de of fields) {
      const bytes = this.parser.copy(de)
      if (bytes !== undefined) copied.set(de, bytes)
    }
    return copied
  }
}

/** The TPDU of the answer: destination and source change places. */
export const replyTpdu = (tpdu: Uint8Array): Uint8Array | undefined =>
  tpdu.length === 5 ? Uint8Array.of(tpdu[0]!, tpdu[3]!, tpdu[4]!, tpdu[1]!, tpdu[2]!) : undefined
