import { CardMessage, formatOriginalData } from '#codecs/iso8583'
import { type Currency, currencyNumbers } from '../transactions/domain.ts'
import type { TraceNumbers } from '../transactions/stan.ts'

/** What messages about one transaction have in common. */
export type MessageParties = {
  readonly currency: Currency
  readonly merchantId: string
  readonly terminalId: string | undefined
}

const purchase = '000000'

/** Holds `pan` itself, no copy of it: `wipe` clears it. */
const message = (
  mti: '0100' | '0200' | '0400',
  pan: Uint8Array,
  amountCents: bigint,
  numbers: TraceNumbers,
  parties: MessageParties,
): CardMessage => {
  const built = new CardMessage()
  built.mti = mti
  built.pan = pan
  built.processingCode = purchase
  built.amount = String(amountCents).padStart(12, '0')
  built.transmissionDateTime = numbers.transmission
  built.stan = numbers.stan
  built.rrn = numbers.rrn
  built.terminalId = parties.terminalId
  built.merchantId = parties.merchantId
  built.currency = currencyNumbers[parties.currency]
  return built
}

export const authorizationMessage = (
  pan: Uint8Array,
  transaction: MessageParties & TraceNumbers & { readonly amountCents: bigint },
): CardMessage => message('0100', pan, transaction.amountCents, transaction, transaction)

type Authorized = MessageParties &
  TraceNumbers & { readonly amountCents: bigint; readonly authCode: string | undefined }

/** DE 37 stays the authorization's: it tells the network what is captured. */
export const captureMessage = (
  pan: Uint8Array,
  transaction: Authorized,
  amountCents: bigint,
  { stan, transmission }: TraceNumbers,
): CardMessage => {
  const numbers = { stan, transmission, rrn: transaction.rrn }
  const built = message('0200', pan, amountCents, numbers, transaction)
  built.authCode = transaction.authCode
  return built
}

/** Takes the whole amount back; DE 90 names the authorization. */
export const voidMessage = (
  pan: Uint8Array,
  transaction: Authorized,
  { stan, transmission }: TraceNumbers,
): CardMessage => {
  const numbers = { stan, transmission, rrn: transaction.rrn }
  const built = message('0400', pan, transaction.amountCents, numbers, transaction)
  built.authCode = transaction.authCode
  built.originalData = formatOriginalData({
    mti: '0100',
    stan: transaction.stan,
    transmissionDateTime: transaction.transmission,
    acquirerId: '',
    forwarderId: '',
  })
  return built
}

const echoed = ['amount', 'rrn', 'terminalId', 'currency'] as const

/**
 * The first field that the answer repeats otherwise than it was sent (DE 4, 37, 41, 49): such an answer is not
 * about this request. A field that the answer leaves out says nothing.
 */
export const mismatchOf = (
  request: CardMessage,
  response: CardMessage,
): (typeof echoed)[number] | undefined =>
  echoed.find((field) => {
    const answered = response[field]
    return answered !== undefined && answered.trimEnd() !== (request[field] ?? '').trimEnd()
  })
