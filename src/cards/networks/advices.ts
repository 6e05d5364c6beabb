import {
  CardMessage,
  createFieldSetter,
  frameBytesMaxDefault,
  type GatewayMti,
} from '#codecs/iso8583'
import type { ConnectionContext } from './connection-context.ts'
import type { SealedBytes } from './inbound.ts'
import { checkedFields } from './options.ts'
import { createSealer, type Sealer } from './sealing.ts'
import { answerSealed, isSealedRight } from './secured.ts'
import type { AdviceReply } from './types.ts'

/** What a network tells of its own accord, and repeats until it is answered. */
const answers: Readonly<Record<string, GatewayMti | undefined>> = {
  '0120': '0130',
  '0121': '0130',
  '0220': '0230',
  '0221': '0230',
  '0500': '0510',
  '0501': '0510',
  '0520': '0530',
  '0521': '0530',
  '0420': '0430',
  '0421': '0430',
  '0620': '0630',
  '0621': '0630',
}

export const isAdvice = (mti: string): boolean => answers[mti] !== undefined

/** Advices of one connection that may wait for the database, which takes a few at once; the network repeats others. */
const advicesMax = 64

type Context = Pick<
  ConnectionContext,
  'options' | 'keys' | 'onAdvice' | 'onRightCode' | 'onWrongCode' | 'onUnverified'
>

/** Answers the advices of one connection, each when it is kept. */
export class Advices {
  private readonly context: Context
  private readonly sealer: Sealer | undefined
  private underWay = 0

  constructor(context: Context) {
    const { dialect, frameBytesMax = frameBytesMaxDefault } = context.options
    const hasMac = context.keys?.hasMac === true
    this.context = context
    this.sealer = hasMac ? createSealer(dialect, frameBytesMax, checkedFields) : undefined
  }

  /**
   * Wipes the message in the end.
   *
   * @param sealed what the code of the message is over; wiped, too
   * @param send copies the answer, which is bytes where it has a code
   */
  async take(
    message: CardMessage,
    sealed: SealedBytes | undefined,
    send: (answer: CardMessage | Uint8Array) => void,
  ): Promise<void> {
    const { keys, onAdvice, options } = this.context
    const { sealer } = this
    if (this.underWay === advicesMax) {
      sealed?.data.fill(0)
      return message.wipe()
    }
    this.underWay++
    try {
      const isSealed = keys !== undefined && sealer !== undefined
      if (isSealed && !(await isSealedRight(keys, message, sealed, this.context))) return
      const reply = await onAdvice(message)
      if (reply === undefined) return
      const answer = adviceAnswer(message, reply)
      if (isSealed) await answerSealed(keys, sealer, answer, send)
      else send(answer)
    } catch (err) {
      options.logger.error({ network: options.name, err }, 'an advice was not answered')
    } finally {
      message.wipe()
      this.underWay--
    }
  }
}

/** The answer to an advice: the fields by which the network knows it. Holds its card number, which the caller wipes. */
const adviceAnswer = (advice: CardMessage, reply: AdviceReply): CardMessage => {
  const isCode = typeof reply === 'string'
  const answer = new CardMessage()
  answer.mti = answers[advice.mti] ?? '0430'
  answer.pan = advice.pan
  answer.processingCode = advice.processingCode
  answer.amount = advice.amount
  answer.transmissionDateTime = advice.transmissionDateTime
  answer.stan = advice.stan
  answer.rrn = advice.rrn
  answer.responseCode = isCode ? reply : reply.code
  answer.terminalId = advice.terminalId
  answer.merchantId = advice.merchantId
  answer.currency = advice.currency
  answer.originalData = advice.originalData
  if (!isCode) for (const [de, text] of reply.fields) createFieldSetter(de)(answer, text)
  return answer
}
