import type { Traceparent } from '#src/platform/observe/index.ts'
import type { Channel } from '../messages/index.ts'
import type { Line } from './pacing.ts'

/** The outcome of one request with 1 to 10 messages. */
export type SendOutcome =
  /** 201: the interface has them all; one PI-ResourceId each, in order. */
  | { readonly kind: 'accepted'; readonly resourceIds: readonly string[] }
  /**
   * 4xx with a problem of the interface, except 408 and 429: nothing was stored, and it would refuse the same bytes again.
   * Also 401 and 403 of whoever lets nobody pass.
   */
  | { readonly kind: 'refused'; readonly status: number; readonly problem: InterfaceProblem }
  /** Nothing was stored, so the caller may send again. */
  | {
      readonly kind: 'unreachable'
      readonly reason: string
      readonly retryAfterMs: number
      /** True: no byte left this process, or none was read. False: 429 or our own pacing made us wait. */
      readonly isDown: boolean
    }
  /**
   * Anything else, 5xx, a 4xx of somebody in between, or no answer: the interface may have stored it. Only the same
   * messages may be sent again.
   */
  | {
      readonly kind: 'unknown'
      readonly reason: string
      /** True: the last attempt got no answer in time. */
      readonly isLate?: boolean
    }

export type Unreachable = Extract<SendOutcome, { kind: 'unreachable' }>

/** An RFC 7807 body of the interface; its fields are empty strings if it gave none. */
export type InterfaceProblem = {
  readonly type: string
  readonly title: string
  readonly detail: string
}

export type PulledMessage = {
  /** PI-ResourceId; the same when the message is delivered again. Undefined if the message came without one. */
  readonly resourceId: string | undefined
  readonly xml: Uint8Array
}

/** A read stream: a chain of requests, each of which confirms what the one before delivered. */
export type PullStream = {
  /**
   * Confirms the previous batch and waits for the next; empty when nothing came (204). Store a batch before
   * calling again. After a failure the same read is made again: the interface repeats what it had answered.
   *
   * @throws StreamGoneError after 410, when the stream is of no more use; UncutAnswerError for a complete answer that
   *   cannot be cut; InterfaceError otherwise
   */
  next(signal?: AbortSignal): Promise<readonly PulledMessage[]>
  /** The next read confirms this answer, although it could not be cut: its bytes are stored elsewhere. */
  takeAsRead(answer: { readonly nextUrl: string }): void
  /**
   * Confirms the last batch and ends the stream; 200 and 410 are both success. If nobody has taken that batch, or the
   * last read failed and its answer may have held messages, it confirms nothing: the stream ends by itself.
   */
  close(): Promise<void>
}

export type SendOptions = {
  readonly signal?: AbortSignal | undefined
  /** Traces of the other messages in the request; the request itself runs in the trace of one message. */
  readonly links?: readonly (Traceparent | undefined)[] | undefined
  /** Called for every attempt that gets no answer in time. False: make no further one, the outcome is unknown. */
  readonly onLate?: (() => boolean) | undefined
  /** True: the caller brings the messages again, so we do not wait here for a full bucket. */
  readonly comesAgain?: boolean | undefined
  /** True: `admit` or `pay` has taken their tokens. */
  readonly isPaid?: boolean | undefined
}

/** The message interface of the central bank, over both channels. */
export type InterfaceClient = {
  /** The configured channels. */
  readonly channels: readonly Channel[]
  /**
   * Sends 1 to 10 messages in one request. Sends the same bytes again on 5xx and on time-outs, a bounded number of
   * times; the channel's token bucket sets the pace.
   */
  send(
    channel: Channel,
    messages: readonly Uint8Array[],
    options?: SendOptions,
  ): Promise<SendOutcome>
  /**
   * Takes the tokens of messages of one line, by what each costs and in their order, before they are sent; returns how
   * many of the first the channel takes now.
   */
  admit(channel: Channel, line: Line, costs: readonly number[]): Promise<number>
  /**
   * Takes the tokens of messages before they are sent, and waits a little for them unless they come again; otherwise the
   * outcome as if they had been sent.
   */
  pay(
    channel: Channel,
    messages: readonly Uint8Array[],
    comesAgain: boolean,
  ): Promise<Unreachable | undefined>
  /** The tokens for which {@link admit} would take messages now; Infinity where nothing limits them. */
  room(channel: Channel, line: Line): Promise<number>
  /** @throws TooManyStreamsError after 429, InterfaceError otherwise */
  openStream(channel: Channel, signal?: AbortSignal): Promise<PullStream>
  /**
   * The message versions that the interface takes (`in`) or delivers (`out`): the XML as received, over this channel or
   * else over the first that answers.
   *
   * @throws InterfaceError
   */
  catalogue(direction: 'in' | 'out', channel?: Channel): Promise<Uint8Array>
  close(): Promise<void>
}
