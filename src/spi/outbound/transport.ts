import { createGatherer } from '#src/platform/batching/index.ts'
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
  | { readonly kind: 'unreachable'; readonly reason: string }
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

/** A request of several was refused, which says nothing of any one of them. */
class RefusedTogetherError extends Error {
  override readonly name = 'RefusedTogetherError'
}

/**
 * Gathers messages that are ready at the same time into requests of up to ten, per channel. A refused request is cut
 * in two until the message to blame stands alone; the others pass.
 */
export const createTransport = (options: {
  readonly client: InterfaceClient
  readonly requestsMax: number
  readonly isFailover: boolean
}): Transport => {
  const { client, requestsMax, isFailover } = options
  const laneOf = (channel: Channel) =>
    createGatherer<Uint8Array, MessageOutcome>({
      write: (messages) => sendTogether(client, channel, messages),
      rowsMax: requestMessagesMax,
      writersMax: requestsMax,
      waitingMax,
      isRowFault: (error) => error instanceof RefusedTogetherError,
    })
  const lanes = new Map(client.channels.map((channel) => [channel, laneOf(channel)]))

  return async ({ type, channel, bytes }) => {
    const others = boundToChannel.has(type) ? [] : client.channels.filter((one) => one !== channel)
    const ways = isFailover ? [channel, ...others] : [channel]
    let last: MessageOutcome = { kind: 'unreachable', reason: `${channel} is not configured` }
    for (const way of ways) {
      const lane = lanes.get(way)
      if (lane === undefined) continue
      last = await lane(bytes)
      if (last.kind !== 'unreachable') return last
    }
    return last
  }
}

const sendTogether = async (
  client: InterfaceClient,
  channel: Channel,
  messages: readonly Uint8Array[],
): Promise<readonly MessageOutcome[]> => {
  const outcome = await client.send(channel, messages)
  switch (outcome.kind) {
    case 'accepted':
      return outcome.resourceIds.map((resourceId) => ({ kind: 'accepted', resourceId, channel }))
    case 'refused':
      if (messages.length > 1) throw new RefusedTogetherError(`status ${outcome.status}`)
      return [outcome]
    default: {
      const { kind, reason } = outcome
      return messages.map(() => ({ kind, reason }))
    }
  }
}
