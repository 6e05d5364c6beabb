import { type CardEvent, type CardOperation, type CardState, transition } from './domain.ts'

/**
 * How a person who asked the network may end an unconfirmed reversal: with a status, or with what stands in it. A
 * refund that is taken back ends `captured`, a partial void that was not done `authorized`.
 */
export const resolutions = [
  'voided',
  'authorized',
  'captured',
  'declined',
  'refunded',
  'partially_voided',
  'partially_captured',
  'incremented',
] as const
export type Resolution = (typeof resolutions)[number]

/**
 * The event that ends the reversal under way in that status, or what is held; undefined if there is none. We told the
 * caller that an authorization with unknown outcome is being reversed, so it can only end voided, unless it is held.
 */
export const resolvingEvent = (state: Resolved, outcome: Resolution): CardEvent | undefined => {
  const { operation } = state
  const ends = isHeld(state)
    ? heldEnds[operation ?? 'authorization']
    : operation && resolvingEnds[operation]
  const end = ends?.[outcome]
  if (end !== undefined && transition(state, end) !== undefined) return end
  if (operation === 'reversing_partial_void') return undefined
  return (['reversal_confirmed', 'reversal_denied'] as const).find(
    (event) => transition(state, event)?.status === outcome,
  )
}

/** Nothing is under way any more: an earlier reversal was given up, and the transaction has ended without it. */
export const isEndedAs = ({ status, operation }: CardState, outcome: Resolution): boolean =>
  operation === undefined && outcome === status

/** The outcomes that a person who has asked the network may choose from. */
export const possibleResolutions = (state: Resolved): readonly Resolution[] =>
  resolutions.filter(
    (outcome) => isEndedAs(state, outcome) || resolvingEvent(state, outcome) !== undefined,
  )

/** The reason of what a restored copy has on the wire: it waits for a person, and no sweep takes it back. */
export const restored = 'restored'

type Resolved = CardState & { readonly reason?: string | undefined }

export const isHeld = ({ reason }: Resolved): boolean => reason === restored

/** What is held may have gone on after the copy: it ends as the network has it, or is taken back. */
const heldEnds: Readonly<
  Partial<Record<CardOperation | 'authorization', Readonly<Partial<Record<Resolution, CardEvent>>>>>
> = {
  authorization: {
    voided: 'authorization_unknown',
    authorized: 'authorization_approved',
    captured: 'authorization_captured',
    declined: 'authorization_declined',
  },
  increment: { incremented: 'increment_approved', authorized: 'increment_unknown' },
  capture: { captured: 'capture_approved', authorized: 'capture_unknown' },
  partial_capture: {
    partially_captured: 'partial_capture_approved',
    authorized: 'partial_capture_unknown',
  },
  refund: { refunded: 'refund_approved', captured: 'refund_unknown' },
}

/** Operations that are held in a restored copy; a void is repeated, which its caller has asked for. */
export const heldOperations = ['increment', 'capture', 'partial_capture', 'refund'] as const

/** Where both ends have one status. */
const resolvingEnds: Readonly<
  Partial<Record<CardOperation, Readonly<Partial<Record<Resolution, CardEvent>>>>>
> = {
  reversing_partial_void: {
    partially_voided: 'reversal_confirmed',
    authorized: 'reversal_denied',
  },
  reversing_refund: { captured: 'reversal_confirmed', refunded: 'reversal_denied' },
  reversing_increment: { incremented: 'reversal_denied' },
  reversing_capture: { partially_captured: 'reversal_denied_in_part' },
  advising_authorization: { authorized: 'advice_confirmed', declined: 'advice_refused' },
  advising_capture: {
    captured: 'advice_confirmed',
    authorized: 'advice_refused',
    declined: 'stand_in_refused',
  },
  advising_partial_capture: {
    partially_captured: 'advice_confirmed',
    authorized: 'advice_refused',
    declined: 'stand_in_refused',
  },
  advising_refund: { refunded: 'advice_confirmed', captured: 'advice_refused' },
}
