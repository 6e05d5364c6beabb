import type { Answer } from '#src/platform/http/index.ts'
import type { Balance } from '../content/index.ts'
import { otherApproval } from '../transactions/card-events.ts'
import { changed, type Fields } from '../transactions/changes.ts'
import type { CardEvent, StartedOperation } from '../transactions/domain.ts'
import type { CardTransaction, NewCardEvent } from '../transactions/store.ts'
import { capturedBy, incrementedBy, partiallyVoidedBy, refundedBy } from './amounts.ts'
import { answerOf, notSentAnswer, refusalOf, unknownAnswer } from './answers.ts'
import { reversalsBegun } from './begun-reversals.ts'
import { bookedBy } from './booking.ts'
import type { CardContext, OperationName } from './context.ts'
import type { Verdict } from './exchange.ts'
import { standInFields, unsentVoid } from './going-on.ts'
import { takeBack } from './late-approvals.ts'

type Of<K extends Verdict['kind']> = Extract<Verdict, { readonly kind: K }>
type Data = NewCardEvent['data']

/** What a verdict does to the transaction whose operation it ends. */
type Outcome<K extends Verdict['kind']> = {
  readonly event: CardEvent
  /** The event as callers see it, and its data. */
  readonly type: string
  readonly data: (verdict: Of<K>, before: CardTransaction) => Data
  /** The fields that it sets in the record. */
  readonly fields: (verdict: Of<K>, before: CardTransaction, at: Date) => Fields
  /** The answer to a request for this operation alone. */
  readonly answer: (after: CardTransaction, verdict: Of<K>) => Answer
  /** Deletes the key: nothing happened, so the caller may try again with the same key. */
  readonly frees?: true
}

type Sometimes = 'unwanted' | 'undecided' | 'advised'

type Outcomes = { readonly [K in Exclude<Verdict['kind'], Sometimes>]: Outcome<K> } & {
  /** Left out where no answer means it, or nothing goes on without the network. */
  readonly [K in Sometimes]?: Outcome<K>
}

const codeOf = ({
  responseCode,
}: Of<'approved' | 'declined' | 'unwanted' | 'undecided'>): Data => ({
  response_code: responseCode,
})

/** A late answer of this STAN may say otherwise. */
const codeAndStanOf = (
  { responseCode }: Of<'declined'>,
  { operationStan }: CardTransaction,
): Data => ({ response_code: responseCode, stan: operationStan ?? null })

const amountOf = (verdict: Of<'approved'>, { operationCents }: CardTransaction): Data => ({
  ...codeOf(verdict),
  amount: Number(operationCents),
})

/** A late answer of this STAN is the one that was taken. */
const amountAndStanOf = (verdict: Of<'approved'>, before: CardTransaction): Data => ({
  ...amountOf(verdict, before),
  stan: before.operationStan ?? null,
})

const notSent = (event: CardEvent, type: string, fields: Outcome<'not_sent'>['fields']) =>
  ({
    event,
    type,
    fields,
    data: ({ why }) => ({ reason: why }),
    answer: ({ id }, { why }) => notSentAnswer(id, why),
    frees: true,
  }) satisfies Outcome<'not_sent'>

const unsent: Outcome<'not_sent'>['fields'] = (_verdict, _before, at) => ({
  reason: 'not_sent',
  voidedAt: at,
})

const unknown = (
  event: CardEvent,
  fields: (why: string, at: Date) => Fields,
  follows = 'what it may have done is being reversed',
) =>
  ({
    event,
    type: event,
    fields: ({ why }, _before, at) => fields(why, at),
    data: ({ why, field }) => ({ reason: why, field: field ?? null }),
    answer: ({ id }, verdict) => unknownAnswer(id, verdict, follows),
  }) satisfies Outcome<'unknown'>

/** The network is away and hears of it later: 202, as it has yet to take it. */
const advised = (
  event: CardEvent,
  type: string,
  fields: Outcome<'advised'>['fields'],
): Outcome<'advised'> => ({
  event,
  type,
  fields,
  data: (_verdict, { operationCents }) =>
    operationCents === undefined ? {} : { amount: Number(operationCents) },
  answer: (after) => answerOf(202, after),
})

/** All but authorizations fail alike: the status stays, and one field says why. */
const failuresOf = <O extends StartedOperation>(
  operation: O,
  field: 'captureError' | 'voidError' | 'refundError' | 'incrementError',
  follows?: string,
) => ({
  declined: {
    event: `${operation}_refused`,
    type: `${operation}_declined`,
    data: codeAndStanOf,
    fields: ({ responseCode }) => ({ [field]: `declined_${responseCode}` }),
    answer: (after, { responseCode }) => refusalOf(operation, after, responseCode),
  } satisfies Outcome<'declined'>,
  not_sent: notSent(`${operation}_refused`, `${operation}_not_sent`, () => ({
    [field]: 'not_sent',
  })),
  unknown: unknown(`${operation}_unknown`, (why) => ({ [field]: why }), follows),
})

