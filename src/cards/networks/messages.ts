import { CardMessage, formatOriginalData } from '#codecs/iso8583'
import { currencyNumbers } from '../transactions/domain.ts'
import type { TraceNumbers } from '../transactions/stan.ts'

/** What messages about one transaction have in common. */
type Subject = {
  readonly amountCents: bigint
  /** ISO 4217: `BRL`. */
  readonly currency: string
  readonly rrn: string
  readonly merchantId: string
  readonly terminalId: string | undefined
  readonly authCode?: string | undefined
}

type Numbers = Pick<TraceNumbers, 'stan' | 'transmission'>

const purchase = '000000'
const originalDataField = 90
const numbersByCurrency: Readonly<Record<string, string>> = currencyNumbers

/**
 * Holds `pan` itself, no copy of it: `wipe` clears it.
 *
 * @throws Error for a currency that has no number here
 */
const messageOf = (
  mti: '0100' | '0200' | '0400' | '0401',
  pan: Uint8Array,
  { stan, transmission }: Numbers,
  subject: Subject,
): CardMessage => {
  const currency = numbersByCurrency[subject.currency]
  if (currency === undefined) throw new Error('a currency without a number')
  const message = new CardMessage()
  message.mti = mti
  message.pan = pan
  message.processingCode = purchase
  message.amount = String(subject.amountCents).padStart(12, '0')
  message.transmissionDateTime = transmission
  message.stan = stan
  message.rrn = subject.rrn
  message.authCode = subject.authCode
  message.terminalId = subject.terminalId
  message.merchantId = subject.merchantId
  message.currency = currency
  return message
}

/** DE 67 says in how many parts the holder pays, when there are several. */
export const authorizationMessage = (
  pan: Uint8Array,
  transaction: Subject & TraceNumbers & { readonly installments: number },
) => {
  const message = messageOf('0100', pan, transaction, transaction)
  const { installments } = transaction
  if (installments > 1) message.extendedPayment = String(installments).padStart(2, '0')
  return message
}

/** DE 37 stays that of the authorization, so that the network knows what is captured. */
export const captureMessage = (
  pan: Uint8Array,
  transaction: Subject,
  amountCents: bigint,
  numbers: Numbers,
): CardMessage => messageOf('0200', pan, numbers, { ...transaction, amountCents })

/** The message to reverse, and the number of attempts so far. */
type ReversalSubject = Subject & {
  readonly attempts: number
  readonly originalMti: string
  readonly originalStan: string
  readonly originalTransmission: string
}

/**
 * Makes a 0400, or a 0401 if bytes of the 0400 may have reached the network. A void is the first 0400. DE 37 is the
 * original's, and DE 90 names the original where the dialect has it. Holds `pan` itself, no copy of it: `wipe` clears
 * it.
 */
export const reversalMessage = (
  reversal: ReversalSubject,
  numbers: Numbers,
  pan: Uint8Array,
  hasField: (de: number) => boolean,
): CardMessage => {
  const message = messageOf(reversal.attempts === 0 ? '0400' : '0401', pan, numbers, reversal)
  if (hasField(originalDataField)) {
    message.originalData = formatOriginalData({
      mti: reversal.originalMti,
      stan: reversal.originalStan,
      transmissionDateTime: reversal.originalTransmission,
      acquirerId: '',
      forwarderId: '',
    })
  }
  return message
}
