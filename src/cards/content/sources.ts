import { formatOriginalData, formatReplacementAmounts } from '#codecs/iso8583'
import { movementKinds, netText, type Totals } from '../reconciliation/totals.ts'
import { currencyNumbers } from '../transactions/domain.ts'

/** How the card came to the merchant. */
export const entries = ['ecommerce', 'manual', 'chip', 'contactless', 'stored_credential'] as const
type Entry = (typeof entries)[number]

/** Who pays for the time between installments: the merchant (without interest), or the holder to the issuer. */
export const installmentPlans = ['merchant', 'issuer'] as const
type InstallmentPlan = (typeof installmentPlans)[number]

/** Who asks for a payment with a stored credential, and why. */
export const initiators = ['cardholder', 'merchant'] as const
export const storedReasons = [
  'unscheduled',
  'standing_order',
  'subscription',
  'installment',
] as const

/** What an account holds. */
export type Balance = {
  /** Positions 1 and 2 of DE 54: `00` default, `10` savings, `20` debit, `30` credit. */
  readonly account: string
  readonly kind: 'ledger' | 'available'
  /** ISO 4217, three digits or letters. */
  readonly currency: string
  /** Negative: owed. */
  readonly cents: number
}

/** What a payment has beside its amount, as it is stored with it: nothing that may not be stored. */
export type Details = {
  readonly entry?: Entry
  readonly installmentPlan?: InstallmentPlan
  readonly softDescriptor?: string
  readonly eci?: string
  readonly dsTransactionId?: string
  readonly initiator?: (typeof initiators)[number]
  readonly storedReason?: (typeof storedReasons)[number]
  /** The network's own identifier of the payment with which the credential was stored. */
  readonly networkTransactionId?: string
  readonly cardSequence?: string
  /** The caller takes a part of the amount too. */
  readonly acceptPartial?: true
  /** The balances of the account that the network told, DE 54. */
  readonly balances?: readonly Balance[]
  /** What the network's answer brought and later messages repeat, by the names of the network's file. */
  readonly kept?: Readonly<Record<string, string>>
}

/** Values that a payment may carry only until its message is written. */
export type Secrets = {
  /** Base64. */
  readonly cavv?: string
  /** DE 55 as hexadecimal digits. */
  readonly icc?: string
  /** DE 52 as hexadecimal digits, under the key of the network. */
  readonly pinBlock?: string
}

/** What a network may want to know of a merchant. */
export type MerchantProfile = {
  readonly merchantId: string
  /** ISO 18245, four digits. */
  readonly category: string
  readonly name: string
  readonly city: string
  /** ISO 3166, two letters. */
  readonly country: string
  readonly postalCode?: string | undefined
}

/** The message that moved the money, for those that follow it. */
type OriginalMessage = {
  readonly mti: string
  readonly stan: string
  readonly transmission: string
  /** DE 3 */
  readonly processingCode: string
}

/** What a message is made of. */
export type Facts = {
  readonly pan: Uint8Array
  /** DE 14, YYMM; undefined if the vault does not tell it. */
  readonly expiry: string | undefined
  /** The cryptogram of a network token, base64; only the message that opens a payment has it. */
  readonly cryptogram?: string | undefined
  readonly amountCents: bigint
  /** ISO 4217: `BRL`. */
  readonly currency: string
  readonly stan: string
  readonly rrn: string | undefined
  readonly transmission: string
  readonly authCode: string | undefined
  /** DE 39: what the caller was told, of an advice only. */
  readonly responseCode: string | undefined
  readonly merchantId: string
  readonly terminalId: string | undefined
  readonly installments: number
  readonly details: Details | undefined
  readonly secrets: Secrets | undefined
  readonly profile: MerchantProfile | undefined
  original: OriginalMessage | undefined
  /** The amount that a partial reversal leaves. */
  readonly remainingCents: bigint | undefined
  /** The amount that is authorized once an increment is approved. */
  readonly totalCents: bigint | undefined
  /** Whether a capture is the last one; undefined in other messages. */
  readonly isFinal: boolean | undefined
  /** Which capture it is, from 1. */
  readonly captureNumber: number | undefined
  /** DE 70 */
  readonly networkCode: string | undefined
  /** DE 15, MMDD, and what moved in that day; of a reconciliation only. */
  readonly settlementDate: string | undefined
  readonly totals: Totals | undefined
  /** Whether what the day is made of has been uploaded; of a reconciliation only. */
  readonly isUploaded: boolean | undefined
  /** The message opens a payment: what is required and not there is refused, and else left out. */
  readonly isFirst: boolean
  /** Bits of the inputs that went into the message. */
  carried: number
}

