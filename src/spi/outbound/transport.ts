import { createGatherer } from '#src/platform/batching/index.ts'
import { currentTraceparent, inSpan, type Traceparent } from '#src/platform/tracing/index.ts'
import {
  type InterfaceClient,
  type InterfaceProblem,
  requestMessagesMax,
} from '../interface/index.ts'
import type { Channel } from '../messages/index.ts'

/** What became of one message. */
export type MessageOutcome =
  | { readonly kind: 'accepted'; readonly resourceId: string; readonly channel: Channel }
  | { readonly kind: 'refused'; readonly status: number; readonly problem: InterfaceProblem }
  /** Nothing was stored. */
  | {
      readonly kind: 'unreachable'
      readonly reason: string
      /** False: the channel asks for time; another one is not the answer to that. */
      readonly isDown: boolean
    }
  /** It may have been stored: only the same bytes may follow. */
  | { readonly kind: 'unknown'; readonly reason: string }

export type OutgoingBytes = {
  readonly type: string
  readonly channel: Channel
  readonly bytes: Uint8Array
}

export type Transport = (message: OutgoingBytes) => Promise<MessageOutcome>

/** Messages that wait for a request; what comes on top is refused and tried again later. */
const waitingMax = 5_000
/** Returns have one channel, whatever its state. */
const boundToChannel = new Set(['pacs.004'])

/** Requests in a row without an answer after which a channel is taken for down. */
export const failuresMax = 3
/** Afterwards one request looks whether it answers again. */
export const downMs = 5_000

type Row = { readonly bytes: Uint8Array; readonly trace: Traceparent | undefined }

/** A request of several was refused, which says nothing of any one of them. */
class RefusedTogetherError extends Error {
  override readonly name = 'RefusedTogetherError'
}

/** The channels that a message may take, its own first: none where that is not configured and no other may be taken. */
export const waysOf = (
  { type, channel }: Pick<OutgoingBytes, 'type' | 'channel'>,
  channels: readonly Channel[],
  isFailover: boolean,
): readonly Channel[] => {
  const others = boundToChannel.has(type) || !isFailover ? [] : channels
  return [channel, ...others.filter((one) => one !== channel)].filter((one) =>
    channels.includes(one),
  )
}

/**
 * Gathers messages that are ready at the same time into requests of up to ten, per channel. A refused request is cut
 * in two until the message to blame stands alone; the others pass. A channel that cannot be reached, or has left several
 * requests in a row without an answer, is passed over for the other one: the SPI takes the same bytes for the same
 * message, whichever channel they come by.
 */
export const createTransport = (options: {
  readonly client: InterfaceClient
  readonly requestsMax: number
  readonly isFailover: boolean
  /** Other than the system's in tests. */
  readonly nowMs?: () => number
}): Transport => {
  const { client, requestsMax, isFailover, nowMs = () => performance.now() } = options
  const health = createHealth(nowMs)
  const laneOf = (channel: Channel) =>
    createGatherer<Row, MessageOutcome>({
      write: async (messages) => {
        const hasOther = isFailover && client.channels.some((one) => health.isUp(one))
        if (hasOther && !health.isUp(channel)) {
          return messages.map(() => downOf(`${channel} has not answered lately`))
        }
        return health.noted(channel, () => sendTogether(client, channel, messages))
      },
      rowsMax: requestMessagesMax,
      writersMax: requestsMax,
      waitingMax,
      isRowFault: (error) => error instanceof RefusedTogetherError,
    })
  const lanes = new Map(client.channels.map((channel) => [channel, laneOf(channel)]))

  const transmit = async ({ type, channel, bytes }: OutgoingBytes): Promise<MessageOutcome> => {
    let last: MessageOutcome = downOf(`${channel} is not configured`)
    for (const way of waysOf({ type, channel }, client.channels, isFailover)) {
      const lane = lanes.get(way)
      if (lane === undefined) continue
      last = await lane({ bytes, trace: currentTraceparent() })
      if (last.kind !== 'unreachable' || !last.isDown) return last
    }
    return last
  }
  // In the trace of the message itself: the request may be in that of another, and is linked to this one.
  return (message) =>
    inSpan('spi transmit', { kind: 'client' }, async (span) => {
      const outcome = await transmit(message)
      span.set({ 'trilho.spi.outcome': outcome.kind })
      if (outcome.kind !== 'accepted') span.fail(outcome.kind)
      return outcome
    })
}

const downOf = (reason: string): MessageOutcome => ({ kind: 'unreachable', reason, isDown: true })

type Health = {
  /** False: what waits for this channel had better go elsewhere, where there is an elsewhere. */
  readonly isUp: (channel: Channel) => boolean
  readonly noted: (
    channel: Channel,
    request: () => Promise<readonly MessageOutcome[]>,
  ) => Promise<readonly MessageOutcome[]>
}

/** Which channels answer. A channel that is down has one request at a time look whether it is back. */
const createHealth = (nowMs: () => number): Health => {
  const states = new Map<Channel, { failures: number; downUntilMs: number }>()
  const stateOf = (channel: Channel) => {
    const state = states.get(channel) ?? { failures: 0, downUntilMs: 0 }
    states.set(channel, state)
    return state
  }
  const failed = (channel: Channel): void => {
    const state = stateOf(channel)
    state.failures++
    if (state.failures >= failuresMax) state.downUntilMs = nowMs() + downMs
  }
  const answered = (channel: Channel): void => {
    states.delete(channel)
  }
  return {
    isUp: (channel) => nowMs() >= stateOf(channel).downUntilMs,
    noted: async (channel, request) => {
      const state = stateOf(channel)
      if (state.failures >= failuresMax) state.downUntilMs = nowMs() + downMs
      try {
        const outcomes = await request()
        const [one] = outcomes
        const isAnswered = one?.kind !== 'unknown' && !(one?.kind === 'unreachable' && one.isDown)
        if (isAnswered) answered(channel)
        else failed(channel)
        return outcomes
      } catch (error) {
        if (error instanceof RefusedTogetherError) answered(channel)
        throw error
      }
    },
  }
}

const sendTogether = async (
  client: InterfaceClient,
  channel: Channel,
  messages: readonly Row[],
): Promise<readonly MessageOutcome[]> => {
  const [, ...others] = messages
  const outcome = await client.send(
    channel,
    messages.map(({ bytes }) => bytes),
    { links: others.map(({ trace }) => trace) },
  )
  switch (outcome.kind) {
    case 'accepted':
      return outcome.resourceIds.map((resourceId) => ({ kind: 'accepted', resourceId, channel }))
    case 'refused':
      if (messages.length > 1) throw new RefusedTogetherError(`status ${outcome.status}`)
      return [outcome]
    case 'unreachable': {
      const { kind, reason, isDown } = outcome
      return messages.map(() => ({ kind, reason, isDown }))
    }
    case 'unknown':
      return messages.map(() => outcome)
  }
}
