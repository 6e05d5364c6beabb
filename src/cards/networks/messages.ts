import { CodecError } from '#codecs/bytes'
import { type CardMessage, type GatewayMti, shownFields } from '#codecs/iso8583'
import {
  type AdviceName,
  type Content,
  type Details,
  type Facts,
  type MerchantProfile,
  type MessageName,
  type Secrets,
  TooLongFactError,
} from '../content/index.ts'
import { settlementDateOf } from '../reconciliation/days.ts'
import type { Totals } from '../reconciliation/totals.ts'
import type { AdvisedOperation } from '../reversals/schema.ts'
import type { ShownMessage } from '../transactions/schema.ts'
import type { TraceNumbers } from '../transactions/stan.ts'

/** The values that all messages about one transaction share. */
type Subject = {
  readonly amountCents: bigint
  /** ISO 4217: `BRL`. */
  readonly currency: string
  readonly rrn: string
  readonly merchantId: string
  readonly terminalId: string | undefined
  readonly authCode?: string | undefined
  readonly installments?: number
  readonly details?: Details | undefined
}

type Numbers = Pick<TraceNumbers, 'stan' | 'transmission'>

/** The values that are not stored with the transaction. */
export type Beside = {
  readonly expiry?: string | undefined
  readonly cryptogram?: string | undefined
  readonly secrets?: Secrets | undefined
  readonly profile?: MerchantProfile | undefined
}

const factsOf = (
  pan: Uint8Array,
  { stan, transmission }: Numbers,
  subject: Subject,
  { expiry, cryptogram, secrets, profile }: Beside,
  isFirst = false,
): Facts => ({
  pan,
  expiry,
  cryptogram,
  amountCents: subject.amountCents,
  currency: subject.currency,
  stan,
  rrn: subject.rrn,
  transmission,
  authCode: subject.authCode,
  responseCode: undefined,
  merchantId: subject.merchantId,
  terminalId: subject.terminalId,
  installments: subject.installments ?? 1,
  details: subject.details,
  secrets,
  profile,
  original: undefined,
  remainingCents: undefined,
  totalCents: undefined,
  isFinal: undefined,
  captureNumber: undefined,
  networkCode: undefined,
  settlementDate: undefined,
  totals: undefined,
  isUploaded: undefined,
  isFirst,
  carried: 0,
})

/** A message, and the bits of the inputs that it carries. */
export type BuiltMessage = { readonly message: CardMessage; readonly carried: number }

/** Holds `pan` itself, no copy of it: `wipe` clears it. */
export const authorizationMessage = (
  content: Content,
  pan: Uint8Array,
  transaction: Subject & TraceNumbers,
  beside: Beside = {},
  name: 'authorization' | 'verification' = 'authorization',
): BuiltMessage => {
  const facts = factsOf(pan, transaction, transaction, beside, true)
  const message = content.build(name, facts)
  return { message, carried: facts.carried }
}

/** What a network may want to know of a capture among several. */
export type CaptureMark = { readonly isFinal: boolean; readonly captureNumber: number }

/**
 * A message that follows an authorization. DE 37 stays that of the authorization, so that the network knows what is
 * raised, captured or given back; DE 4 is by how much.
 *
 * @param mark of a capture only
 */
export const followingMessage = (
  content: Content,
  name: 'increment' | 'capture' | 'refund',
  pan: Uint8Array,
  transaction: Subject,
  amountCents: bigint,
  numbers: Numbers,
  beside: Beside = {},
  mark?: CaptureMark,
): CardMessage => {
  const facts = factsOf(pan, numbers, { ...transaction, amountCents }, beside)
  const totalCents = name === 'increment' ? transaction.amountCents + amountCents : undefined
  return content.build(name, { ...facts, ...mark, totalCents })
}

/** The code of what was approved while a network was away. */
export const advisedCode = '00'

/** A decision taken while a network was away, and how often we have tried to tell it. */
type AdviceSubject = Subject & {
  readonly attempts: number
  readonly reverses: AdvisedOperation
  readonly captureNumber?: number | undefined
}

/** The message for each kind of advice that is stored. */
const adviceNames: Readonly<Record<AdvisedOperation, AdviceName>> = {
  authorization_advice: 'authorization_advice',
  capture_advice: 'capture_advice',
  partial_capture_advice: 'capture_advice',
  refund_advice: 'refund_advice',
}

/** A 0120 or 0220, or its repeat if bytes of it may have reached the network. Holds `pan` itself, no copy of it. */
export const adviceMessage = (
  content: Content,
  advice: AdviceSubject,
  numbers: Numbers,
  pan: Uint8Array,
  beside: Beside = {},
): CardMessage => {
  const name = adviceNames[advice.reverses]
  const facts = factsOf(pan, numbers, advice, beside)
  const mark =
    name === 'capture_advice'
      ? { isFinal: advice.reverses === name, captureNumber: advice.captureNumber }
      : {}
  return content.build(name, { ...facts, ...mark, responseCode: advisedCode }, advice.attempts > 0)
}

