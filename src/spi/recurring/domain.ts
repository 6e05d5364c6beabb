export type Kind = 'mandate' | 'charge'

/** The steps that are shown of one mandate or charge: the first ones. */
export const stepsMax = 500

export const mandateStates = [
  'requested',
  'pending',
  'confirmed',
  'rejected',
  'cancellation_requested',
  'cancelled',
] as const

export const chargeStates = [
  'requested',
  'scheduled',
  'rejected',
  'cancellation_requested',
  'cancelled',
] as const

export type State = (typeof mandateStates)[number] | (typeof chargeStates)[number]

/**
 * What a message says about a mandate or charge: a state, or that what was asked for is refused, or what was confirmed;
 * `unnamed_refused` where it does not name what.
 */
export type Event =
  | Exclude<State, 'rejected'>
  | 'refused'
  | 'cancellation_refused'
  | 'confirmation_refused'
  | 'unnamed_refused'

/** One message, or one part of it, about one mandate or charge. */
export type Fact = {
  readonly kind: Kind
  readonly key: string
  readonly type: string
  readonly position: number
  /** Null: it tells of no state. */
  readonly event: Event | null
  readonly requestId: string | null
  readonly status: string | null
  readonly reason: string | null
  readonly mandateId: string | null
  readonly reconciliationId: string | null
  readonly terms: Readonly<Record<string, string | boolean | null>> | null
  /** What the mandate says, for those who agreed on it. It names persons and is not stored. */
  readonly mandate?: MandateSaid
  /** ISPB of the institution that a camt.055 or camt.029 is of; messages of other types do not name theirs. */
  readonly speaker?: string
}

/** A fact and the message that states it. */
export type Stated = {
  readonly fact: Fact
  readonly messageId: string
  readonly direction: 'INBOUND' | 'OUTBOUND'
}

/** What keeps a mandate and a charge apart, whatever their keys. */
export const recurrenceId = (kind: Kind, key: string): string => `${kind} ${key}`

export const idOf = ({ kind, key }: Pick<Fact, 'kind' | 'key'>): string => recurrenceId(kind, key)

/** What a message about a mandate says beyond its state. */
export type MandateSaid = {
  /** MndtRef: the id of what is answered. */
  readonly reference: string | null
  /** How the payer authorised it: AUT1 to AUT4. */
  readonly journey: string | null
  /** CPF or CNPJ. */
  readonly debtorDocument: string
  readonly debtorIspb: string
  readonly debtorAccount: string
  readonly debtorBranch: string | null
  /** IBGE code. */
  readonly debtorTown: string | null
}

export type Standing = {
  readonly state: State | null
  /** Set while a cancellation is asked for. */
  readonly stateBefore: State | null
}

/** What each state may follow; null: nothing was known. Messages may overtake one another. */
const predecessors: Readonly<Record<State, readonly (State | null)[]>> = {
  requested: [null],
  pending: [null, 'requested'],
  confirmed: [null, 'requested', 'pending'],
  scheduled: [null, 'requested'],
  rejected: [null, 'requested', 'pending'],
  cancellation_requested: [null, 'requested', 'pending', 'confirmed', 'scheduled'],
  cancelled: [null, 'requested', 'pending', 'confirmed', 'scheduled', 'cancellation_requested'],
}

/**
 * Where an event leads; the same standing if it changes nothing. A refusal of a cancellation leads back to what was
 * before, and that of a confirmation to what was asked for; one that does not name what it refuses means the cancellation
 * that is open, or else the request. What was refused or cancelled we may ask for again, also before our cancellation of a
 * request is answered; what others ask for may have been overtaken by its refusal.
 */
export const transition = (
  standing: Standing,
  said: Event,
  direction: 'INBOUND' | 'OUTBOUND',
): Standing => {
  const { state, stateBefore } = standing
  const isCancelling = state === 'cancellation_requested'
  const meant = isCancelling ? 'cancellation_refused' : 'refused'
  const event = said === 'unnamed_refused' ? meant : said
  if (event === 'cancellation_refused') {
    const isKnown = isCancelling && stateBefore !== null
    return isKnown ? { state: stateBefore, stateBefore: null } : standing
  }
  if (event === 'confirmation_refused') {
    return { state: unconfirmed(state), stateBefore: unconfirmed(stateBefore) }
  }
  const wanted = event === 'refused' ? 'rejected' : event
  if (wanted === 'requested' && direction === 'OUTBOUND' && mayBeAskedAgain(standing)) {
    return { state: 'requested', stateBefore: null }
  }
  if (isCancelling && wanted !== 'cancelled') {
    if (wanted === 'cancellation_requested') return standing
    if (!predecessors[wanted].includes(stateBefore)) return standing
    return wanted === 'rejected'
      ? { state: 'rejected', stateBefore: null }
      : { state, stateBefore: wanted }
  }
  if (!predecessors[wanted].includes(state)) return standing
  return { state: wanted, stateBefore: wanted === 'cancellation_requested' ? state : null }
}

/** What a payer's institution says to a request. */
const answers: ReadonlySet<Event | null> = new Set([
  ...(['confirmed', 'refused', 'unnamed_refused'] as const),
])

/**
 * Whether an institution says it that has no part in the mandate or charge, as far as message and terms tell. A payer may
 * authorise a mandate at another institution than the one that was asked; it answers no request.
 */
export const isStrangers = (
  { fact: { event, speaker, mandate }, direction }: Stated,
  { state }: Standing,
  terms: Fact['terms'],
): boolean => {
  const { debtor_ispb: debtor, creditor_ispb: creditor } = terms ?? {}
  if (direction === 'OUTBOUND' || !debtor || !creditor) return false
  if (speaker !== undefined) return speaker !== debtor && speaker !== creditor
  if (mandate === undefined || !answers.has(event)) return false
  const isOfCancellation = event === 'unnamed_refused' && state === 'cancellation_requested'
  return !isOfCancellation && mandate.debtorIspb !== debtor
}

const unconfirmed = (state: State | null): State | null =>
  state === 'confirmed' ? 'requested' : state

const mayBeAskedAgain = ({ state, stateBefore }: Standing): boolean =>
  state === 'rejected' ||
  state === 'cancelled' ||
  (state === 'cancellation_requested' && (stateBefore === 'requested' || stateBefore === 'pending'))

/** What becomes of a mandate or charge when the central bank refuses our message about it. */
export const refusedEvents = {
  'pain.009': 'refused',
  'pain.011': 'cancellation_refused',
  'pain.013': 'refused',
  'camt.055': 'cancellation_refused',
} as const

/** Types of messages whose refusal takes back what they asked for. */
export const askingTypes = Object.keys(refusedEvents)

/** True for a message of one of {@link askingTypes}. */
export const isAsking = (type: string | null | undefined): type is keyof typeof refusedEvents =>
  typeof type === 'string' && Object.hasOwn(refusedEvents, type)

/** The refusal of a message stands behind all that the message itself says. */
export const refusedPosition = 1_000_000