/** What a file says of the acquirer itself. */
export type AcquirerNumbers = {
  readonly acquirerId: string
  readonly forwarderId: string
  /** Minutes east of GMT. */
  readonly offsetMinutes: number
}

/**
 * Fields of a request that not every network's messages can carry. One that a message leaves out although it was given
 * is refused.
 */
export const inputs = [
  'entry',
  'installments',
  'installment_plan',
  'soft_descriptor',
  'three_ds.eci',
  'three_ds.cavv',
  'three_ds.ds_transaction_id',
  'icc_data',
  'stored_credential.initiator',
  'stored_credential.reason',
  ...([
    'stored_credential.network_transaction_id',
    'card_sequence',
    'accept_partial',
    'pin',
  ] as const),
] as const
export type Input = (typeof inputs)[number]

export const bitOf = (input: Input): number => 1 << inputs.indexOf(input)

export type Source = {
  /** Text, undefined if there is none. */
  readonly get: (facts: Facts, acquirer: AcquirerNumbers) => string | undefined
  /** The field of a request that it comes from. */
  readonly input?: Input
}

const centsOf = (cents: bigint): string => String(cents).padStart(12, '0')

const numbersByCurrency: Readonly<Record<string, string>> = currencyNumbers

const currencyOf = ({ currency }: Facts): string => {
  const number = numbersByCurrency[currency]
  if (number === undefined) throw new Error('a currency without a number')
  return number
}

const originalOf = (
  { original }: Facts,
  { acquirerId, forwarderId }: AcquirerNumbers,
): string | undefined =>
  original &&
  formatOriginalData({
    mti: original.mti,
    stan: original.stan,
    transmissionDateTime: original.transmission,
    acquirerId,
    forwarderId,
  })

const replacementOf = ({ remainingCents }: Facts): string | undefined =>
  remainingCents === undefined
    ? undefined
    : formatReplacementAmounts({
        transaction: remainingCents,
        settlement: 0n,
        transactionFee: 'D00000000',
        settlementFee: 'D00000000',
      })

/** The moment of DE 7 at the acquirer's place, MMDDhhmmss; the same for a repeat. */
const localOf = ({ transmission }: Facts, { offsetMinutes }: AcquirerNumbers): string => {
  const at = (from: number): number => Number(transmission.slice(from, from + 2))
  const year = new Date().getUTCFullYear()
  const moment = Date.UTC(year, at(0) - 1, at(2), at(4), at(6) + offsetMinutes, at(8))
  return new Date(moment).toISOString().slice(5, 19).replace(/\D/g, '')
}

const ofMessages: Readonly<Record<string, Source>> = {
  amount: { get: ({ amountCents }) => centsOf(amountCents) },
  currency: { get: currencyOf },
  stan: { get: ({ stan }) => stan },
  rrn: { get: ({ rrn }) => rrn },
  transmission: { get: ({ transmission }) => transmission },
  'local.time': { get: (facts, by) => localOf(facts, by).slice(4) },
  'local.date': { get: (facts, by) => localOf(facts, by).slice(0, 4) },
  auth_code: { get: ({ authCode }) => authCode },
  response_code: { get: ({ responseCode }) => responseCode },
  network_code: { get: ({ networkCode }) => networkCode },
  original: { get: originalOf },
  'original.processing_code': {
    get: ({ original }) => original?.processingCode,
  },
  'original.reference': {
    get: ({ original, rrn = '' }) => original && original.mti + original.stan + rrn.padEnd(12),
  },
  replacement: { get: replacementOf },
  remaining: {
    get: ({ remainingCents }) =>
      remainingCents === undefined ? undefined : centsOf(remainingCents),
  },
  total: {
    get: ({ totalCents }) => (totalCents === undefined ? undefined : centsOf(totalCents)),
  },
  'capture.final': {
    get: ({ isFinal }) => (isFinal === undefined ? undefined : isFinal ? '1' : '0'),
  },
  'capture.number': {
    get: ({ captureNumber }) =>
      captureNumber === undefined ? undefined : String(captureNumber).padStart(2, '0'),
  },
  accept_partial: {
    get: ({ details }) => (details?.acceptPartial ? '1' : undefined),
    input: 'accept_partial',
  },
  'acquirer.id': { get: (_, { acquirerId }) => acquirerId || undefined },
  'forwarder.id': { get: (_, { forwarderId }) => forwarderId || undefined },
}