/** The message to reverse, and the number of attempts so far. */
type ReversalSubject = Subject & {
  readonly attempts: number
  readonly reverses: string
  /** The amount that a partial reversal leaves of the original. */
  readonly remainingCents?: bigint | undefined
  readonly originalMti: string
  readonly originalStan: string
  readonly originalTransmission: string
}

type Original = Pick<ReversalSubject, 'originalMti' | 'reverses'>

/** The message that a reversal takes back, as a content names it. */
const originalName = ({ originalMti, reverses }: Original): MessageName => {
  if (originalMti === '0120') return 'authorization_advice'
  if (originalMti === '0220') return reverses === 'refund' ? 'refund_advice' : 'capture_advice'
  if (originalMti === '0100') return reverses === 'increment' ? 'increment' : 'authorization'
  return reverses === 'refund' ? 'refund' : 'capture'
}

/** The type of the original on the wire: a network may have captures in 0220. */
export const originalMtiOf = (content: Content, reversal: Original): GatewayMti =>
  content.mtiOf(originalName(reversal))

/**
 * Makes a 0400, or a 0401 if bytes of the 0400 may have reached the network. A void is the first 0400. DE 37 is the
 * original's, and DE 90 names the original where the dialect has it. Holds `pan` itself, no copy of it: `wipe` clears
 * it.
 */
export const reversalMessage = (
  content: Content,
  reversal: ReversalSubject,
  numbers: Numbers,
  pan: Uint8Array,
  beside: Beside = {},
): CardMessage => {
  const facts = factsOf(pan, numbers, reversal, beside)
  const name = originalName(reversal)
  facts.original = {
    mti: content.mtiOf(name),
    stan: reversal.originalStan,
    transmission: reversal.originalTransmission,
    processingCode: content.processingCodeOf(name, facts),
  }
  const { remainingCents } = reversal
  return content.build(
    remainingCents === undefined ? 'reversal' : 'partial_reversal',
    { ...facts, remainingCents },
    reversal.attempts > 0,
  )
}

const nobody = new Uint8Array(0)

/** An 0500, or its repeat: what moved in a day, by our book. */
export const reconciliationMessage = (
  content: Content,
  numbers: Numbers,
  of: {
    readonly day: string
    readonly currency: string
    readonly totals: Totals
    readonly isUploaded: boolean
  },
  isRepeat: boolean,
): CardMessage => {
  const subject = {
    amountCents: 0n,
    currency: of.currency,
    rrn: '',
    merchantId: '',
    terminalId: undefined,
  }
  const facts = factsOf(nobody, numbers, subject, {})
  const { totals, isUploaded } = of
  const told = { settlementDate: settlementDateOf(of.day), totals, isUploaded }
  return content.build('reconciliation', { ...facts, ...told }, isRepeat)
}

type AdvisedName = 'authorization' | 'capture' | 'refund'

/** What moved money, for a batch upload. */
export type Uploaded = Subject & {
  readonly day: string
  /** The message that moved it. */
  readonly moved: AdvisedName | `${AdvisedName}_advice` | 'increment'
  readonly movedStan: string
  readonly movedTransmission: string
}

/** A 0320, or its repeat. DE 37 is that of the authorization. Holds `pan` itself, no copy of it. */
export const uploadMessage = (
  content: Content,
  numbers: Numbers,
  { day, moved, movedStan, movedTransmission, ...subject }: Uploaded,
  pan: Uint8Array,
  beside: Beside,
  isRepeat: boolean,
): CardMessage => {
  const facts = factsOf(pan, numbers, subject, beside)
  facts.original = {
    mti: content.mtiOf(moved),
    stan: movedStan,
    transmission: movedTransmission,
    processingCode: content.processingCodeOf(moved, facts),
  }
  const settlementDate = settlementDateOf(day)
  return content.build('batch_upload', { ...facts, settlementDate }, isRepeat)
}

/** An 0800. */
export const managementMessage = (
  content: Content,
  networkCode: string,
  numbers: Numbers,
): CardMessage => {
  const subject = { amountCents: 0n, currency: '', rrn: '', merchantId: '', terminalId: undefined }
  return content.build('management', { ...factsOf(nobody, numbers, subject, {}), networkCode })
}

/** A message as it may be stored: before it is wiped. */
export const shownMessage = ({ secret }: Content, message: CardMessage): ShownMessage => ({
  mti: message.mti,
  fields: shownFields(message, secret),
})

/** Whether no message of the network can carry what it was to; no byte of it was written then. */
export const isUncarried = (error: unknown): boolean =>
  error instanceof CodecError || error instanceof TooLongFactError

/**
 * The same without the kept values of the approval, which may be why no message fits; undefined if none were kept.
 * The network finds without that what is taken back.
 */
export const withoutKept = <T extends { readonly details?: Details | undefined }>(
  subject: T,
): T | undefined => {
  if (subject.details?.kept === undefined) return undefined
  const { kept: _, ...details } = subject.details
  return { ...subject, details }
}
