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

/** What may have moved money is told as declined, and taken back. */
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

/** What takes money back is repeated until the network has done it: 202. */
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

/** The fields that an approval of a part sets: from now on there is no more. */
const partBy = ({ partCents }: Of<'approved'>, { amountCents }: CardTransaction): Fields =>
  partCents === undefined || partCents === amountCents
    ? {}
    : { amountCents: partCents, requestedCents: amountCents }

/** What each verdict on each operation means. */
export const outcomes: Readonly<Record<OperationName, Outcomes>> = {
  authorization: {
    approved: {
      event: 'authorization_approved',
      type: 'authorized',
      data: ({ authCode, responseCode, partCents }) => ({
        auth_code: authCode ?? '',
        response_code: responseCode,
        ...(partCents === undefined ? {} : { amount: Number(partCents) }),
      }),
      fields: (verdict, before) => ({ ...answeredBy(verdict, before), ...partBy(verdict, before) }),
      answer: (after) => answerOf(201, after),
    },
    declined: {
      event: 'authorization_declined',
      type: 'declined',
      data: codeOf,
      fields: answeredBy,
      answer: (after) => answerOf(201, after),
    },
    unwanted: {
      event: 'authorization_unwanted',
      type: 'declined',
      data: codeOf,
      fields: ({ responseCode }) => ({ responseCode }),
      answer: (after) => answerOf(201, after),
    },
    not_sent: notSent('authorization_not_sent', 'not_sent', (_verdict, _before, at) => ({
      reason: 'not_sent',
      voidedAt: at,
    })),
    unknown: unknown('authorization_unknown', (why) => ({ reason: why })),
    advised: {
      ...advised('authorization_advised', 'authorized_in_place', (_verdict, before) =>
        standInFields(before),
      ),
      answer: (after) => answerOf(201, after),
    },
  },
  verification: {
    approved: {
      event: 'verification_approved',
      type: 'verified',
      data: codeOf,
      fields: answeredBy,
      answer: (after) => answerOf(201, after),
    },
    declined: {
      event: 'verification_declined',
      type: 'declined',
      data: codeOf,
      fields: answeredBy,
      answer: (after) => answerOf(201, after),
    },
    unwanted: {
      event: 'verification_declined',
      type: 'declined',
      data: codeOf,
      fields: ({ responseCode }) => ({ responseCode }),
      answer: (after) => answerOf(201, after),
    },
    not_sent: notSent('verification_not_sent', 'not_sent', (_verdict, _before, at) => ({
      reason: 'not_sent',
      voidedAt: at,
    })),
    unknown: unknown(
      'verification_unknown',
      (why, at) => ({ reason: why, voidedAt: at }),
      'nothing is on hold',
    ),
  },
  increment: {
    approved: {
      event: 'increment_approved',
      type: 'incremented',
      data: amountAndStanOf,
      fields: (_verdict, before) => incrementedBy(before),
      answer: (after) => answerOf(200, after),
    },
    ...movedOf('increment', 'incrementError'),
  },
  capture: {
    approved: {
      event: 'capture_approved',
      type: 'captured',
      data: amountOf,
      fields: (_verdict, before, at) => capturedBy(before, at),
      answer: (after) => answerOf(200, after),
    },
    ...movedOf('capture', 'captureError'),
    advised: advised('capture_advised', 'capture_advised', () => ({ captureError: undefined })),
  },
  partial_capture: {
    approved: {
      event: 'partial_capture_approved',
      type: 'partially_captured',
      data: amountOf,
      fields: (_verdict, before, at) => capturedBy(before, at),
      answer: (after) => answerOf(200, after),
    },
    ...movedOf('partial_capture', 'captureError'),
    advised: advised('partial_capture_advised', 'capture_advised', () => ({
      captureError: undefined,
    })),
  },
  void: {
    approved: {
      event: 'void_approved',
      type: 'voided',
      data: codeOf,
      fields: (_verdict, _before, at) => ({ voidedAt: at, voidError: undefined }),
      answer: (after) => answerOf(200, after),
    },
    ...takenBackOf('void'),
  },
  partial_void: {
    approved: {
      event: 'partial_void_approved',
      type: 'partially_voided',
      data: amountOf,
      fields: (_verdict, before) => partiallyVoidedBy(before),
      answer: (after) => answerOf(200, after),
    },
    ...takenBackOf('partial_void'),
  },
  release: {
    approved: {
      event: 'release_approved',
      type: 'released',
      data: amountOf,
      fields: (_verdict, before) => partiallyVoidedBy(before),
      answer: (after) => answerOf(200, after),
    },
    ...takenBackOf('release'),
  },
  refund: {
    approved: {
      event: 'refund_approved',
      type: 'refunded',
      data: amountAndStanOf,
      fields: (_verdict, before) => refundedBy(before),
      answer: (after) => answerOf(200, after),
    },
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
  // What the network then says to the reversal is judged by that.
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
