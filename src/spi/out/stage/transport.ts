import { createGatherer, Writers } from '#src/platform/database/index.ts'
import { currentTraceparent, inSpan, type Traceparent } from '#src/platform/observe/index.ts'
import {
  type InterfaceClient,
  type InterfaceProblem,
  requestMessagesMax,
  type SendOptions,
  type Unreachable,
} from '../../link/index.ts'
import type { Channel } from '../../messages/index.ts'
import { type ChannelHealth, RefusedTogetherError } from './channel-health.ts'
import { isAccessRefused } from './outcome-text.ts'

/** The result of sending one message. */
export type MessageOutcome =
  | { readonly kind: 'accepted'; readonly resourceId: string; readonly channel: Channel }
  | { readonly kind: 'refused'; readonly status: number; readonly problem: InterfaceProblem }
  /** Nothing was stored. */
  | {
      readonly kind: 'unreachable'
      readonly reason: string
      /** False: the channel asks us to wait, and sending over another one would not respect that. */
      readonly isDown: boolean
      /** Given when the channel asks us to wait: for how long. */
      readonly retryAfterMs?: number
      /** Given when the interface refused access to the request, which was of this message alone. */
      readonly refusal?: { readonly status: number; readonly problem: InterfaceProblem }
    }
  /** The interface may have stored it: only the same bytes may follow. */
  | {
      readonly kind: 'unknown'
      readonly reason: string
      readonly isLate?: boolean
      /** The channel that it went out by, if any did. */
      readonly channel?: Channel
    }

export type OutgoingBytes = {
  readonly id: string
  readonly type: string
  readonly channel: Channel
  readonly bytes: Uint8Array
  /** True: what the channel cannot take yet is turned away and brought again. */
  readonly comesAgain?: boolean
  /** The channel whose tokens are taken for it. */
  readonly paidOn?: Channel | undefined
  /** Called whenever an attempt of any message ends while this one waits: the interface holds us up, and no fault of ours. */
  readonly onProgress?: (() => void) | undefined
}

export type Transport = (message: OutgoingBytes) => Promise<MessageOutcome>

/** Messages that wait for a request; we refuse any more, and the caller tries them again later. */
const waitingMax = 5_000

/** Returns and their answers go by their own channel only, whatever its state. */
export const isBoundToChannel = (type: string, bytes: Uint8Array): boolean =>
  type === 'pacs.004' ||
  (type === 'pacs.002' &&
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(answersReturn))

/** In canonical form, as all that we send. */
const answersReturn = '<OrgnlInstrId>D'

type Unpaid = Readonly<Pick<Row, 'bytes' | 'comesAgain'>>

type Row = {
  readonly id: string
  readonly bytes: Uint8Array
  readonly trace: Traceparent | undefined
  comesAgain: boolean
  /** True: no request has used its tokens, which are taken before it asks for one. */
  isPaid: boolean
}

/** The channels that a message may take, its own first; none if that is not configured and no other is allowed. */
export const waysOf = (
  { channel, isBound }: Pick<OutgoingBytes, 'channel'> & { readonly isBound: boolean },
  channels: readonly Channel[],
  isFailover: boolean,
): readonly Channel[] => {
  const others = isBound || !isFailover ? [] : channels
  return [channel, ...others.filter((one) => one !== channel)].filter((one) =>
    channels.includes(one),
  )
}

/** True while what is for a channel goes over another one. */
export type IsPassedOver = (channel: Channel) => boolean

export const createIsPassedOver =
  (
    channels: readonly Channel[],
    isFailover: boolean,
    { isUp }: Pick<ChannelHealth, 'isUp'>,
  ): IsPassedOver =>
  (channel) =>
    isFailover && !isUp(channel) && channels.some(isUp)

/** Returns the channel that what is for the secondary one goes by now. */
export const createWayOfLines =
  (channels: readonly Channel[], isPassedOver: IsPassedOver) => (): Channel =>
    channels.includes('SECONDARY') && !isPassedOver('SECONDARY') ? 'SECONDARY' : 'PRIMARY'

type TransportOptions = {
  readonly client: InterfaceClient
  readonly requestsMax: number
  readonly isFailover: boolean
  /** Health of the same channels. */
  readonly health: ChannelHealth
}

/**
 * Gathers messages that are ready at the same time into requests of up to ten, per channel. We cut a refused request
 * in two until the message to blame stands alone; the others pass. When a channel cannot be reached, or has left
 * several attempts in a row without an answer, we send over the other one: the SPI takes the same bytes for the same
 * message, whichever channel they come by.
 */
