import {
  type Build,
  type BuildableMessage,
  type BuildProblem,
  buildMessage,
} from '#codecs/iso20022'
import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import { type Answered, type Caller, replayOf } from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Channel } from '../../messages/index.ts'
import type { NoteReturn } from '../../payments/service.ts'
import { random } from '../../random.ts'
import type { Sending } from '../../sending.ts'
import type { SendNow } from '../stage/index.ts'
import { createAcceptor } from './accept.ts'
import type { Built } from './answers.ts'
import { answeredPayment, channelOf, isOfReturns, isScheduled, withParties } from './domain.ts'
import { createFastPath } from './fast-path.ts'
import { outboundOf } from './outbound.ts'
import { brokenRules } from './rules.ts'
import { channelOfPayment, partiesOfReceived } from './store.ts'

type SendRequest = {
  readonly messageType: BuildableMessage
  /** Undefined: the revision decides. */
  readonly version: string | undefined
  /** Undefined: the message's priority decides. */
  readonly channel: Channel | undefined
  readonly params: unknown
}

/** What is wrong with the request, each with its place in the body. */
type Refused = { readonly ok: false; readonly problems: readonly BuildProblem[] }

type SendOutcome = { readonly ok: true; readonly answered: Answered } | Refused

type BuildOutcome = { readonly ok: true; readonly built: Built } | Refused

/** Which of some EndToEndIds another part of the gateway has asked for payments with. */
export type AttemptsAmong = (
  sql: Queryable,
  endToEndIds: readonly string[],
) => Promise<ReadonlySet<string>>

export type SendDeps = Sending & {
  readonly broker: TransactionalBroker
  /** Undefined: every message goes through the queue. */
  readonly sendNow?: SendNow | undefined
  /** Undefined: nobody is told of returns. */
  readonly noteReturn?: NoteReturn | undefined
  /** Undefined: no charges are made but here. */
  readonly attemptsAmong?: AttemptsAmong | undefined
  readonly logger: Logger
  /** The clock that messages are built and judged by. */
  readonly nowMs?: () => number
}

export type SendService = {
  /** What would be sent; nothing is stored. */
  readonly build: (request: SendRequest) => Promise<BuildOutcome>
  readonly send: (request: SendRequest, caller: Caller) => Promise<SendOutcome>
}

/**
 * Builds a message, stores it and queues it with the answer of its Idempotency-Key, all in one transaction: a
 * repetition under the key gets the first answer, never a second message. What breaks a business rule is not stored. A
 * PACS008 for the primary channel is sent within the request if that is enabled.
 */
export const createSendService = (deps: SendDeps): SendService => {
  const { sql, broker, sendNow, ispb, nowMs: clock = Date.now } = deps
  const enqueue = createAcceptor(sql, broker, deps.noteReturn)
  const sendWithin =
    sendNow === undefined ? undefined : createFastPath({ ...deps, sendNow, enqueue })
  const build: SendService['build'] = async (asked) => {
    const nowMs = clock()
    const { messageType, version } = asked
    const context = { ispb, nowMs, random, revision: deps.revision }
    const buildOf = (params: unknown) =>
      buildMessage(messageType, params, {
        ...context,
        ...(version === undefined ? {} : { version }),
      })
    const first = buildOf(asked.params)
    if (!first.ok) return refused(first.problems)
    const request = messageType === 'PACS004' ? await completed(sql, asked, first.message) : asked
    const made = request === asked ? first : buildOf(request.params)
    if (!made.ok) return refused(made.problems)
    const broken = refused([
      ...brokenRules(messageType, request.params, { ispb, nowMs }),
      ...(messageType === 'PAIN013' ? await attemptsIn(deps, made.message) : []),
    ])
    const problems = [...broken.problems, ...brokenByChannel(request)]
    if (problems.length > 0) return { ok: false, problems }
    const channel = request.channel ?? (await defaultChannel(sql, request))
    return { ok: true, built: builtOf(made.message, { ...request, channel }, ispb) }
  }
  return {
    build,
    send: async (request, caller) => {
      const outcome = await build(request)
      if (!outcome.ok) {
        // What was right when its key first came may by now break rules about time or about what is stored.
        const answered = await replayOf(sql, caller.idempotencyKey)
        return answered === undefined ? outcome : { ok: true, answered }
      }
      // Messages for the secondary channel go in the order of its queue.
      const isFast =
        request.messageType === 'PACS008' && outcome.built.message.channel === 'PRIMARY'
      const accept = (isFast ? sendWithin : undefined) ?? enqueue
      const answered = await accept(outcome.built, caller)
      return { ok: true, answered }
    },
  }
}

const refused = (problems: readonly BuildProblem[]): Refused => ({
  ok: false,
  problems: problems.map((one) => ({ ...one, pointer: `/params${one.pointer}` })),
})

const brokenByChannel = ({ messageType, channel, params }: SendRequest): readonly BuildProblem[] =>
  channel === 'SECONDARY' && isOfReturns(messageType, params)
    ? [
        {
          pointer: '/channel',
          rule: 'channel',
          message: 'is not for returns and their answers, which go by the primary channel only',
          expected: 'PRIMARY or no channel',
        },
      ]
    : []

type BuiltSuccess = Extract<Build, { readonly ok: true }>['message']

/** A return with the institutions of the payments that are returned. */
const completed = async (
  sql: Client,
  request: SendRequest,
  { endToEndIds }: BuiltSuccess,
): Promise<SendRequest> => {
  const known = await partiesOfReceived(sql, [...new Set(endToEndIds)])
  return known.length === 0 ? request : { ...request, params: withParties(request.params, known) }
}

/**
 * Charges under ids of attempts: what becomes of an attempt is told to who made it, who takes no second charge for it.
 * Nobody knows an id before its attempt is stored.
 */
const attemptsIn = async (
  { sql, attemptsAmong }: SendDeps,
  { endToEndIds }: BuiltSuccess,
): Promise<readonly BuildProblem[]> => {
  const known = await attemptsAmong?.(sql, endToEndIds)
  return endToEndIds.flatMap((id, index) =>
    known?.has(id) === true
      ? [
          {
            pointer: `/charges/${index}/end_to_end_id`,
            rule: 'unique',
            message: 'is of an attempt of a cobr, which its receiver has tried again (API Pix)',
            expected: 'an id of its own',
          },
        ]
      : [],
  )
}

const defaultChannel = async (
  sql: Client,
  { messageType, params }: SendRequest,
): Promise<Channel> => {
  const payment = answeredPayment(messageType, params)
  const received = payment === undefined ? undefined : await channelOfPayment(sql, payment)
  return received ?? channelOf(messageType, params)
}

const builtOf = (
  message: BuiltSuccess,
  request: SendRequest & { readonly channel: Channel },
  ispb: string,
): Built => ({
  messageType: request.messageType,
  endToEndIds: message.endToEndIds,
  params: request.params,
  message: outboundOf(message, {
    ispb,
    channel: request.channel,
    isScheduled: isScheduled(request.messageType, request.params),
  }),
})
