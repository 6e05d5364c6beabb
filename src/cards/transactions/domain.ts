/**
 * The states and events of a card transaction; pure.
 *
 *   pending -> authorized | declined;  authorized -> captured | voided;  captured -> voided
 *   pending -> verified | declined | voided, where only the card is asked about
 *
 * Whatever a network approved is either told in the status or being reversed, also in the last statuses.
 *
 * Beside the status there is the operation, which is on the wire or being reversed. While there is one, no other
 * begins. Silence of a network decides nothing: it leads to a reversal, whose answer decides.
 */
export const cardStatuses = [
  'pending',
  'authorized',
  'captured',
  'voided',
  'declined',
  'verified',
] as const
export type CardStatus = (typeof cardStatuses)[number]

/** The operations on a transaction that a caller asks for. */
const startedOperations = [
  /** Raises the authorized amount. */
  'increment',
  'capture',
  /** Leaves the rest open for other captures. */
  'partial_capture',
  'void',
  /** Takes a part of the authorization back. */
  'partial_void',
  /** Takes back what is left of an authorization that is captured in parts. */
  'release',
  'refund',
] as const
export type StartedOperation = (typeof startedOperations)[number]

export type CardOperation =
  /** Asks whether the card is good; no money is on hold. */
  | 'verification'
  | StartedOperation
  | `reversing_${'authorization' | Exclude<StartedOperation, 'partial_capture'>}`
  /** Decided while the network was away, and not told to it yet. */
  | `advising_${Advised}`

type Advised = 'authorization' | 'capture' | 'partial_capture' | 'refund'

export type CardState = {
  readonly status: CardStatus
  /** Undefined if nothing is under way, or, in `pending`, if the authorization is. */
  readonly operation: CardOperation | undefined
  /** The sum of its captures; while it is authorized, more may follow. */
  readonly capturedCents?: bigint | undefined
}

export type CardEvent =
  | 'authorization_approved'
  | 'authorization_declined'
  /** Declined to the caller, with a code that may mean that the network holds the money. */
  | 'authorization_unwanted'
  /** A person learnt that the network has it captured, which this book had not come to. */
  | 'authorization_captured'
  /** No byte of the authorization went out. */
  | 'authorization_not_sent'
  /** Sent, and nobody knows. */
  | 'authorization_unknown'
  | 'verification_approved'
  | 'verification_declined'
  | 'verification_not_sent'
  /** Nothing is on hold, so nothing is taken back. */
  | 'verification_unknown'
  /** Refused: declined, or not sent. */
  | `${StartedOperation}_${'started' | 'approved' | 'refused' | 'unknown'}`
  /** The network is away, and its rules let it go on: it hears of it later. */
  | `${Advised}_advised`
  /** The network has taken the advice under way, or refused it. */
  | 'advice_confirmed'
  | 'advice_refused'
  /** The network refused the authorization in its place, before it heard of the capture. */
  | 'stand_in_refused'
  /** An approval came when the transaction had ended without it. */
  | `late_${'authorization' | 'capture' | 'refund' | 'increment'}`
  /** The network has done what it refused at first: the void is asked for again, until it is confirmed. */
  | `late_${'void' | 'partial_void' | 'release'}`
  /** Nobody captured it in time, so what is left is released. */
  | 'authorization_expired'
  /** The same, where the network takes no message for the rest of what is captured in parts. */
  | 'rest_lapsed'
  /** The network told that it has reversed the authorization. */
  | 'reversed_by_network'
  /** The network confirmed the reversal under way. */
  | 'reversal_confirmed'
  /** A person asked the network: the reversal did not take effect. */
  | 'reversal_denied'
  /** The same of a capture that others may follow. */
  | 'reversal_denied_in_part'

type Transitions = Readonly<Partial<Record<CardEvent, CardState>>>

const idle = (status: CardStatus): CardState => ({ status, operation: undefined })
const during = (status: CardStatus, operation: CardOperation): CardState => ({ status, operation })

/** Whether a reversal took effect or not, the status is the same: a sum tells. */
const asItWas = (status: CardStatus): Transitions => ({
  reversal_confirmed: idle(status),
  reversal_denied: idle(status),
})