export const createTransport = (options: TransportOptions): Transport => {
  const { client, requestsMax, isFailover, health } = options
  const isPassedOver = createIsPassedOver(client.channels, isFailover, health)
  const closed = (channel: Channel): MessageOutcome | undefined => {
    if (isPassedOver(channel)) return downOf(`${channel} has not answered lately`)
    return health.isPaused(channel) ? downOf(`${channel} refuses us access`) : undefined
  }
  const waiting = createWaiting()
  const sendOn = (channel: Channel, writers: Writers, rowsMax: number) =>
    createGatherer<Row, MessageOutcome>({
      write: async (messages) => {
        const outcome = closed(channel)
        if (outcome !== undefined) return messages.map(() => outcome)
        const onLate = (): boolean => {
          health.noteLate(channel)
          waiting.progress()
          return !isPassedOver(channel)
        }
        const comesAgain = messages.every((one) => one.comesAgain)
        const isPaid = usePaid(messages)
        return health
          .noted(
            channel,
            () => sendTogether(client, channel, messages, { onLate, isPaid, comesAgain }),
            messages.map(({ id }) => id),
          )
          .finally(waiting.progress)
      },
      rowsMax,
      writersMax: requestsMax,
      writers,
      waitingMax,
      isRowFault: (error) => error instanceof RefusedTogetherError,
    })
  const lanes = new Map(
    client.channels.map((channel) => {
      const writers = new Writers()
      const send = sendOn(channel, writers, requestMessagesMax)
      const sendAlone = sendOn(channel, writers, 1)
      const isClosed = () => closed(channel) !== undefined
      const pay = createPay(options, channel, isClosed, waiting.progress)
      return [channel, { pay, send, sendAlone }]
    }),
  )

  const transmit = async (message: OutgoingBytes): Promise<MessageOutcome> => {
    const { id, type, channel, bytes, comesAgain = false, paidOn } = message
    const trace = currentTraceparent()
    let last: MessageOutcome = downOf(`${channel} is not configured`)
    const isBound = isBoundToChannel(type, bytes)
    for (const way of waysOf({ channel, isBound }, client.channels, isFailover)) {
      const lane = lanes.get(way)
      if (lane === undefined) continue
      const turnedAway = way === paidOn ? undefined : await lane.pay({ bytes, comesAgain })
      if (turnedAway !== undefined) return turnedAway
      // A message to blame goes alone, because with others it would have their request refused.
      const send = health.isToBlame(way, id) ? lane.sendAlone : lane.send
      last = await send({ id, bytes, trace, comesAgain, isPaid: true })
      if (last.kind !== 'unreachable' || !last.isDown) return last
      if (last.refusal !== undefined && health.isToBlame(way, id)) return last
    }
    return last
  }
  // Belongs to the message's own trace: the request may be in the trace of another message, and is linked to this one.
  return (message) =>
    inSpan('spi transmit', { kind: 'client' }, async (span) => {
      const outcome = await waiting.through(message.onProgress, () => transmit(message))
      span.set({ 'trilho.spi.outcome': outcome.kind })
      if (outcome.kind !== 'accepted') span.fail(outcome.kind)
      return outcome
    })
}

/** A message that waits for tokens occupies no request; those that have theirs go out meanwhile. */
const createPay = (
  { client, requestsMax }: Pick<TransportOptions, 'client' | 'requestsMax'>,
  channel: Channel,
  isClosed: () => boolean,
  onProgress: () => void,
) =>
  createGatherer<Unpaid, Unreachable | undefined>({
    write: async (messages) => {
      if (isClosed()) return messages.map(() => undefined)
      const all = messages.map(({ bytes }) => bytes)
      const comesAgain = messages.every((one) => one.comesAgain)
      const turnedAway = await client.pay(channel, all, comesAgain).finally(onProgress)
      return messages.map(() => turnedAway)
    },
    rowsMax: requestMessagesMax,
    writersMax: requestsMax,
    waitingMax,
    isRowFault: () => false,
  })

/** Messages that wait for the interface. A request holds up those behind it, so each answer is progress for all. */
const createWaiting = () => {
  /** How many messages of each wait. */
  const counts = new Map<() => void, number>()
  return {
    progress: (): void => {
      for (const onProgress of counts.keys()) onProgress()
    },
    through: async <T>(
      onProgress: (() => void) | undefined,
      work: () => Promise<T>,
    ): Promise<T> => {
      if (onProgress === undefined) return work()
      counts.set(onProgress, (counts.get(onProgress) ?? 0) + 1)
      try {
        return await work()
      } finally {
        const left = (counts.get(onProgress) ?? 1) - 1
        if (left > 0) counts.set(onProgress, left)
        else counts.delete(onProgress)
      }
    },
  }
}

/**
 * Returns whether all are paid; the request about to go out uses their tokens. If it is refused, its parts pay again, and
 * wait for their tokens: back in their line they would be called together once more, and refused together.
 */
const usePaid = (messages: readonly Row[]): boolean => {
  if (!messages.every(({ isPaid }) => isPaid)) return false
  for (const message of messages) {
    message.isPaid = false
    message.comesAgain = false
  }
  return true
}

const downOf = (reason: string) => ({ kind: 'unreachable', reason, isDown: true }) as const

const sendTogether = async (
  client: InterfaceClient,
  channel: Channel,
  messages: readonly Row[],
  options: Pick<SendOptions, 'onLate' | 'isPaid' | 'comesAgain'>,
): Promise<readonly MessageOutcome[]> => {
  const [, ...others] = messages
  const outcome = await client.send(
    channel,
    messages.map(({ bytes }) => bytes),
    {
      ...options,
      links: others.map(({ trace }) => trace),
    },
  )
  switch (outcome.kind) {
    case 'accepted':
      return outcome.resourceIds.map((resourceId) => ({ kind: 'accepted', resourceId, channel }))
    case 'refused':
      if (messages.length > 1) throw new RefusedTogetherError(`status ${outcome.status}`)
      if (isAccessRefused(outcome)) {
        const { status, problem } = outcome
        return [{ ...downOf(`access refused: ${status}`), refusal: { status, problem } }]
      }
      return [outcome]
    case 'unreachable': {
      const { isDown, retryAfterMs, ...rest } = outcome
      return messages.map(() => ({ ...rest, isDown, ...(isDown ? {} : { retryAfterMs }) }))
    }
    case 'unknown':
      return messages.map(() => ({ ...outcome, channel }))
  }
}
