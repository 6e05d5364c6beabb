import type { Traceparent } from '#src/platform/observe/index.ts'
import type { Channel } from '../messages/index.ts'

/** What became of one request with 1 to 10 messages. */
export type SendOutcome =
  /** 201: the interface holds them all; one PI-ResourceId each, in order. */
  | { readonly kind: 'accepted'; readonly resourceIds: readonly string[] }
  /** 4xx, save 408 and 429: nothing was stored, and the same bytes would be refused again. */
  | { readonly kind: 'refused'; readonly status: number; readonly problem: InterfaceProblem }
  /** Nothing was stored, sending again is right. */
  | {
      readonly kind: 'unreachable'
      readonly reason: string
      readonly retryAfterMs: number
      /** No byte of the request left this process, or it was not read; false: asked to wait, by 429 or the own pacing. */
      readonly isDown: boolean
    }
  /** Anything else, 5xx or no answer: it may have been stored. Only the same messages may be sent again. */
  | {
      readonly kind: 'unknown'
      readonly reason: string
      /** True: the last attempt had no answer in time. */
      readonly isLate?: boolean
    }

/** An RFC 7807 body of the interface; empty strings where it gave none. */
export type InterfaceProblem = {
  readonly type: string
  readonly title: string
  readonly detail: string
}

export type PulledMessage = {
  /** PI-ResourceId; the same again when the message is delivered again. Undefined where it came without one. */
  readonly resourceId: string | undefined
  readonly xml: Uint8Array
}

/** A read stream: a chain of requests, each of which confirms what the one before delivered. */
export type PullStream = {
  /**
   * Confirms the previous batch and waits for the next; empty when nothing came (204). Store a batch before
   * calling again. After a failure the same read is made again: the interface repeats what it had answered.
   *
   * @throws StreamGoneError after 410, when the stream is of no more use; InterfaceError otherwise
   */
  next(signal?: AbortSignal): Promise<readonly PulledMessage[]>
  /**
   * Confirms the last batch and ends the stream; 200 and 410 are both success. Where the last read failed with an
   * answer that may have held messages, nothing is confirmed: the stream is left to end by itself.
   */
  close(): Promise<void>
}

export type SendOptions = {
  readonly signal?: AbortSignal | undefined
  /** Of the messages that share the request with the one in whose trace it is. */
  readonly links?: readonly (Traceparent | undefined)[] | undefined
  /** Told of every attempt that has no answer in time. False: no further one is made, the outcome is unknown. */
  readonly onLate?: (() => boolean) | undefined
}

/** The message interface of the central bank, over both channels. */
export type InterfaceClient = {
  /** The channels that are configured. */
  readonly channels: readonly Channel[]
  /**
   * Sends 1 to 10 messages in one request. Sends the same bytes again on 5xx and on time-outs, a bounded number of
   * times; paced by the channel's token bucket.
   */
  send(
    channel: Channel,
    messages: readonly Uint8Array[],
    options?: SendOptions,
  ): Promise<SendOutcome>
  /** @throws TooManyStreamsError after 429, InterfaceError otherwise */
  openStream(channel: Channel, signal?: AbortSignal): Promise<PullStream>
  /**
   * The versions the interface takes (`in`) or delivers (`out`): the XML as received, over this channel or else over
   * the first that answers.
   *
   * @throws InterfaceError
   */
  catalogue(direction: 'in' | 'out', channel?: Channel): Promise<Uint8Array>
  close(): Promise<void>
}