/** The operations of an authorization, captured in parts or not at all. */
const ofAuthorized = (phase: Phase): Readonly<Record<string, Transitions>> => ({
  [`${phase} increment`]: {
    increment_approved: idle('authorized'),
    increment_refused: idle('authorized'),
    increment_unknown: during('authorized', 'reversing_increment'),
  },
  [`${phase} reversing_increment`]: asItWas('authorized'),
  [`${phase} capture`]: {
    capture_approved: idle('captured'),
    capture_refused: idle('authorized'),
    capture_unknown: during('authorized', 'reversing_capture'),
    capture_advised: during('authorized', 'advising_capture'),
  },
  [`${phase} advising_capture`]: {
    // It takes back the capture too, whatever the network says of that.
    void_unknown: during('captured', 'reversing_void'),
    advice_confirmed: idle('captured'),
    advice_refused: idle('authorized'),
    stand_in_refused: idle('declined'),
  },
  [`${phase} partial_capture`]: {
    partial_capture_approved: idle('authorized'),
    partial_capture_refused: idle('authorized'),
    partial_capture_unknown: during('authorized', 'reversing_capture'),
    partial_capture_advised: during('authorized', 'advising_partial_capture'),
  },
  [`${phase} advising_partial_capture`]: {
    void_unknown: during('authorized', 'reversing_void'),
    advice_confirmed: idle('authorized'),
    advice_refused: idle('authorized'),
  },
  [`${phase} reversing_capture`]: {
    reversal_confirmed: idle('authorized'),
    reversal_denied: idle('captured'),
    reversal_denied_in_part: idle('authorized'),
  },
  [`${phase} partial_void`]: {
    partial_void_approved: idle('authorized'),
    partial_void_refused: idle('authorized'),
    partial_void_unknown: during('authorized', 'reversing_partial_void'),
  },
  [`${phase} reversing_partial_void`]: asItWas('authorized'),
  [`${phase} void`]: {
    void_approved: afterVoid(phase),
    void_refused: idle('authorized'),
    void_unknown: during('authorized', 'reversing_void'),
  },
  [`${phase} reversing_void`]: {
    reversal_confirmed: afterVoid(phase),
    reversal_denied: idle('authorized'),
  },
})

/** The operations that may begin on an authorization that is captured in parts or not at all. */
const beginnings: Transitions = {
  increment_started: during('authorized', 'increment'),
  capture_started: during('authorized', 'capture'),
  partial_capture_started: during('authorized', 'partial_capture'),
  void_started: during('authorized', 'void'),
  partial_void_started: during('authorized', 'partial_void'),
  late_void: during('authorized', 'reversing_void'),
  late_partial_void: during('authorized', 'reversing_partial_void'),
}

/** A void takes back a capture; the hold beneath it, and other captures, are then released by their own reversals. */
const afterVoid = (phase: Phase): CardState =>
  phase === 'authorized' ? idle('voided') : during('voided', 'reversing_authorization')

