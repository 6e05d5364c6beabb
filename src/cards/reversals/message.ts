import { CardMessage, formatOriginalData } from '#codecs/iso8583'
import { currencyNumbers } from '../transactions/domain.ts'
import type { Reversal } from './types.ts'

const purchase = '000000'
const originalData = 90
const currencies: Readonly<Record<string, string>> = currencyNumbers

/** DE 11 and DE 7 of the reversal. */
export type ReversalNumbers = { readonly stan: string; readonly transmission: string }

/**
 * 0400, and 0401 once bytes of it may have reached the network. DE 37 is the original's, and DE 90 names the
 * original where the dialect has it. Holds `pan` itself, no copy of it: `wipe` clears it.
 *
 * @throws Error for a currency that has no number here
 */
export const reversalMessage = (
  reversal: Reversal,
  { stan, transmission }: ReversalNumbers,
  pan: Uint8Array,
  hasField: (de: number) => boolean,
): CardMessage => {
  const currency = currencies[reversal.currency]
  if (currency === undefined) throw new Error('a reversal in a currency without a number')
  const message = new CardMessage()
  message.mti = reversal.attempts === 0 ? '0400' : '0401'
  message.pan = pan
  message.processingCode = purchase
  message.amount = String(reversal.amountCents).padStart(12, '0')
  message.transmissionDateTime = transmission
  message.stan = stan
  message.rrn = reversal.rrn
  message.authCode = reversal.authCode ?? undefined
  message.terminalId = reversal.terminalId ?? undefined
  message.merchantId = reversal.merchantId
  message.currency = currency
  if (hasField(originalData)) {
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

const approved = '00'
/** Unable to locate the original: there is nothing to take back. */
const notLocated = '25'

/** What an answer means for its reversal. */
export const readAnswer = (
  request: CardMessage,
  response: CardMessage,
): { readonly isConfirmed: boolean; readonly responseCode: string | undefined } => {
  const { responseCode } = response
  const isOfIt =
    response.mti === '0410' &&
    (response.amount === undefined || response.amount === request.amount) &&
    (response.currency === undefined || response.currency === request.currency)
  return {
    isConfirmed: isOfIt && (responseCode === approved || responseCode === notLocated),
    responseCode,
  }
}
