/**
 * The states and events of a card transaction; pure.
 *
 *   pending -> authorized | declined;  authorized -> captured | voided;  captured -> voided
 *
 * Whatever a network approved is either told in the status or being reversed, also in the last statuses.
 *
 * Beside the status there is the operation, which is on the wire or being reversed. While there is one, no other
 * begins. Silence of a network decides nothing: it leads to a reversal, whose answer decides.
 */
export const cardStatuses = ['pending', 'authorized', 'captured', 'voided', 'declined'] as const
export type CardStatus = (typeof cardStatuses)[number]

export type CardOperation =
  | 'capture'
  | 'void'
  | 'reversing_authorization'
  | 'reversing_capture'
  | 'reversing_void'

export type CardState = {
  readonly status: CardStatus
  /** Undefined if nothing is under way, or, in `pending`, if the authorization is. */
  readonly operation: CardOperation | undefined
}

export type CardEvent =
  | 'authorization_approved'
  | 'authorization_declined'
  /** Declined to the caller, with a code that may mean that the network holds the money. */
  | 'authorization_unwanted'
  /** No byte of the authorization went out. */
  | 'authorization_not_sent'
  /** Sent, and nobody knows. */
  | 'authorization_unknown'
  | 'capture_started'
  | 'capture_approved'
  /** Declined, or not sent. */
  | 'capture_refused'
  | 'capture_unknown'
  | 'void_started'
  | 'void_approved'
  | 'void_refused'
  | 'void_unknown'
  /** An approval came when the transaction had ended without it. */
  | 'late_authorization'
  | 'late_capture'
  /** The network confirmed the reversal under way. */
  | 'reversal_confirmed'
  /** A person asked the network: the reversal did not take effect. */
  | 'reversal_denied'

type Transitions = Readonly<Partial<Record<CardEvent, CardState>>>

const idle = (status: CardStatus): CardState => ({ status, operation: undefined })
const during = (status: CardStatus, operation: CardOperation): CardState => ({ status, operation })

const transitions: Readonly<Record<string, Transitions>> = {
  pending: {
    authorization_approved: idle('authorized'),
    authorization_declined: idle('declined'),
    authorization_unwanted: during('declined', 'reversing_authorization'),
    authorization_not_sent: idle('voided'),
    authorization_unknown: during('pending', 'reversing_authorization'),
  },
  'pending reversing_authorization': { reversal_confirmed: idle('voided') },
  declined: { late_authorization: during('declined', 'reversing_authorization') },
  'declined reversing_authorization': { reversal_confirmed: idle('declined') },
  voided: {
    late_authorization: during('voided', 'reversing_authorization'),
    late_capture: during('voided', 'reversing_capture'),
  },
  'voided reversing_authorization': { reversal_confirmed: idle('voided') },
  'voided reversing_capture': { reversal_confirmed: idle('voided') },
  authorized: {
    late_capture: during('authorized', 'reversing_capture'),
    capture_started: during('authorized', 'capture'),
    void_started: during('authorized', 'void'),
  },
  'authorized capture': {
    capture_approved: idle('captured'),
    capture_refused: idle('authorized'),
    capture_unknown: during('authorized', 'reversing_capture'),
  },
  'authorized reversing_capture': {
    reversal_confirmed: idle('authorized'),
    reversal_denied: idle('captured'),
  },
  'authorized void': {
    void_approved: idle('voided'),
    void_refused: idle('authorized'),
    void_unknown: during('authorized', 'reversing_void'),
  },
  'authorized reversing_void': {
    reversal_confirmed: idle('voided'),
    reversal_denied: idle('authorized'),
  },
  captured: { void_started: during('captured', 'void') },
  // The void takes back the capture; the hold beneath it is then released by a reversal of its own.
  'captured void': {
    void_approved: during('voided', 'reversing_authorization'),
    void_refused: idle('captured'),
    void_unknown: during('captured', 'reversing_void'),
  },
  'captured reversing_void': {
    reversal_confirmed: during('voided', 'reversing_authorization'),
    reversal_denied: idle('captured'),
  },
}

/** The state after the event; undefined if the event is not possible. */
export const transition = (
  { status, operation }: CardState,
  event: CardEvent,
): CardState | undefined =>
  transitions[operation === undefined ? status : `${status} ${operation}`]?.[event]

/** The statuses in which a person who asked the network may end an unconfirmed reversal. */
export const resolutions = ['voided', 'authorized', 'captured', 'declined'] as const
export type Resolution = (typeof resolutions)[number]

/**
 * The event that ends the reversal under way in that status; undefined if there is none. We told the caller that an
 * authorization with unknown outcome is being reversed, so it can only end voided.
 */
export const resolvingEvent = (state: CardState, outcome: Resolution): CardEvent | undefined =>
  (['reversal_confirmed', 'reversal_denied'] as const).find(
    (event) => transition(state, event)?.status === outcome,
  )

const messages: Readonly<Record<string, string>> = {
  '00': 'Approved',
  '01': 'Contact the issuer',
  '05': 'Not authorized',
  '14': 'Invalid card',
  '51': 'Insufficient funds',
  '54': 'Expired card',
  '55': 'Invalid PIN',
  '57': 'Transaction not permitted',
  '91': 'Issuer unavailable',
  '96': 'System error',
}

/** DE 39 in words. */
export const responseMessageOf = (code: string): string =>
  (Object.hasOwn(messages, code) ? messages[code] : undefined) ?? 'Declined'

/** DE 49 by ISO 4217 letters. */
export const currencyNumbers = { BRL: '986', USD: '840' } as const
export type Currency = keyof typeof currencyNumbers