const transitions: Readonly<Record<string, Transitions>> = {
  pending: {
    authorization_approved: idle('authorized'),
    authorization_declined: idle('declined'),
    authorization_captured: idle('captured'),
    authorization_unwanted: during('declined', 'reversing_authorization'),
    authorization_not_sent: idle('voided'),
    authorization_unknown: during('pending', 'reversing_authorization'),
    authorization_advised: during('authorized', 'advising_authorization'),
  },
  'pending verification': {
    verification_approved: idle('verified'),
    verification_declined: idle('declined'),
    verification_not_sent: idle('voided'),
    verification_unknown: idle('voided'),
  },
  'pending reversing_authorization': { reversal_confirmed: idle('voided') },
  declined: { late_authorization: during('declined', 'reversing_authorization') },
  'declined reversing_authorization': { reversal_confirmed: idle('declined') },
  voided: {
    late_authorization: during('voided', 'reversing_authorization'),
    late_capture: during('voided', 'reversing_capture'),
    late_refund: during('voided', 'reversing_refund'),
    late_increment: during('voided', 'reversing_increment'),
  },
  'voided reversing_authorization': { reversal_confirmed: idle('voided') },
  // The hold beneath it stands again.
  'voided reversing_capture': { reversal_confirmed: during('voided', 'reversing_authorization') },
  'voided reversing_refund': { reversal_confirmed: idle('voided') },
  'voided reversing_increment': { reversal_confirmed: idle('voided') },
  authorized: {
    reversed_by_network: idle('voided'),
    authorization_expired: during('voided', 'reversing_authorization'),
    late_capture: during('authorized', 'reversing_capture'),
    late_increment: during('authorized', 'reversing_increment'),
    ...beginnings,
  },
  ...ofAuthorized('authorized'),
  'authorized advising_authorization': {
    capture_advised: during('authorized', 'advising_capture'),
    partial_capture_advised: during('authorized', 'advising_partial_capture'),
    void_unknown: during('authorized', 'reversing_void'),
    partial_void_unknown: during('authorized', 'reversing_partial_void'),
    advice_confirmed: idle('authorized'),
    advice_refused: idle('declined'),
    stand_in_refused: idle('declined'),
  },
  'authorized advising_partial_capture': {
    void_unknown: during('authorized', 'reversing_void'),
    advice_confirmed: idle('authorized'),
    advice_refused: idle('authorized'),
    stand_in_refused: idle('declined'),
  },
  'authorized reversing_partial_void': {
    reversal_confirmed: idle('authorized'),
    reversal_denied: idle('authorized'),
    stand_in_refused: idle('declined'),
  },
  part_captured: {
    authorization_expired: during('authorized', 'reversing_release'),
    rest_lapsed: idle('captured'),
    late_capture: during('authorized', 'reversing_capture'),
    late_refund: during('authorized', 'reversing_refund'),
    late_increment: during('authorized', 'reversing_increment'),
    late_release: during('authorized', 'reversing_release'),
    ...beginnings,
    release_started: during('authorized', 'release'),
    refund_started: during('authorized', 'refund'),
  },
  ...ofAuthorized('part_captured'),
  'part_captured release': {
    release_approved: idle('captured'),
    release_refused: idle('authorized'),
    release_unknown: during('authorized', 'reversing_release'),
  },
  'part_captured reversing_release': {
    reversal_confirmed: idle('captured'),
    reversal_denied: idle('authorized'),
  },
  'part_captured refund': {
    refund_approved: idle('authorized'),
    refund_refused: idle('authorized'),
    refund_unknown: during('authorized', 'reversing_refund'),
    refund_advised: during('authorized', 'advising_refund'),
  },
  'part_captured advising_refund': {
    advice_confirmed: idle('authorized'),
    advice_refused: idle('authorized'),
  },
  'part_captured reversing_refund': asItWas('authorized'),
  captured: {
    void_started: during('captured', 'void'),
    refund_started: during('captured', 'refund'),
    late_refund: during('captured', 'reversing_refund'),
    late_increment: during('captured', 'reversing_increment'),
    late_void: during('captured', 'reversing_void'),
  },
  'captured reversing_increment': asItWas('captured'),
  'captured refund': {
    refund_approved: idle('captured'),
    refund_refused: idle('captured'),
    refund_unknown: during('captured', 'reversing_refund'),
    refund_advised: during('captured', 'advising_refund'),
  },
  'captured advising_refund': {
    advice_confirmed: idle('captured'),
    advice_refused: idle('captured'),
  },
  'captured reversing_refund': asItWas('captured'),
  'captured void': {
    void_approved: afterVoid('captured'),
    void_refused: idle('captured'),
    void_unknown: during('captured', 'reversing_void'),
  },
  'captured reversing_void': {
    reversal_confirmed: afterVoid('captured'),
    reversal_denied: idle('captured'),
  },
}

/** The status, and within it what captures have made of an authorization. */
type Phase = CardStatus | 'part_captured'

const phaseOf = ({ status, capturedCents = 0n }: CardState): Phase =>
  status === 'authorized' && capturedCents > 0n ? 'part_captured' : status

/** The state after the event; undefined if the event is not possible. */
export const transition = (state: CardState, event: CardEvent): CardState | undefined => {
  const phase = phaseOf(state)
  const { operation } = state
  return transitions[operation === undefined ? phase : `${phase} ${operation}`]?.[event]
}

/** DE 4 has twelve digits. */
export const amountCentsMax = 999_999_999_999n

/** Captures of one authorization: a void takes back each by a message of its own. */
export const capturesMax = 50

export const isStarted = (operation: CardOperation | undefined): operation is StartedOperation =>
  startedOperations.some((one) => one === operation)

/** Whether the network has yet to hear of what was decided while it was away. */
export const isAdvising = (
  operation: CardOperation | undefined,
): operation is Extract<CardOperation, `advising_${string}`> =>
  operation?.startsWith('advising_') === true

/** DE 49 by ISO 4217 letters. */
export const currencyNumbers = { BRL: '986', USD: '840' } as const
export type Currency = keyof typeof currencyNumbers

/** The letters of DE 49 or 50; undefined where we do not know them. */
export const currencyLetters = (number: unknown): string | undefined =>
  Object.entries(currencyNumbers).find(([, one]) => one === number)?.[0]