/** Operations that may have moved money: we tell them as declined, and take them back. */
const movedOf = <O extends 'capture' | 'partial_capture' | 'refund' | 'increment'>(
  operation: O,
  field: 'captureError' | 'refundError' | 'incrementError',
) => ({
  ...failuresOf(operation, field),
  unwanted: {
    event: `${operation}_unknown`,
    type: `${operation}_declined`,
    data: codeOf,
    fields: ({ responseCode }) => ({ [field]: `declined_${responseCode}` }),
    answer: (after, { responseCode }) => refusalOf(operation, after, responseCode),
  } satisfies Outcome<'unwanted'>,
})

/** Operations that take money back: we repeat them until the network has done it (202). */
const takenBackOf = <O extends 'void' | 'partial_void' | 'release'>(operation: O) => ({
  ...failuresOf(operation, 'voidError', 'it is repeated until the network has done it'),
  undecided: {
    event: `${operation}_unknown`,
    type: `${operation}_unknown`,
    data: (verdict) => ({ reason: 'undecided', ...codeOf(verdict) }),
    fields: ({ responseCode }) => ({ voidError: `undecided_${responseCode}` }),
    answer: (after) => answerOf(202, after),
  } satisfies Outcome<'undecided'>,
  advised: advised(`${operation}_unknown`, 'void_advised', unsentVoid),
})

type Answering = {
  readonly responseCode: string
  readonly authCode?: string | undefined
  readonly kept?: Readonly<Record<string, string>> | undefined
  readonly balances?: readonly Balance[]
}

/** The fields that an answer to the first message sets. */
const answeredBy = (
  { responseCode, authCode, kept, balances }: Answering,
  { details }: CardTransaction,
): Fields => {
  const told = {
    ...(kept === undefined ? {} : { kept }),
    ...(balances === undefined ? {} : { balances }),
  }
  const isTold = kept !== undefined || balances !== undefined
  return { responseCode, authCode, ...(isTold ? { details: { ...details, ...told } } : {}) }
}

/** The fields that an approval of a part sets: from now on there is only that part. */
const partBy = ({ partCents }: Of<'approved'>, { amountCents }: CardTransaction): Fields =>
  partCents === undefined || partCents === amountCents
    ? {}
    : { amountCents: partCents, requestedCents: amountCents }

/** An answer to the first message: the record, whatever it says. */
const toldBy = <K extends 'approved' | 'declined' | 'unwanted'>(
  event: CardEvent,
  type: string,
  data: Outcome<K>['data'],
  fields: Outcome<K>['fields'],
): Outcome<K> => ({ event, type, data, fields, answer: (after) => answerOf(201, after) })

const withCode = ({ responseCode }: Of<'unwanted'>): Fields => ({ responseCode })

const approved = (
  operation: StartedOperation,
  type: string,
  data: Outcome<'approved'>['data'],
  fields: (before: CardTransaction, at: Date) => Fields,
): Outcome<'approved'> => ({
  event: `${operation}_approved`,
  type,
  data,
  fields: (_verdict, before, at) => fields(before, at),
  answer: (after) => answerOf(200, after),
})