/** Where the reconciliation of a network has it, authorizations are counted. */
export const authorizationCount = 'totals.authorization.number'

const ofReconciliations: Readonly<Record<string, Source>> = {
  'settlement.date': { get: ({ settlementDate }) => settlementDate },
  ...Object.fromEntries(
    movementKinds.flatMap((kind): [string, Source][] => [
      [
        `totals.${kind}.number`,
        { get: ({ totals }) => totals && String(totals[kind].count).padStart(10, '0') },
      ],
      [
        `totals.${kind}.amount`,
        { get: ({ totals }) => totals && String(totals[kind].cents).padStart(16, '0') },
      ],
    ]),
  ),
  [authorizationCount]: {
    get: ({ totals }) => totals && String(totals.authorizations).padStart(10, '0'),
  },
  'batch.uploaded': {
    get: ({ isUploaded }) => (isUploaded === undefined ? undefined : isUploaded ? '1' : '0'),
  },
  // Networks differ on whose debit it is.
  'totals.net': { get: ({ totals }) => totals && netText(totals, 'D') },
  'totals.net_as_credit': { get: ({ totals }) => totals && netText(totals, 'C') },
}

const ofMerchants: Readonly<Record<string, Source>> = {
  'merchant.id': { get: ({ merchantId }) => merchantId },
  'terminal.id': { get: ({ terminalId }) => terminalId },
  'merchant.category': { get: ({ profile }) => profile?.category },
  'merchant.name': { get: ({ profile }) => profile?.name },
  'merchant.shown_name': {
    get: ({ profile, details }) => details?.softDescriptor ?? profile?.name,
    input: 'soft_descriptor',
  },
  'merchant.city': { get: ({ profile }) => profile?.city },
  'merchant.country': { get: ({ profile }) => profile?.country },
  'merchant.postal_code': { get: ({ profile }) => profile?.postalCode },
}

/** The source of DE 52, which goes nowhere else. */
export const pinBlock = 'pin_block'

const ofPayments: Readonly<Record<string, Source>> = {
  'card.expiry': { get: ({ expiry }) => expiry },
  'card.cryptogram': { get: ({ cryptogram }) => cryptogram },
  entry: { get: ({ details }) => details?.entry, input: 'entry' },
  installments: {
    get: ({ installments }) =>
      installments > 1 ? String(installments).padStart(2, '0') : undefined,
    input: 'installments',
  },
  installment_plan: {
    get: ({ details }) => details?.installmentPlan,
    input: 'installment_plan',
  },
  soft_descriptor: {
    get: ({ details }) => details?.softDescriptor,
    input: 'soft_descriptor',
  },
  'three_ds.eci': { get: ({ details }) => details?.eci, input: 'three_ds.eci' },
  'three_ds.cavv': {
    get: ({ secrets }) => secrets?.cavv,
    input: 'three_ds.cavv',
  },
  'three_ds.ds_transaction_id': {
    get: ({ details }) => details?.dsTransactionId,
    input: 'three_ds.ds_transaction_id',
  },
  icc_data: { get: ({ secrets }) => secrets?.icc, input: 'icc_data' },
  [pinBlock]: { get: ({ secrets }) => secrets?.pinBlock, input: 'pin' },
  card_sequence: {
    get: ({ details }) => details?.cardSequence,
    input: 'card_sequence',
  },
  'stored_credential.initiator': {
    get: ({ details }) => details?.initiator,
    input: 'stored_credential.initiator',
  },
  'stored_credential.reason': {
    get: ({ details }) => details?.storedReason,
    input: 'stored_credential.reason',
  },
  'stored_credential.network_transaction_id': {
    get: ({ details }) => details?.networkTransactionId,
    input: 'stored_credential.network_transaction_id',
  },
}

/** All sources but the card number, by the name that a network's file gives them. */
export const sources: Readonly<Record<string, Source>> = {
  ...ofMessages,
  ...ofMerchants,
  ...ofPayments,
  ...ofReconciliations,
}

/** The source of DE 2: bytes, which are wiped. */
export const cardNumber = 'card.number'
/** A value of an earlier answer: `kept.trace_id`. */
export const keptPrefix = 'kept.'