/** What each verdict on each operation means. */
export const outcomes: Readonly<Record<OperationName, Outcomes>> = {
  authorization: {
    approved: toldBy<'approved'>(
      'authorization_approved',
      'authorized',
      ({ authCode, responseCode, partCents }) => ({
        auth_code: authCode ?? '',
        response_code: responseCode,
        ...(partCents === undefined ? {} : { amount: Number(partCents) }),
      }),
      (verdict, before) => ({ ...answeredBy(verdict, before), ...partBy(verdict, before) }),
    ),
    declined: toldBy<'declined'>('authorization_declined', 'declined', codeOf, answeredBy),
    unwanted: toldBy<'unwanted'>('authorization_unwanted', 'declined', codeOf, withCode),
    not_sent: notSent('authorization_not_sent', 'not_sent', unsent),
    unknown: unknown('authorization_unknown', (why) => ({ reason: why })),
    advised: {
      ...advised('authorization_advised', 'authorized_in_place', (_verdict, before) =>
        standInFields(before),
      ),
      answer: (after) => answerOf(201, after),
    },
  },
  verification: {
    approved: toldBy<'approved'>('verification_approved', 'verified', codeOf, answeredBy),
    declined: toldBy<'declined'>('verification_declined', 'declined', codeOf, answeredBy),
    unwanted: toldBy<'unwanted'>('verification_declined', 'declined', codeOf, withCode),
    not_sent: notSent('verification_not_sent', 'not_sent', unsent),
    unknown: unknown(
      'verification_unknown',
      (why, at) => ({ reason: why, voidedAt: at }),
      'nothing is on hold',
    ),
  },
  increment: {
    approved: approved('increment', 'incremented', amountAndStanOf, incrementedBy),
    ...movedOf('increment', 'incrementError'),
  },
  capture: {
    approved: approved('capture', 'captured', amountOf, capturedBy),
    ...movedOf('capture', 'captureError'),
    advised: advised('capture_advised', 'capture_advised', () => ({ captureError: undefined })),
  },
  partial_capture: {
    approved: approved('partial_capture', 'partially_captured', amountOf, capturedBy),
    ...movedOf('partial_capture', 'captureError'),
    advised: advised('partial_capture_advised', 'capture_advised', () => ({
      captureError: undefined,
    })),
  },
  void: {
    approved: approved('void', 'voided', codeOf, (_before, at) => ({
      voidedAt: at,
      voidError: undefined,
    })),
    ...takenBackOf('void'),
  },
  partial_void: {
    approved: approved('partial_void', 'partially_voided', amountOf, partiallyVoidedBy),
    ...takenBackOf('partial_void'),
  },
  release: {
    approved: approved('release', 'released', amountOf, partiallyVoidedBy),
    ...takenBackOf('release'),
  },
  refund: {
    approved: approved('refund', 'refunded', amountAndStanOf, refundedBy),
    ...movedOf('refund', 'refundError'),
    advised: advised('refund_advised', 'refund_advised', () => ({ refundError: undefined })),
  },
}

/** The transaction after the verdict, and its event. */
export const stepOf = <K extends Verdict['kind']>(
  operation: OperationName,
  before: CardTransaction,
  verdict: Of<K>,
  at: Date,
): { readonly after: CardTransaction; readonly event: NewCardEvent } => {
  const { event, type, data, fields } = outcomes[operation][verdict.kind] as unknown as Outcome<K>
  const { stan, operationStan = stan } = before
  // The network's answer to the reversal is judged by that.
  const approval = verdict.isOtherApproval === true ? { stan: operationStan, ...otherApproval } : {}
  return {
    after: changed(before, event, fields(verdict, before, at), at),
    event: { type, data: { ...data(verdict, before), ...approval }, messages: verdict.messages },
  }
}

/**
 * Commits the effect of a verdict, and returns the answer.
 *
 * @param asPart of an authorization that captures at once: then the answer is the record, even if the capture failed
 */
export const settle = async <K extends Verdict['kind']>(
  context: CardContext,
  operation: OperationName,
  before: CardTransaction,
  verdict: Of<K>,
  asPart: boolean,
): Promise<Answer> => {
  const { writer, now, networks } = context
  const { answer: answerTo, frees } = outcomes[operation][verdict.kind] as unknown as Outcome<K>
  const { after, event } = stepOf(operation, before, verdict, now())
  const answer = asPart ? answerOf(201, after) : answerTo(after, verdict)
  const network = networks.byName(after.network)
  const change = {
    before,
    after,
    events: [event],
    movements: bookedBy(network, operation, before, verdict, after.updatedAt),
    answer: frees === true && !asPart ? ('free' as const) : answer,
  }
  const reversals = reversalsBegun(before, after, network?.advices)
  const isOurs = await (reversals.length === 0
    ? writer.change(change)
    : writer.reverse({ ...change, reversals }))
  // An authorization that was not sent is over, even if another process noticed that first.
  if (isOurs || (operation === 'authorization' && frees === true)) return answer
  const lost = await lostAnswer(context, operation, before, verdict)
  // Another process that reverses it tells the same of what is unknown.
  return verdict.kind === 'unknown' ? answer : lost
}

/** After these verdicts it is certain that no money moved. */
const harmless: ReadonlySet<Verdict['kind']> = new Set(['declined', 'not_sent', 'advised'])

/**
 * Another process has begun to reverse it, because this one stalled for longer than a network may take. By now that may
 * have ended, with a network that knew nothing of it yet: then it is reversed again.
 */
export const lostAnswer = async (
  context: CardContext,
  operation: OperationName,
  before: CardTransaction,
  { kind, isOtherApproval = false }: Verdict,
): Promise<Answer> => {
  if (!harmless.has(kind)) {
    const { id, stan: first, operationStan = '' } = before
    const stan = operation === 'authorization' ? first : operationStan
    const isUncertain = kind !== 'approved' && !isOtherApproval
    await takeBack(context, { id, answers: 'payment', stan, isUncertain })
  }
  return outcomes[operation].unknown.answer(before, { kind: 'unknown', why: 'timed_out' })
}
